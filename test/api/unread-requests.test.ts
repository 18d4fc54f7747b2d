/** Requests that no route ever sees, over a real connection: refused in the same shape as all others. */
import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FastifyInstance } from 'fastify'
import { createServer } from '../../src/api/server.ts'

let server: FastifyInstance
beforeEach(async () => {
  server = createServer()
  server.get('/begun', (_request, reply) => {
    reply.hijack()
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' })
    reply.raw.write('begun')
  })
  server.get('/long', () => 'x'.repeat(16 * 1024 * 1024))
  server.get('/slow', () => new Promise<string>((resolve) => (answerSlowly = resolve)))
  await server.listen({ host: '127.0.0.1', port: 0 })
})
let answerSlowly: (text: string) => void
afterEach(() => server.close())

const dial = (): Socket => connect((server.server.address() as AddressInfo).port, '127.0.0.1')

/** All that comes back until the server hangs up. */
async function answerTo(text: string, socket = dial()): Promise<string> {
  let answer = ''
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()))
  socket.on('error', () => undefined)
  socket.write(text)
  await once(socket, 'close')
  return answer
}

const body = (answer: string): unknown => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))
const refusal = (message: string) => ({
  error: { code: 'USAGE', message: expect.stringContaining(message), details: {} },
})

describe('a request that cannot be read', () => {
  it.each([
    ['no HTTP at all', 'hello\r\n\r\n', 400, 'cannot be read as HTTP/1.1'],
    [
      'a head that is too long',
      `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers are too long',
    ],
    [
      'two lengths of its body',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
      'cannot be read as HTTP/1.1',
    ],
    [
      'something expected that there is not',
      'POST / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nContent-Length: 2\r\n\r\n',
      417,
      'Expect may only ask for 100-continue',
    ],
    ['no host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'header Host is missing'],
  ])('%s', async (_what, text, status, message) => {
    const answer = await answerTo(text)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(answer.toLowerCase()).toContain('content-type: application/json; charset=utf-8\r\n')
    expect(body(answer)).toEqual(refusal(message))
  })

  it('is told when it took too long', async () => {
    const arrived = once(server.server, 'connection')
    const socket = dial()
    const [ours] = (await arrived) as [Socket]
    const late = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
    const answer = answerTo('GET / HT', socket)
    server.server.emit('clientError', late, ours)
    expect(await answer).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/)
    expect(body(await answer)).toEqual(refusal('within 10 s'))
  })

  it('never writes into an answer that has begun', async () => {
    const socket = dial()
    socket.once('data', () => socket.write('rubbish\r\n\r\n'))
    const answer = await answerTo('GET /begun HTTP/1.1\r\nHost: a\r\n\r\n', socket)
    expect(answer.match(/HTTP\/1.1/g)).toHaveLength(1)
    expect(answer).not.toContain('USAGE')
  })
})

describe('a client that takes no answers', () => {
  /** A connection of a client that reads nothing, and our end of it. */
  const unreading = async (text: string): Promise<{ client: Socket; ours: Socket }> => {
    const arrived = once(server.server, 'connection')
    const client = dial()
    client.on('error', () => undefined)
    client.pause()
    const [ours] = (await arrived) as [Socket]
    client.write(text)
    await once(server.server, 'request')
    return { client, ours }
  }
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

  it('is cut off when nothing was taken for a while: what is held for it would be held for ever', async () => {
    const { client, ours } = await unreading('GET /long HTTP/1.1\r\nHost: a\r\n\r\n')
    while (ours.writableLength === 0) await turn()
    expect(server.server.timeout).toBe(30_000)
    ours.emit('timeout')
    expect(ours.destroyed).toBe(true)
    client.destroy()
  })

  it('is left alone while its answer is being made', async () => {
    const { client, ours } = await unreading('GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    ours.emit('timeout')
    expect(ours.destroyed).toBe(false)
    answerSlowly('at last')
    expect(await answerTo('', client.resume())).toContain('at last')
  })

  it('is cut off when it asks for more and more meanwhile', async () => {
    const ask = 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'
    const { client, ours } = await unreading(ask.repeat(4))
    await turn()
    expect(ours.destroyed).toBe(false)
    client.write(ask)
    await once(ours, 'close')
    client.destroy()
  })

  it('one request after another may be as many as they like', async () => {
    const socket = dial()
    for (let nth = 0; nth < 20; nth++) {
      socket.write('GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n')
      await once(socket, 'data')
    }
    expect(socket.destroyed).toBe(false)
    socket.destroy()
  })
})

it('a request that comes while the daemon stops is told so, in the same shape', async () => {
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  const stopping = createServer()
  stopping.get('/late', () => 'never')
  // As event streams are ended: connections are cut after that.
  stopping.addHook('preClose', () => held)
  await stopping.listen({ host: '127.0.0.1', port: 0 })
  const { port } = stopping.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const closed = stopping.close()
  await new Promise((resolve) => setImmediate(resolve))
  const late = await answerTo('GET /late HTTP/1.1\r\nHost: a\r\n\r\n', socket)
  expect(late).toMatch(/^HTTP\/1.1 503 /)
  expect(body(late)).toEqual({ error: { code: 'SHUTDOWN', message: expect.stringContaining('stopping'), details: {} } })
  release()
  await closed
})
