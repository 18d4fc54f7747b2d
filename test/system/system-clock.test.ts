/** The real clock's monotonic time: it never jumps, and it counts while the machine is suspended. */
import { describe, expect, it } from 'vitest'
import { countingSuspend, systemClock } from '../../src/system/system-clock.ts'

/** A machine whose process has run for so long, and which has been up for so long. */
function machine() {
  const at = { runMs: 1_000, upMs: 90_000 }
  const now = countingSuspend(
    () => at.runMs,
    () => at.upMs,
  )
  const passes = (ms: number): void => {
    at.runMs += ms
    at.upMs += ms
  }
  return { at, now, passes }
}

describe('monotonic time', () => {
  it('passes with the process, however the uptime is rounded', () => {
    const { at, now, passes } = machine()
    const from = now()
    passes(10_000)
    at.upMs -= 9
    expect(now() - from).toBe(10_000)
    at.upMs += 18
    expect(now() - from).toBe(10_000)
  })

  it('passes no faster where the uptime is told in whole seconds', () => {
    let ranMs = 1_000
    const now = countingSuspend(
      () => ranMs,
      () => Math.floor((ranMs + 89_300) / 1_000) * 1_000,
    )
    const from = now()
    for (let nth = 0; nth < 1_000; nth += 1) {
      ranMs += 70
      now()
    }
    expect(now() - from).toBe(70_000)
  })

  it('counts each suspend, once', () => {
    const { at, now, passes } = machine()
    const from = now()
    at.upMs += 600_000
    expect(now() - from).toBe(600_000)
    passes(5_000)
    at.upMs += 2_000
    expect([now() - from, now() - from]).toEqual([607_000, 607_000])
  })

  it('takes a process that stood still between its two readings for no suspend', () => {
    const at = { runMs: 1_000, upMs: 90_000 }
    let stopsForMs = 0
    const now = countingSuspend(
      () => at.runMs,
      () => {
        at.runMs += stopsForMs
        at.upMs += stopsForMs
        stopsForMs = 0
        return at.upMs
      },
    )
    const from = now()
    stopsForMs = 10_000
    expect([now() - from, now() - from]).toEqual([10_000, 10_000])
  })

  it('never goes back, also where the uptime begins again', () => {
    const { at, now, passes } = machine()
    const from = now()
    at.upMs = 0
    expect(now() - from).toBe(0)
    passes(2_000)
    at.upMs += 3_000
    expect(now() - from).toBe(5_000)
  })

  it('of this machine goes on', () => {
    const from = systemClock.now()
    while (systemClock.now() === from);
    expect(systemClock.now() - from).toBeGreaterThan(0)
  })
})
