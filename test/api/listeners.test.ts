import { once } from 'node:events'
import { existsSync, mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { fork } from 'node:child_process'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { listenForOperators, listenPublicly } from '../../src/api/index.ts'
import { publicListener } from '../../src/api/public-listener.ts'
import { fakeOperations } from './fake-operations.ts'
import { systemClock } from '../../src/system/system-clock.ts'
import { fakeReview } from './fake-review.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

const socketPath = (): string => join(mkdtempSync(join(tmpdir(), 'lb-')), 'run', 's.sock')
async function listen(path: string): Promise<{ close(): Promise<void> }> {
  const server = await listenForOperators(
    { operations: fakeOperations().operations, review: fakeReview(), clock: systemClock },
    path,
  )
  open.push(server)
  return server
}

function statusOver(path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get({ socketPath: path, path: '/v1/status' }, (answer) => resolve(answer.resume().statusCode)).on('error', reject)
  })
}

describe("the operators' socket", () => {
  it('answers, and only its owner and group may connect', async () => {
    const path = socketPath()
    await listen(path)
    expect(await statusOver(path)).toBe(200)
    expect(statSync(path).mode & 0o777).toBe(0o660)
  })

  it('is gone after an orderly stop', async () => {
    const path = socketPath()
    await (await listen(path)).close()
    expect(existsSync(path)).toBe(false)
  })

  it('a file that a killed daemon left behind is replaced', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'lb-')), 's.sock')
    const script = join(mkdtempSync(join(tmpdir(), 'lb-')), 'holder.mjs')
    writeFileSync(
      script,
      `import { createServer } from 'node:net'\ncreateServer().listen(${JSON.stringify(path)}, () => process.send('up'))`,
    )
    const holder = fork(script, { execArgv: [] })
    await once(holder, 'message')
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    expect(existsSync(path)).toBe(true)
    await listen(path)
    expect(await statusOver(path)).toBe(200)
  })

  it('a socket that someone answers on is refused and goes on answering', async () => {
    const path = socketPath()
    await listen(path)
    await expect(listen(path)).rejects.toMatchObject({
      code: 'API_UNAVAILABLE',
      message: `Another daemon answers on ${path}`,
    })
    expect(await statusOver(path)).toBe(200)
  })

  it('a file that is no socket is left alone', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'lb-')), 'precious')
    writeFileSync(path, 'data')
    await expect(listen(path)).rejects.toMatchObject({ code: 'API_UNAVAILABLE' })
    expect(statSync(path).size).toBe(4)
  })
})

describe('the public listener', () => {
  const sources = (problems: string[]) => ({
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    metricsText: () => Promise.resolve('lifeboat_up 1\n'),
    health: { live: () => ({ ok: true, problems: [] }), ready: () => ({ ok: problems.length === 0, problems }) },
  })

  it('serves metrics as Prometheus wants them', async () => {
    const answer = await publicListener(sources([])).inject('/metrics')
    expect([answer.body, answer.headers['content-type']]).toEqual([
      'lifeboat_up 1\n',
      'text/plain; version=0.0.4; charset=utf-8',
    ])
  })

  it('is ready or says why not', async () => {
    expect((await publicListener(sources([])).inject('/readyz')).statusCode).toBe(200)
    const answer = await publicListener(sources(['Nova is silent'])).inject('/readyz')
    expect([answer.statusCode, answer.json()]).toEqual([503, { ok: false, problems: ['Nova is silent'] }])
    expect((await publicListener(sources(['Nova is silent'])).inject('/healthz')).statusCode).toBe(200)
  })

  it('serves nothing else, and changes nothing', async () => {
    const server = publicListener(sources([]))
    for (const url of ['/', '/v1/status', '/v1/hosts', '/v1/incidents', '/metrics/..', '/v1/recover'])
      expect((await server.inject(url)).statusCode, url).toBe(404)
    expect((await server.inject({ method: 'POST', url: '/metrics', payload: {} })).statusCode).toBe(404)
    expect(
      (await server.inject({ method: 'POST', url: '/v1/recover', payload: { host: 'h', by: 'b', proof: 'p' } }))
        .statusCode,
    ).toBe(404)
  })

  it('cuts off anyone who is slow with a body as soon as anyone who is slow with the head', () => {
    const { headersTimeout, requestTimeout } = publicListener(sources([])).server
    // Node takes the shorter for the head and the longer for the whole request, whichever is which.
    expect([headersTimeout, requestTimeout]).toEqual([10_000, 10_000])
  })

  it('a port that is taken says which option to change', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as { port: number }
    await expect(listenPublicly(sources([]), { host: '127.0.0.1', port })).rejects.toThrow(
      `Cannot listen on 127.0.0.1:${port} (another program has it`,
    )
    taken.close()
  })
})
