import { expect, it } from 'vitest'
import { LogLevelInForce } from '../../src/operations/log-level.ts'
import { VirtualClock } from '../../src/simulator/index.ts'

async function levels(
  test: (level: LogLevelInForce, clock: VirtualClock, applied: string[]) => Promise<void>,
): Promise<void> {
  const clock = new VirtualClock()
  const applied: string[] = []
  await test(new LogLevelInForce(clock, 'info', (level) => void applied.push(level)), clock, applied)
}

it('an ordered level goes back to the configured one at its end, also when the wall clock is set meanwhile', () =>
  levels(async (level, clock, applied) => {
    const until = new Date(clock.wall() + 600_000).toISOString()
    expect(level.order('debug', until)).toEqual({ level: 'debug', configured: 'info', until })
    clock.stepWall(-7_200_000)
    await clock.advance(599_000)
    expect(level.state().level).toBe('debug')
    await clock.advance(2_000)
    expect(level.state()).toEqual({ level: 'info', configured: 'info', until: null })
    expect(applied).toEqual(['debug', 'info'])
  }))

it('a reload ends an order without an end and leaves one with an end, which then goes to the new level', () =>
  levels(async (level, clock, applied) => {
    level.order('debug', null)
    level.configure('warn')
    expect(level.state()).toEqual({ level: 'warn', configured: 'warn', until: null })
    level.order('debug', new Date(clock.wall() + 60_000).toISOString())
    level.configure('error')
    expect(level.state().level).toBe('debug')
    await clock.advance(61_000)
    expect(applied).toEqual(['debug', 'warn', 'debug', 'error'])
  }))

it('a second order takes the place of the first, whose end no longer counts', () =>
  levels(async (level, clock) => {
    level.order('debug', new Date(clock.wall() + 60_000).toISOString())
    level.order('error', null)
    await clock.advance(120_000)
    expect(level.state().level).toBe('error')
  }))
