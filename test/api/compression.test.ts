/** What is compressed, for whom, and what never is. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { listenForPeople } from '../../src/api/index.ts'
import { onSocket, restServer } from '../../src/api/rest-server.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { Operations } from '../../src/domain/operations.ts'
import { requestHeader, type Review } from '../../src/domain/review.ts'
import { VirtualClock } from '../../src/simulator/index.ts'
import { aHost, fakeOperations } from './fake-operations.ts'
import { fakeReview } from './fake-review.ts'
import { as, front, listening, People, person, type Front } from './people.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function open(...given: Parameters<typeof front>): Promise<Front> {
  const opened = await front(...given)
  closing.push(() => opened.server.close())
  return opened
}

const many = Array.from({ length: 200 }, (_, nth) => ({ ...aHost, host: `cmp${nth}` }))
const fleet: Partial<Operations> = { hosts: () => many }
const rita = (encodings?: string) => ({
  ...as('rita'),
  ...(encodings !== undefined && { 'accept-encoding': encodings }),
})

describe('a long answer', () => {
  it.each([
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip, deflate', 'gzip', gunzipSync],
    ['br;q=0, gzip', 'gzip', gunzipSync],
  ])('to %s is %s', async (asked, encoding, unpack) => {
    const { server } = await open({}, fleet)
    const { headers, rawPayload } = await server.inject({ url: '/v1/hosts', headers: rita(asked) })
    expect(headers).toMatchObject({
      'content-encoding': encoding,
      vary: 'accept-encoding',
      'cache-control': 'no-store',
    })
    expect(JSON.parse(unpack(rawPayload).toString())).toEqual(many)
    expect(rawPayload.length).toBeLessThan(JSON.stringify(many).length / 10)
  })

  it('goes as it is to programs that ask for nothing, or for what there is not', async () => {
    const { server } = await open({}, fleet)
    for (const asked of [undefined, 'identity', 'compress']) {
      const answer = await server.inject({ url: '/v1/hosts', headers: rita(asked) })
      expect([asked, answer.headers['content-encoding'], answer.json()]).toEqual([asked, undefined, many])
    }
  })

  it('has no body when only its head is asked for', async () => {
    const { server } = await open({}, fleet)
    const { statusCode, body } = await server.inject({ method: 'HEAD', url: '/v1/hosts', headers: rita('gzip') })
    expect([statusCode, body]).toEqual([200, ''])
  })
})

describe('what is never compressed', () => {
  const plain = async ({ server }: Pick<Front, 'server'>, url: string) =>
    (await server.inject({ url, headers: rita('gzip, br') })).headers['content-encoding']

  it('a short answer', async () => {
    expect(await plain(await open(), '/v1/status')).toBeUndefined()
  })

  it("anything on the operators' socket", async () => {
    const clock = new VirtualClock()
    const sources = { operations: fakeOperations(fleet).operations, review: fakeReview(), clock }
    expect(await plain({ server: restServer(sources, onSocket) }, '/v1/hosts')).toBeUndefined()
  })

  it('what begins a session, however long it is', async () => {
    const { server, people } = await open()
    people.tokens.set('long', person('x'.repeat(5_000), ['reader']))
    const answer = await server.inject({
      method: 'POST',
      url: '/v1/session',
      headers: { 'accept-encoding': 'gzip', [requestHeader]: '1' },
      payload: { token: 'long' },
    })
    expect([answer.statusCode, answer.headers['content-encoding']]).toEqual([201, undefined])
  })
})

it('what was sent compressed is not unpacked: it could be made to become anything', async () => {
  const { server, asked } = await open()
  const answer = await server.inject({
    method: 'POST',
    url: '/v1/pause',
    headers: { ...as('ann'), 'content-type': 'application/json', 'content-encoding': 'gzip' },
    payload: gzipSync(JSON.stringify({ reason: 'x'.repeat(1_000) })),
  })
  expect([answer.statusCode, answer.json().error.code, asked]).toEqual([400, 'USAGE', []])
})

describe('a stream', () => {
  const logged: unknown[][] = []
  async function listen(review: Partial<Review>): Promise<string> {
    const clock = new VirtualClock()
    const people = new People()
    people.tokens.set('token-of-rita', person('rita', ['reader']))
    const sources = { operations: fakeOperations().operations, review: fakeReview([], review), clock }
    const listener = await listenForPeople(
      { ...sources, people, observer: { log: (...line) => void logged.push(line) } },
      listening,
    )
    closing.push(() => listener.close())
    return listener.address
  }
  const ask = (url: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      get(url, { headers: rita('gzip, br'), agent: false }, resolve).on('error', reject)
    })
  const firstOf = (answer: IncomingMessage): Promise<Buffer> => new Promise((resolve) => answer.once('data', resolve))

  it('of events is not compressed: what is compressed is kept back until there is more of it', async () => {
    const entries = [{ seq: 1, sentence: 'x'.repeat(5_000) }] as never
    const answer = await ask(
      `${await listen({ journal: ({ after }) => ({ entries: after === 0 ? entries : [], next: null, head: { seq: 1, hash: '' } }) })}/v1/events?after=0`,
    )
    expect([answer.headers['content-type'], answer.headers['content-encoding']]).toEqual([
      'text/event-stream; charset=utf-8',
      undefined,
    ])
    expect((await firstOf(answer)).toString()).toMatch(/^retry: /)
    answer.destroy()
  })

  // Nothing that compresses well: what is not passed on would be a long report in memory.
  const piece = (): string => Array.from({ length: 20_000 }, () => Math.random().toString(36)).join('\n')

  it('of a report is compressed piece by piece, and ends with its reader', async () => {
    let ended = (): void => undefined
    const end = new Promise<void>((resolve) => (ended = resolve))
    async function* report(): AsyncGenerator<string> {
      try {
        for (;;) yield piece()
      } finally {
        ended()
      }
    }
    const answer = await ask(`${await listen({ report })}/v1/incidents/i-1/report`)
    expect(answer.headers['content-encoding']).toBe('br')
    expect((await firstOf(answer)).length).toBeGreaterThan(0)
    answer.destroy()
    await end
    expect(logged.filter(([, event]) => event === 'http.failed')).toEqual([])
  })

  it('of a report that breaks off does not look whole, and the log says why', async () => {
    const why = new LifeboatError('JOURNAL_UNAVAILABLE', 'the disk is gone')
    let stop = false
    async function* report(): AsyncGenerator<string> {
      while (!stop) yield piece()
      throw why
    }
    const answer = await ask(`${await listen({ report })}/v1/incidents/i-1/report`)
    await firstOf(answer)
    stop = true
    await expect(text(answer)).rejects.toThrow('aborted')
    const said = expect.objectContaining({ message: 'The report of i-1 broke off' })
    expect(logged.filter(([, event]) => event === 'http.failed')).toEqual([['error', 'http.failed', said, why]])
  })

  it('of a report that breaks off before any of it was sent is a refusal like others', async () => {
    async function* report(): AsyncGenerator<string> {
      yield 'half'
      throw new LifeboatError('JOURNAL_UNAVAILABLE', 'the disk is gone')
    }
    const answer = await ask(`${await listen({ report })}/v1/incidents/i-1/report`)
    const { 'content-type': type, 'content-encoding': encoding, 'content-disposition': file } = answer.headers
    expect([answer.statusCode, type, encoding, file]).toEqual([
      503,
      'application/json; charset=utf-8',
      undefined,
      undefined,
    ])
    expect(JSON.parse(await text(answer))).toMatchObject({ error: { code: 'JOURNAL_UNAVAILABLE' } })
  })
})

describe('the files of the pages', () => {
  const script = 'export const a = 1\n'.repeat(500)

  function root(): string {
    const directory = mkdtempSync(join(tmpdir(), 'lb-pages-'))
    closing.push(() => rmSync(directory, { recursive: true, force: true }))
    mkdirSync(join(directory, 'assets'))
    writeFileSync(join(directory, 'index.html'), '<!doctype html><title>pages</title>')
    writeFileSync(join(directory, 'assets/app-1a2b.js'), script)
    writeFileSync(join(directory, 'assets/app-1a2b.js.br'), brotliCompressSync(script))
    writeFileSync(join(directory, 'assets/app-1a2b.js.gz'), gzipSync(script))
    return directory
  }

  it.each([
    ['gzip, br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['identity', undefined, (sent: Buffer) => sent],
  ])('to %s go as the build wrote them: %s', async (asked, encoding, unpack) => {
    const { server } = await open({ pages: root() })
    const answer = await server.inject({ url: '/assets/app-1a2b.js', headers: { 'accept-encoding': asked } })
    expect([answer.headers['content-encoding'], unpack(answer.rawPayload).toString()]).toEqual([encoding, script])
    expect(answer.headers).toMatchObject({
      'content-type': expect.stringContaining('javascript'),
      'cache-control': expect.stringContaining('immutable'),
      vary: 'accept-encoding',
    })
  })

  it('that have no compressed twin go as they are, also under the address of a page', async () => {
    const { server } = await open({ pages: root() })
    for (const url of ['/', '/incidents/i-1']) {
      const answer = await server.inject({ url, headers: { accept: 'text/html', 'accept-encoding': 'gzip, br' } })
      expect([url, answer.statusCode, answer.headers['content-encoding']]).toEqual([url, 200, undefined])
      expect([answer.body, answer.headers['cache-control']]).toEqual([expect.stringContaining('pages'), 'no-cache'])
    }
  })

  it('have their twins, as the build makes them', () => {
    const built = readdirSync('dist/web/assets').filter((name) => /\.(js|css)$/.test(name))
    expect(built.length).toBeGreaterThan(2)
    for (const name of built) {
      const whole = readFileSync(join('dist/web/assets', name))
      expect(brotliDecompressSync(readFileSync(join('dist/web/assets', `${name}.br`))).equals(whole)).toBe(true)
      expect(gunzipSync(readFileSync(join('dist/web/assets', `${name}.gz`))).equals(whole)).toBe(true)
    }
  })
})
