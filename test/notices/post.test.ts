/** One POST to a receiver, over a socket. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { poster } from '../../src/notices/post.ts'
import { systemClock as clock } from '../../src/system/system-clock.ts'

let requests: number
const server = createServer((_request, response) => {
  requests += 1
  response.end()
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
beforeEach(() => {
  requests = 0
})
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())))

it('leaves only if it may at the moment in which it is connected, on a new connection or an open one', async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const target = { url, limitMs: 60_000, caFile: null, verify: true, client: null }
  let may = false
  const post = poster(target, { clock, mayLeave: () => may })
  const posted = () => post('{}', {}, new AbortController().signal)
  const kept = { ok: false, problem: 'this daemon may not act any more', final: false }
  expect(await posted()).toEqual(kept)
  may = true
  expect(await posted()).toEqual({ ok: true, result: 'HTTP 200' })
  may = false
  expect([await posted(), requests]).toEqual([kept, 1])
})
