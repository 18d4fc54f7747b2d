/** The life of a freeze: begins with a fault, ends a quiet time after the last one. */
import { describe, expect, it } from 'vitest'
import type { Fault } from '../../src/monitor/control-plane.ts'
import { freezeAtStart, nextFreeze, thawsAt, type Freeze } from '../../src/monitor/freezer.ts'

const quietMs = 20_000
const broker: Fault = { reason: 'MASS_SILENCE', message: 'broker' }
const lost: Fault = { reason: 'API_FAILED', message: '503' }

const frozen = (changes: Partial<Freeze> = {}): Freeze => ({
  ...broker,
  since: 1_000,
  blindSince: 1_000,
  quietSince: null,
  ...changes,
})
/** A poll that was answered at once. */
const at = (now: number): { askedAt: number; now: number } => ({ askedAt: now, now })

describe('a freeze', () => {
  it('does not begin without a fault', () => {
    expect(nextFreeze(null, null, at(5_000), quietMs)).toEqual({
      freeze: null,
      began: false,
      faultEnded: false,
      ended: null,
    })
  })

  it('begins with one', () => {
    expect(nextFreeze(null, broker, at(5_000), quietMs)).toEqual({
      freeze: { ...broker, since: 5_000, blindSince: 5_000, quietSince: null },
      began: true,
      faultEnded: false,
      ended: null,
    })
  })

  it('lasts as long as the fault, under the name it began with', () => {
    const other: Fault = { reason: 'CLOCK_SKEW', message: 'skew' }
    expect(nextFreeze(frozen(), other, at(9_000), quietMs)).toEqual({
      freeze: frozen(),
      began: false,
      faultEnded: false,
      ended: null,
    })
  })

  it('that a lost poll began takes the name of the worse fault behind it', () => {
    const blind = frozen(lost)
    expect(nextFreeze(blind, broker, at(9_000), quietMs).freeze).toEqual({ ...blind, ...broker })
    expect(nextFreeze(blind, { ...lost, message: '504' }, at(9_000), quietMs).freeze).toEqual(blind)
    expect(nextFreeze(frozen(), lost, at(9_000), quietMs).freeze).toEqual(frozen())
  })

  it('is quiet once the fault is over, which is said once', () => {
    const quiet = frozen({ quietSince: 9_000 })
    expect(nextFreeze(frozen(), null, at(9_000), quietMs)).toEqual({
      freeze: quiet,
      began: false,
      faultEnded: true,
      ended: null,
    })
    expect(nextFreeze(quiet, null, at(28_999), quietMs)).toEqual({
      freeze: quiet,
      began: false,
      faultEnded: false,
      ended: null,
    })
  })

  it('ends after the quiet time', () => {
    expect(nextFreeze(frozen({ quietSince: 9_000 }), null, at(29_000), quietMs)).toEqual({
      freeze: null,
      began: false,
      faultEnded: false,
      ended: { reason: 'MASS_SILENCE', frozenForMs: 28_000 },
    })
    expect(nextFreeze(frozen(), null, at(9_000), 0)).toMatchObject({ freeze: null, faultEnded: true })
  })

  it('whose fault comes again begins its quiet time again', () => {
    expect(nextFreeze(frozen({ quietSince: 9_000 }), broker, at(10_000), quietMs).freeze?.quietSince).toBeNull()
  })

  it('of the run before is quiet for the whole time, whatever it began with, and takes the name of what is seen now', () => {
    const inherited = frozen({ ...lost, since: 8_000, quietSince: 9_000, inherited: true })
    expect(nextFreeze(inherited, null, at(28_999), quietMs).freeze).not.toBeNull()
    expect(nextFreeze(inherited, null, at(29_000), quietMs).freeze).toBeNull()
    const again: Fault = { ...lost, message: '504' }
    expect(nextFreeze(inherited, again, at(9_500), quietMs).freeze).toEqual({
      ...inherited,
      ...again,
      quietSince: null,
    })
  })

  it('of a lost poll is quiet for twice the blind time, and at most as long as any other', () => {
    const blind = (blindSince: number) => frozen({ ...lost, blindSince, quietSince: 9_000 })
    expect(nextFreeze(blind(8_000), null, at(10_999), quietMs).freeze).not.toBeNull()
    expect(nextFreeze(blind(8_000), null, at(11_000), quietMs).freeze).toBeNull()
    expect(nextFreeze(blind(-90_000), null, at(28_999), quietMs).freeze).not.toBeNull()
    expect(nextFreeze(blind(-90_000), null, at(29_000), quietMs).freeze).toBeNull()
  })
})

describe('when verdicts move again', () => {
  it.each([
    ['is nothing to say without a freeze', null, null],
    ['is not known while the fault lasts', frozen(), null],
    ['is a quiet time after the fault', frozen({ quietSince: 9_000 }), 29_000],
    ['is twice the blind time after a lost poll', frozen({ ...lost, blindSince: 8_000, quietSince: 9_000 }), 11_000],
  ])('%s', (_what, freeze, at) => expect(thawsAt(freeze, quietMs)).toBe(at))
})

describe('the freeze that a monitor begins with', () => {
  const onRecord = { ...lost, since: 500 }

  it('is that of the monitor whose place it takes, as it is, where none is on record', () => {
    const seen = frozen({ quietSince: 9_000 })
    expect(freezeAtStart(null, seen)).toBe(seen)
    expect(freezeAtStart(null, null)).toBeNull()
  })

  it.each([
    ['alone', null, lost],
    ['beside one whose quiet time has begun', frozen({ ...lost, message: '504', quietSince: 9_000 }), lost],
    ['under the name of what was seen, where that is worse', frozen({ quietSince: 9_000 }), broker],
  ])('is the one on record, with its whole quiet time before it: %s', (_beside, seen, named) =>
    expect(freezeAtStart(onRecord, seen)).toEqual({
      ...named,
      since: 500,
      blindSince: 500,
      quietSince: null,
      inherited: true,
    }),
  )
})
