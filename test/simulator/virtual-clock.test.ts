import { once } from 'node:events'
import { createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import axios from 'axios'
import { deadline, sleep } from '../../src/domain/clock.ts'
import { VirtualClock } from '../../src/simulator/index.ts'
import { stage } from './scene.ts'

const closers: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

function clockForTest(): VirtualClock {
  return new VirtualClock(Date.UTC(2026, 0, 1))
}

describe('the virtual clock', () => {
  it('stands still until it is told to go', async () => {
    const clock = clockForTest()
    let fired = false
    clock.after(1, () => (fired = true))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect([clock.now(), fired]).toEqual([0, false])
  })

  it('fires timers in the order of their times, and of their making when equal', async () => {
    const clock = clockForTest()
    const fired: string[] = []
    clock.after(20, () => fired.push(`b@${clock.now()}`))
    clock.after(10, () => fired.push(`a@${clock.now()}`))
    clock.after(20, () => fired.push(`c@${clock.now()}`))
    clock.after(30, () => fired.push('never'))()
    await clock.advance(100)
    expect(fired).toEqual(['a@10', 'b@20', 'c@20'])
    expect([clock.now(), clock.wall()]).toEqual([100, Date.UTC(2026, 0, 1) + 100])
  })

  it('lives through a day of ten-second beats in no time', async () => {
    const clock = clockForTest()
    let beats = 0
    const beat = async (): Promise<void> => {
      for (;;) {
        await sleep(clock, 10_000)
        beats++
      }
    }
    void beat()
    await clock.advance(86_400_000)
    expect(beats).toBe(8_640)
  })

  it('does not move while an HTTP request is on its way, anyone who sends it', async () => {
    const clock = clockForTest()
    const server = createServer((_request, response) => {
      // Answered after real time, as from another process: the clock must wait for it.
      setTimeout(() => response.end('{}'), 50)
    }).listen(0, '127.0.0.1')
    closers.push(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    let late = false
    clock.after(1_000, () => (late = true))
    const seen: boolean[] = []
    const work = (async () => {
      await fetch(url).then((response) => response.text())
      seen.push(late)
      await axios.get(url)
      seen.push(late)
      await sleep(clock, 2_000)
      seen.push(late)
    })()
    await clock.run(work)
    expect(seen).toEqual([false, false, true])
  })

  it('leaves as many listeners on a request as it would alone, however many clocks there were before', async () => {
    const server = createServer((_request, response) => void response.end()).listen(0, '127.0.0.1')
    closers.push(() => void server.close())
    await once(server, 'listening')
    const listeners = async (): Promise<number> => {
      const sent = request({ port: (server.address() as AddressInfo).port }).end()
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      answer.resume()
      return sent.listenerCount('close')
    }
    clockForTest()
    const alone = await listeners()
    for (let more = 0; more < 12; more += 1) clockForTest()
    expect(await listeners()).toBe(alone)
  })

  it('moves while the simulator holds an answer back: a client time limit strikes', async () => {
    const { clock, simulator, ...at } = await stage()
    closers.push(() => at.close())
    await at.nova('GET', '/servers')
    simulator.apiFault({ kind: 'hang-before', path: /os-services/ })
    const limit = deadline(clock, 30_000)
    const outcome = at.nova('GET', '/os-services', undefined, limit.signal).then(
      () => 'answered',
      () => `given up at ${clock.now() / 1000} s`,
    )
    expect(await clock.run(outcome)).toBe('given up at 30 s')
  })

  it('gives up loudly when a condition does not come true', async () => {
    const clock = clockForTest()
    await expect(clock.until(() => false, 1_000)).rejects.toThrow('not within 1000 ms')
  })

  it('waits for work that it is told of', async () => {
    const clock = clockForTest()
    let late = false
    clock.after(10, () => (late = true))
    const release = clock.busy()
    let atRelease: boolean | undefined
    setTimeout(() => {
      atRelease = late
      release()
    }, 30)
    await clock.advance(20)
    expect([atRelease, late]).toEqual([false, true])
  })
})
