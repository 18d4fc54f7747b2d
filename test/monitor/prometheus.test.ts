/** The prometheus probe over real HTTP. The answers are those of Prometheus 2.42, word for word. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { meaningOf, onlyFresh, prometheusProbe, queryFor } from '../../src/monitor/probes/prometheus.ts'
import { systemClock as clock } from '../fencing/setup.ts'

const at = 1_795_250_541.672
const wallMs = at * 1_000
const meaning = { alive: [1], dead: [0], sampleAgeLimitMs: 30_000 }
const series = (value: string, instance = 'cmp01:9100', time: unknown = at) => ({
  metric: { __name__: 'up', instance, job: 'node' },
  value: [time, value],
})
const success = (data: unknown, more = {}) => JSON.stringify({ status: 'success', data, ...more })
const vector = (...result: unknown[]) => success({ resultType: 'vector', result })
const refused =
  '{"status":"error","errorType":"bad_data","error":"invalid parameter \\"query\\": 3:1: parse error: unexpected character inside braces: \')\'"}'

describe('what an answer means', () => {
  const read = (status: number, body: string, change = {}) => meaningOf(status, body, { ...meaning, ...change }, wallMs)

  it.each([
    ['one series with a value of life', vector(series('1')), 'alive', 'up{instance="cmp01:9100",job="node"} is 1'],
    ['one with a value of death', vector(series('0')), 'dead', 'up{instance="cmp01:9100",job="node"} is 0'],
    ['two that agree', vector(series('0'), series('0', 'b')), 'dead', 'is 0, up{instance="b",job="node"} is 0'],
    ['two that disagree', vector(series('0'), series('1', 'b')), 'unknown', 'its series disagree: '],
    ['one dead and one that means nothing', vector(series('0'), series('7', 'b')), 'unknown', 'disagree'],
    ['a value in neither list', vector(series('0.5')), 'unknown', 'is 0.5, which means neither'],
    ['NaN', vector(series('NaN')), 'unknown', 'is NaN, which means neither'],
    ['an infinity', vector(series('+Inf')), 'unknown', 'is +Inf, which means neither'],
    ['an empty value, which is no zero', vector(series('')), 'unknown', 'neither'],
    ['no series', vector(), 'unknown', 'no series, or its last sample is older than 30 s'],
    ['a matrix', success({ resultType: 'matrix', result: [{ metric: {}, values: [[at, '0']] }] }), 'unknown', 'matrix'],
    ['a scalar', success({ resultType: 'scalar', result: [at, '0'] }), 'unknown', 'gives a scalar, no vector'],
    ['a series without value', vector({ metric: {} }), 'unknown', 'not an answer of Prometheus'],
    ['a value without time', vector({ metric: {}, value: ['0'] }), 'unknown', 'not an answer of Prometheus'],
    ['a time that is text', vector(series('0', 'a', `${at}`)), 'unknown', 'not an answer of Prometheus'],
    ['a value that is a number', vector({ metric: {}, value: [at, 0] }), 'unknown', 'not an answer of Prometheus'],
    ['one good series and one broken', vector(series('0'), {}), 'unknown', 'not an answer of Prometheus'],
    ['success without data', '{"status":"success"}', 'unknown', 'not an answer of Prometheus'],
    ['no status', '{"data":{"resultType":"vector","result":[]}}', 'unknown', 'not an answer of Prometheus'],
    ['bad JSON', vector(series('0')).slice(0, -1), 'unknown', 'not an answer of Prometheus'],
    ['a page of HTML', '<html>', 'unknown', 'not an answer of Prometheus'],
    ['a bare null', 'null', 'unknown', 'not an answer of Prometheus'],
    [
      'a warning, by which a part may be missing',
      success({ resultType: 'vector', result: [series('0')] }, { warnings: ['store 10.0.0.3:10901 unreachable'] }),
      'unknown',
      'may be incomplete: store 10.0.0.3:10901 unreachable',
    ],
  ] as const)('%s', (_name, body, answer, detail) => {
    const reading = read(200, body)
    expect(reading.answer).toBe(answer)
    expect(reading.detail).toContain(detail)
  })

  it('a list of warnings that is empty is none', () => {
    const body = success({ resultType: 'vector', result: [series('0')] }, { warnings: [] })
    expect(read(200, body).answer).toBe('dead')
  })

  it('values mean what the configuration says', () => {
    expect(read(200, vector(series('2')), { alive: [2, 3], dead: [] }).answer).toBe('alive')
    expect(read(200, vector(series('0')), { alive: [2, 3], dead: [] }).answer).toBe('unknown')
    expect(read(200, vector(series('1e0')), { alive: [], dead: [1] }).answer).toBe('dead')
  })

  it.each([
    [400, refused, 'refused the query (HTTP 400): invalid parameter "query": 3:1: parse error'],
    [200, refused, 'refused the query (HTTP 200)'],
    [401, 'Unauthorized', 'HTTP 401: check its login'],
    [403, '', 'HTTP 403: check its login'],
    [302, '', 'HTTP 302: a redirect is not followed'],
    [404, 'page not found', 'HTTP 404: check the url'],
    [503, vector(series('0')), 'HTTP 503'],
    [500, '', 'Prometheus answered HTTP 500'],
  ])('HTTP %i is unknown, whatever stands in it', (status, body, detail) => {
    const reading = read(status, body)
    expect(reading.answer).toBe('unknown')
    expect(reading.detail).toContain(detail)
  })

  it.each([
    [-30_000, 'dead', 'is 0'],
    [-30_001, 'unknown', 'the answer is 30 s behind our clock'],
    [30_000, 'dead', 'is 0'],
    [45_000, 'unknown', 'the answer is 45 s ahead of our clock'],
  ] as const)('an answer %i ms from our own time is %s', (offMs, answer, detail) => {
    const reading = read(200, vector(series('0', 'a', (wallMs + offMs) / 1_000)))
    expect(reading.answer).toBe(answer)
    expect(reading.detail).toContain(detail)
  })

  it('what Prometheus says is kept short', () => {
    const long = JSON.stringify({ status: 'error', error: `a\n${'x'.repeat(5_000)}` })
    expect(read(422, long).detail.length).toBeLessThan(260)
    expect(read(422, long).detail).not.toContain('\n')
  })
})

describe('the query', () => {
  const own = { host: 'cmp01', rack: 'r"1', back: 'a\\', line: 'a\nb', tick: 'a`', single: "a'" }

  it('takes variables; every other brace is PromQL', () => {
    expect(queryFor('max(up{job="node",instance=~"{host}:(9100|{x=1})"}) # {host}', own)).toBe(
      'max(up{job="node",instance=~"cmp01:(9100|{x=1})"}) # cmp01',
    )
  })

  it.each(['{none}', '{rack}', '{back}', '{line}', '{tick}', '{single}', '{toString}'])(
    'is none when %s is missing or could end the string it stands in',
    (variable) => expect(queryFor(`up{instance="${variable}"}`, own)).toBeUndefined(),
  )

  it('leaves out what is older than the limit, by the clock of Prometheus', () => {
    expect(onlyFresh('up{a="b"} # note', 1_500)).toBe(
      '(\nup{a="b"} # note\n) and (timestamp(\nup{a="b"} # note\n) >= time() - 1.5)',
    )
  })
})

/** A small server that answers as it is told and keeps what it was asked. */
let give: RequestListener
let asked: IncomingMessage[] = []
const listener: RequestListener = (request, response) => {
  asked.push(request)
  give(request, response)
}
const answering =
  (status: number, body: string, headers = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
const now = () => vector(series('0', 'cmp01:9100', Date.now() / 1_000))

describe('over HTTP', () => {
  const server = createServer((request, response) => listener(request, response))
  let url = ''
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  beforeEach(() => {
    asked = []
    give = (request, response) => answering(200, now())(request, response)
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const probe = (login: Parameters<typeof prometheusProbe>[0]['server']['login'] = null, change = {}) =>
    prometheusProbe({
      ...meaning,
      name: 'node',
      clock,
      server: { url: `${url}/prom/`, login, verifyTls: true },
      query: (host) => queryFor('up{instance="{host}:9100"}', { host }),
      limitMs: 5_000,
      ...change,
    })

  it('asks for one host and reads its answer', async () => {
    expect(await probe().read('cmp01')).toMatchObject({ probe: 'node', kind: 'prometheus', answer: 'dead' })
    const { pathname, searchParams } = new URL(asked[0]?.url ?? '', url)
    expect(pathname).toBe('/prom/api/v1/query')
    expect(searchParams.get('query')).toBe(onlyFresh('up{instance="cmp01:9100"}', 30_000))
    expect(searchParams.get('lookback_delta')).toBe('30000ms')
    expect(asked[0]?.headers.authorization).toBeUndefined()
  })

  it('logs in by name and password, or by token', async () => {
    await probe({ username: 'lifeboat', password: 'a:b' }).read('cmp01')
    await probe({ token: 'abc' }).read('cmp01')
    const basic = `Basic ${Buffer.from('lifeboat:a:b').toString('base64')}`
    expect(asked.map(({ headers }) => headers.authorization)).toEqual([basic, 'Bearer abc'])
  })

  it('asks nothing for a host that could change the query', async () => {
    expect((await probe().read('x"} or up{a="')).answer).toBe('unknown')
    expect(asked).toEqual([])
  })

  it('carries its login to no other address', async () => {
    give = answering(302, '', { location: `${url}/elsewhere` })
    const reading = await probe({ token: 'abc' }).read('cmp01')
    expect(reading).toMatchObject({ answer: 'unknown' })
    expect(asked).toHaveLength(1)
  })

  it('is unknown when nothing answers in its time, is there, or is an answer', async () => {
    give = () => undefined
    expect((await probe(null, { limitMs: 50 }).read('cmp01')).detail).toBe('Prometheus did not answer within 50 ms')
    expect((await probe().read('cmp01', AbortSignal.abort())).detail).toBe('stopped')
    give = (_request, response) => response.destroy()
    expect((await probe().read('cmp01')).detail).toBe('Prometheus could not be reached (ECONNRESET)')
    give = answering(200, 'x'.repeat(1_000_001))
    expect((await probe().read('cmp01')).answer).toBe('unknown')
    const gone = { url: 'http://127.0.0.1:9', login: { token: 'abc' }, verifyTls: true }
    const reading = await probe(null, { server: gone }).read('cmp01')
    expect(reading).toMatchObject({ answer: 'unknown', detail: 'Prometheus could not be reached (ECONNREFUSED)' })
  })
})

describe('over TLS', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lifeboat-prometheus-'))
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']
  const newCertificate = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync('openssl', [...newCertificate, '-keyout', key, '-out', cert, ...subject], { stdio: 'pipe' })
  const server = createSecureServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) =>
    listener(request, response),
  )
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const read = async (verifyTls: boolean, caFile?: string) => {
    asked = []
    give = answering(200, now())
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const to = { url, login: { token: 'abc' }, verifyTls, ...(caFile !== undefined && { caFile }) }
    const probe = prometheusProbe({ ...meaning, name: 'n', clock, server: to, query: () => 'up', limitMs: 5_000 })
    return (await probe.read('cmp01')).detail
  }

  it('a certificate that nobody vouches for is not spoken to', async () => {
    expect(await read(true)).toBe('Prometheus could not be reached (DEPTH_ZERO_SELF_SIGNED_CERT)')
    expect(asked).toEqual([])
  })

  it('unless the CA file does, or it is not to be verified', async () => {
    expect(await read(true, cert)).toContain('is 0')
    expect(await read(false)).toContain('is 0')
  })

  it.each(['/nowhere/ca.pem', '/dev/null'])(
    'a CA file that cannot be read (%s) is found when the probe is made',
    async (file) => {
      await expect(read(true, file)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    },
  )
})
