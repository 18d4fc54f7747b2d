/** A process that was stopped in the middle of what it did: it must notice before it does anything else. */
import { beforeEach, describe, expect, it } from 'vitest'
import { Standstill } from '../../src/control/standstill.ts'
import { Life } from '../../src/rehearsal/life.ts'
import { VirtualClock } from '../../src/simulator/virtual-clock.ts'

let clock: VirtualClock
let life: Life
let standstill: Standstill
beforeEach(() => {
  clock = new VirtualClock()
  life = new Life(clock)
  standstill = new Standstill(life)
  void standstill.watch(new AbortController().signal)
})

describe('a standstill', () => {
  it('is noticed by anyone who asks first, before any timer had its turn', async () => {
    await clock.advance(10_500)
    life.stall(12_000)
    clock.leap(12_000)
    expect(standstill.last()).toEqual({ endedAt: 22_500, ms: 12_500 })
  })

  it('is noticed by the timer, when nobody asks', async () => {
    await clock.advance(10_000)
    life.stall(12_000)
    await clock.advance(20_000)
    expect(standstill.last()).toMatchObject({ endedAt: 22_000 })
  })

  it('is noticed between two watches, in which a standby takes over', async () => {
    const watching = new AbortController()
    const waiting = new Standstill(life)
    void waiting.watch(watching.signal)
    await clock.advance(10_000)
    watching.abort()
    clock.leap(12_000)
    void waiting.watch(new AbortController().signal)
    expect(waiting.last()).toEqual({ endedAt: 22_000, ms: 12_000 })
  })

  it('that was long is not forgotten over a short one, and two that come close are one', async () => {
    await clock.advance(10_000)
    life.stall(60_000)
    await clock.advance(90_000)
    life.stall(5_000)
    await clock.advance(10_000)
    expect(standstill.last()).toMatchObject({ endedAt: 105_000 })
    expect(standstill.lastOver(20_000)).toMatchObject({ endedAt: 70_000 })
    life.stall(15_000)
    await clock.advance(16_500)
    life.stall(15_000)
    await clock.advance(20_000)
    expect(standstill.lastOver(25_000)).toMatchObject({ endedAt: 141_500 })
  })

  it('is not what a process that runs is taken for', async () => {
    await clock.advance(60_000)
    life.stall(2_000)
    await clock.advance(60_000)
    expect(standstill.last()).toBeNull()
  })
})
