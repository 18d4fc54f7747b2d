/** The edges of the verdict table: each threshold on both sides, and what a freeze and a doubt make of a conclusion. */
import { describe, expect, it } from 'vitest'
import { verdictKinds, type VerdictKind } from '../../src/domain/verdict.ts'
import type { Pulse } from '../../src/monitor/heartbeat.ts'
import {
  conclude,
  whileFrozen,
  whileInDoubt,
  type Conclusion,
  type HostFacts,
} from '../../src/monitor/verdict-rules.ts'
import { hostFacts, limits, type FactsChange } from './host-facts.ts'

function judged({ probes, ...rest }: FactsChange): Conclusion {
  return conclude(hostFacts({ probes: { configured: 2, ...probes }, ...rest }), limits)
}

const reason = (change: FactsChange): string => judged(change).reason
const dead = { dead: ['ping', 'tcp'], deadKinds: 2, deadInARow: 2 }
const alive = { alive: ['tcp', 'bmc'], dead: ['ping'], deadKinds: 1 }
const disabled: Partial<Pulse> = { status: 'disabled' }
const forced: Partial<Pulse> = { forcedDown: true, forcedWhileWatching: true }

describe('the marks of silence', () => {
  it.each([
    [2_999, 'up', 'BEATING'],
    [3_000, 'up', 'MISSING_BEATS'],
    [4_999, 'up', 'MISSING_BEATS'],
    [5_000, 'up', 'WAITING_FOR_NOVA'],
    [2_999, 'down', 'BEATING_THOUGH_NOVA_SAYS_DOWN'],
    [3_000, 'down', 'MISSING_BEATS'],
    [5_000, 'down', 'PROBES_UNKNOWN'],
    [9_999, 'down', 'PROBES_UNKNOWN'],
    [10_000, 'down', 'NOVA_DOWN_PROBES_UNKNOWN'],
    [10_000, null, 'WAITING_FOR_NOVA'],
  ] as const)('silent for %d ms and %s: %s', (silentMs, state, expected) => {
    expect(reason({ silentMs, state })).toBe(expected)
  })

  it("are in beats of the host's own interval", () => {
    expect(reason({ silentMs: 5_000, intervalMs: 5_000 })).toBe('BEATING')
    expect(reason({ silentMs: 12_500, intervalMs: 5_000, state: 'down' })).toBe('PROBES_UNKNOWN')
    expect(reason({ silentMs: 24_999, intervalMs: 5_000, state: 'down' })).toBe('PROBES_UNKNOWN')
    expect(reason({ silentMs: 25_000, intervalMs: 5_000, state: 'down' })).toBe('NOVA_DOWN_PROBES_UNKNOWN')
  })
})

describe('an early confirmation needs', () => {
  const early = (probes: Partial<HostFacts['probes']>, change: FactsChange = {}) =>
    reason({ silentMs: 5_000, probes: { ...dead, ...probes }, ...change })

  it('as many kinds of dead probes as are asked for, twice in a row, and a beat that was once seen', () => {
    expect(early({})).toBe('SILENT_AND_PROBES_DEAD')
    expect(early({ deadKinds: 1 })).toBe('WAITING_FOR_NOVA')
    expect(early({ deadInARow: 1 })).toBe('WAITING_FOR_NOVA')
    expect(early({}, { pulse: { everBeat: false } })).toBe('WAITING_FOR_NOVA')
    expect(early({}, { silentMs: 4_999 })).toBe('MISSING_BEATS')
  })
})

describe('a living witness', () => {
  const witnessed = (change: FactsChange) => reason({ probes: alive, silentMs: 5_000, state: 'down', ...change })

  it('makes it a dead service only when Nova says down and the silence is confirmed', () => {
    expect(witnessed({})).toBe('SILENT_BUT_PROBE_ALIVE')
    expect(witnessed({ silentMs: 4_999 })).toBe('PROBE_ALIVE')
    expect(witnessed({ state: 'up' })).toBe('PROBE_ALIVE')
  })

  it('is named', () => {
    expect(judged({ probes: alive, silentMs: 5_000, state: 'down' }).message).toContain('tcp, bmc found the host alive')
  })
})

describe('a host that never beat since we started', () => {
  const since = (silentMs: number, change: FactsChange = {}) =>
    judged({ silentMs, state: 'down', pulse: { everBeat: false }, probes: { configured: 0 }, ...change })

  it('is watched for the silence at start and the confirmation', () => {
    expect(since(12_999).reason).toBe('DOWN_SINCE_BEFORE_START')
    expect(since(13_000).reason).toBe('NOVA_DOWN_NO_PROBES')
    expect(since(13_000).message).toContain('since before we started')
    expect(judged({ silentMs: 5_000, state: 'down', probes: { configured: 0 } }).message).not.toContain('before we')
  })
})

describe('a disabled host', () => {
  const held = (change: FactsChange) =>
    reason({ state: 'down', silentMs: 5_000, pulse: disabled, probes: dead, ...change })

  it('is held once it is silent, from the suspect mark on', () => {
    expect(held({})).toBe('DISABLED_AND_SILENT')
    expect(held({ silentMs: 3_000 })).toBe('DISABLED_AND_SILENT')
    expect(held({ silentMs: 2_999 })).toBe('BEATING_THOUGH_NOVA_SAYS_DOWN')
    expect(held({ silentMs: 0, pulse: { ...disabled, everBeat: false } })).toBe('DISABLED_AND_SILENT')
  })

  it('is judged like any other when the segment says so', () => {
    expect(held({ segment: { onDisabledDown: 'recover' } })).toBe('NOVA_DOWN_AND_PROBES_DEAD')
    expect(held({ pulse: {} })).toBe('NOVA_DOWN_AND_PROBES_DEAD')
  })
})

describe('a host that was forced down', () => {
  const declared = (change: FactsChange) => judged({ state: 'down', silentMs: 5_000, pulse: forced, ...change })

  it('is a contradiction while it beats, and no longer once it is silent for long enough', () => {
    const beating: Partial<Pulse> = { ...forced, beatsSinceForced: 1 }
    expect(declared({ pulse: beating, silentMs: 4_999 }).reason).toBe('FORCED_DOWN_BUT_BEATING')
    expect(declared({ pulse: beating }).reason).toBe('FORCED_DOWN_AND_SILENT')
    expect(declared({ pulse: beating, ours: true, silentMs: 0 }).reason).toBe('OURS_FORCED_DOWN_BUT_BEATING')
    expect(declared({ pulse: beating, ours: true }).reason).toBe('OUR_INCIDENT')
    expect(declared({ silentMs: 0 }).reason).toBe('FORCED_DOWN_WAITING')
    expect(declared({ silentMs: 4_999 }).reason).toBe('FORCED_DOWN_WAITING')
  })

  it('says who forced it', () => {
    const beating: Partial<Pulse> = { ...forced, beatsSinceForced: 1 }
    expect(declared({ pulse: beating, silentMs: 0 }).message).toContain('by someone else')
    expect(declared({ pulse: beating, silentMs: 0, ours: true }).message).toContain('by us')
  })

  it('and that a probe finds alive is none to recover', () => {
    expect(declared({ probes: alive })).toMatchObject({ kind: 'service-down', reason: 'FORCED_DOWN_BUT_PROBE_ALIVE' })
    expect(declared({ probes: alive }).message).toContain('tcp, bmc found it alive')
    expect(declared({ probes: dead })).toMatchObject({ kind: 'declared-down', reason: 'FORCED_DOWN_AND_SILENT' })
  })
})

describe('after a freeze', () => {
  it.each([
    ['healthy', 'healthy'],
    ['unknown', 'unknown'],
    ['suspect', 'suspect'],
    ['host-down', 'suspect'],
    ['maintenance', 'suspect'],
  ] as [VerdictKind, VerdictKind][])('what was %s is %s until it beats again', (previous, kind) => {
    const pulse = { beatSinceRestart: false }
    expect(judged({ previous, pulse })).toMatchObject({ kind, reason: 'WAITING_AFTER_FREEZE' })
    expect(judged({ previous, pulse, silentMs: 3_000 }).reason).toBe('MISSING_BEATS')
  })
})

describe('the sentence', () => {
  it('says how long the silence is, in seconds and beats', () => {
    expect(judged({ silentMs: 3_000 }).message).toBe('no heartbeat for 3 s (1.5 missed)')
  })

  it('names the probes that found it dead', () => {
    expect(judged({ silentMs: 5_000, probes: dead }).message).toContain('ping, tcp found it dead')
  })
})

const conclusion = (kind: VerdictKind): Conclusion => ({ kind, reason: 'OUR_INCIDENT', message: 'm' })
const kinds = Object.keys(verdictKinds) as VerdictKind[]

describe('while verdicts are frozen (law L7)', () => {
  const signsOfLife: VerdictKind[] = [
    'healthy',
    'contradiction',
    'unknown',
    'recovering',
    'forced-down-before',
    'returning',
  ]

  it.each(kinds)('a change to %s', (kind) => {
    const other = kind === 'healthy' ? 'suspect' : 'healthy'
    const passes = signsOfLife.includes(kind)
    expect(whileFrozen(conclusion(kind), other)).toEqual(passes ? conclusion(kind) : null)
    expect(whileFrozen(conclusion(kind), kind)).toBeNull()
  })

  it.each(kinds)('a host whose row was missing or unreadable and is not any more is said to wait (%s)', (kind) => {
    const passes = signsOfLife.includes(kind) && kind !== 'unknown'
    const waits = { kind: 'unknown', reason: 'WAITING_FOR_THAW' }
    expect(whileFrozen(conclusion(kind), 'unknown', true)).toMatchObject(passes ? conclusion(kind) : waits)
  })
})

describe('while the control plane is in doubt', () => {
  it.each(kinds)('a host that would become %s', (kind) => {
    const confirms = ['host-down', 'service-down', 'declared-down'].includes(kind)
    const found = whileInDoubt(conclusion(kind), kind === 'suspect' ? 'healthy' : 'suspect', 'the broker')
    expect(found).toEqual(
      confirms
        ? { kind: 'suspect', reason: 'CONTROL_PLANE_DOUBT', message: 'm; waiting: the broker' }
        : conclusion(kind),
    )
    // What stands already is not taken back by a doubt.
    expect(whileInDoubt(conclusion(kind), kind, 'the broker')).toEqual(conclusion(kind))
  })
})

describe('the reason that a person gave for a disable', () => {
  const said = (disabledReason: string | null): string =>
    judged({ state: 'down', silentMs: 20_000, pulse: { status: 'disabled', disabledReason } }).message

  it('is said as it is', () => {
    expect(said('firmware')).toContain(' (firmware)')
  })

  it.each([null, ''])('and %j is none', (none) => {
    expect(said(none)).not.toMatch(/\(firmware\)|\(null\)|\(\)|Stryker/)
  })
})
