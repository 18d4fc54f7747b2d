/** The listener on a real port: TLS, certificates that are renewed, and event streams that end with their login. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listenForPeople, type SecureListener } from '../../src/api/index.ts'
import { requestHeader, type Review } from '../../src/domain/review.ts'
import { VirtualClock } from '../../src/simulator/index.ts'
import { fakeOperations } from './fake-operations.ts'
import { fakeReview } from './fake-review.ts'
import { as, listening, People, person } from './people.ts'

let directory = ''
let listener: SecureListener | null = null
let clock: VirtualClock
let people: People
let logged: { event: string; level: string }[] = []

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lb-'))
  clock = new VirtualClock()
  people = new People()
  people.tokens.set('token-of-rita', person('rita', ['reader']))
  logged = []
})
afterEach(async () => {
  await listener?.close()
  listener = null
  rmSync(directory, { recursive: true, force: true })
})

const files = () => ({ certificate: join(directory, 'web.crt'), key: join(directory, 'web.key') })

/** A certificate of a browser's kind for this name. */
function certify(name: string, days = 2): void {
  const { certificate, key } = files()
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1']
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', String(days)]
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', key, '-out', certificate], { stdio: 'pipe' })
}

async function listen(tls: boolean, review: Partial<Review> = {}): Promise<string> {
  const observer = { log: (level: string, event: string) => void logged.push({ level, event }) }
  const sources = { operations: fakeOperations().operations, review: fakeReview([], review), clock, people, observer }
  listener = await listenForPeople(sources, { ...listening, tls: tls ? files() : null })
  return listener.address
}

interface Seen {
  status: number | undefined
  headers: IncomingMessage['headers']
  name: string
}

/** GET over TLS on a connection of its own, with the name in the certificate that was shown. */
function secureGet(url: string, headers: Record<string, string> = {}, maxVersion?: 'TLSv1.1'): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const ca = readFileSync(files().certificate)
    const options = {
      headers,
      agent: false as const,
      ca,
      ...(maxVersion !== undefined && { maxVersion, minVersion: maxVersion }),
    }
    httpsRequest(url, { ...options, rejectUnauthorized: false }, (answer) => {
      const name = String(
        (answer.socket as unknown as Pick<TLSSocket, 'getPeerCertificate'>).getPeerCertificate().subject.CN,
      )
      answer.resume().on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, name }))
    })
      .on('error', reject)
      .end()
  })
}

describe('TLS', () => {
  it('serves behind the certificate, tells browsers to stay there, and speaks nothing older than 1.2', async () => {
    certify('first')
    const address = await listen(true)
    expect(address).toMatch(/^https:/)
    const { status, headers, name } = await secureGet(`${address}/v1/me`, as('rita'))
    expect([status, name]).toEqual([200, 'first'])
    expect(headers['strict-transport-security']).toBe('max-age=31536000')
    await expect(secureGet(`${address}/v1/me`, as('rita'), 'TLSv1.1')).rejects.toThrow()
    await expect(fetch(address.replace('https', 'http'))).rejects.toThrow()
  })

  it('takes up a renewed certificate within a minute, or at once when it is told, and keeps a good one for a bad one', async () => {
    certify('first')
    const address = await listen(true)
    const shown = async () => (await secureGet(`${address}/v1/me`, as('rita'))).name
    certify('second')
    expect(await shown()).toBe('first')
    await clock.advance(60_000)
    expect(await shown()).toBe('second')
    certify('third')
    listener?.reloadTls()
    expect(await shown()).toBe('third')
    writeFileSync(files().key, 'no key')
    listener?.reloadTls()
    expect(await shown()).toBe('third')
    expect(logged.filter(({ event }) => event === 'web.certificate').map(({ level }) => level)).toEqual([
      'info',
      'info',
      'error',
    ])
  })

  it('keeps the certificate that it has for a new one that is past its time: no browser would take that', async () => {
    clock = new VirtualClock(Date.now() + 3 * 86_400_000)
    certify('first', 30)
    const address = await listen(true)
    certify('second', 2)
    listener?.reloadTls()
    expect((await secureGet(`${address}/v1/me`, as('rita'))).name).toBe('first')
    expect(logged).toContainEqual({ event: 'web.certificate', level: 'error' })
  })

  it('does not wait for a certificate that is a pipe', async () => {
    certify('first')
    rmSync(files().key)
    execFileSync('mkfifo', [files().key])
    await expect(listen(true)).rejects.toMatchObject({ message: expect.stringContaining('it is a pipe') })
  })

  it('without its certificate does not start, and says which option it is', async () => {
    await expect(listen(true)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('web.tls'),
    })
  })
})

/** An event stream as a browser holds it. By hand: the clock stands still while node's own client waits for an answer. */
class Stream {
  text = ''
  ended = false

  static open(address: string, path: string, headers: Record<string, string>): Promise<Stream> {
    const stream = new Stream()
    const { hostname, port } = new URL(address)
    const lines = Object.entries({ host: 'here', ...headers }).map(([name, value]) => `${name}: ${value}`)
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname)
      socket.on('data', (chunk: Buffer) => (stream.text += chunk.toString()))
      socket.once('data', () => resolve(stream))
      socket.on('end', () => (stream.ended = true))
      socket.on('error', reject)
      socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    })
  }

  get status(): number {
    return Number(this.text.split(' ')[1])
  }

  get ids(): number[] {
    return [...this.text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
  }

  async until(done: (stream: Stream) => boolean): Promise<void> {
    while (!done(this)) await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('an event stream over HTTP', () => {
  const head = { seq: 12, hash: '' }
  const journal: Review['journal'] = ({ after = 0, limit = 100 }) => {
    const found = Array.from({ length: Math.max(0, Math.min(limit, 12 - after)) }, (_, nth) => ({
      seq: after + nth + 1,
    }))
    return { entries: found as never, next: null, head }
  }

  it('goes on after Last-Event-ID, which counts more than the address; without either it tells what is new', async () => {
    const address = await listen(false, { journal })
    const resumed = await Stream.open(address, '/v1/events?after=3', { ...as('rita'), 'last-event-id': '9' })
    await resumed.until(({ ids }) => ids.length >= 3)
    expect(resumed.ids).toEqual([10, 11, 12])
    const after = await Stream.open(address, '/v1/events?after=11', as('rita'))
    await after.until(({ ids }) => ids.length >= 1)
    expect(after.ids).toEqual([12])
    expect((await Stream.open(address, '/v1/events', as('rita'))).ids).toEqual([])
  })

  it('tells a reader that comes from a longer journal what is new in this one', async () => {
    const asked: unknown[] = []
    const reading: Review['journal'] = (filter) => {
      asked.push(filter.after)
      return journal(filter)
    }
    const address = await listen(false, { journal: reading })
    await Stream.open(address, '/v1/events', { ...as('rita'), 'last-event-id': '4711' })
    await Stream.open(address, '/v1/events?after=4711', as('rita'))
    expect(asked.filter((after) => after !== undefined)).toEqual([12, 12])
  })

  it('is refused to nobody, and for an id that is none', async () => {
    const address = await listen(false, { journal })
    expect((await Stream.open(address, '/v1/events', {})).status).toBe(401)
    const bad = await Stream.open(address, '/v1/events', { ...as('rita'), 'last-event-id': 'x' })
    expect([bad.status, bad.text]).toEqual([400, expect.stringContaining('Last-Event-ID')])
  })

  it('is one of twenty of one person at the most, whatever token they show, and nobody else is kept out by that', async () => {
    people.tokens.set('another-of-rita', person('rita', ['reader']))
    people.tokens.set('token-of-olaf', person('olaf', ['reader']))
    const address = await listen(false, { journal })
    const of = async (headers: Record<string, string>) => (await Stream.open(address, '/v1/events', headers)).status
    for (let nth = 0; nth < 10; nth += 1) {
      expect(await of(as('rita'))).toBe(200)
      expect(await of({ 'x-auth-token': 'another-of-rita' })).toBe(200)
    }
    expect(await of({ 'x-auth-token': 'another-of-rita' })).toBe(429)
    expect(await of(as('olaf'))).toBe(200)
  })

  it('ends with the token behind its session', async () => {
    people.tokens.set('short', person('rita', ['reader'], { leftMs: 40_000 }))
    const address = await listen(false, { journal })
    const begun = await fetch(`${address}/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [requestHeader]: '1' },
      body: JSON.stringify({ token: 'short' }),
    })
    const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? ''
    const stream = await Stream.open(address, '/v1/events', { cookie })
    await clock.advance(30_000)
    expect(stream.ended).toBe(false)
    await clock.advance(16_000)
    await stream.until(({ text, ended }) => ended || text.endsWith('0\r\n\r\n'))
    expect((await fetch(`${address}/v1/me`, { headers: { cookie } })).status).toBe(401)
  })
})
