/** The verdict table, row by row. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { conclude, whileFrozen } from '../../src/monitor/verdict-rules.ts'
import { ourDisabledReason } from '../../src/domain/service.ts'
import { hostFacts, limits, type FactsChange } from './host-facts.ts'

const twoDead = { configured: 2, dead: ['ping', 'tcp'], deadKinds: 2, deadInARow: 2 }
const oneDead = { configured: 2, dead: ['ping'], deadKinds: 1, deadInARow: 0 }
const oneAlive = { configured: 2, dead: ['ping'], deadKinds: 1, alive: ['tcp'] }
const silent = 5_000
const forced = { forcedDown: true, forcedWhileWatching: true }

const table: [name: string, change: FactsChange, kind: string, reason: string][] = [
  ['beating', {}, 'healthy', 'BEATING'],
  ['beating while Nova says down', { state: 'down' }, 'healthy', 'BEATING_THOUGH_NOVA_SAYS_DOWN'],
  ['beating and disabled', { pulse: { status: 'disabled' } }, 'healthy', 'BEATING'],
  ['just seen, up', { pulse: { everBeat: false } }, 'unknown', 'FIRST_SIGHTING'],
  ['just seen, down', { pulse: { everBeat: false }, state: 'down' }, 'unknown', 'DOWN_AT_START'],
  ['missed, below the threshold', { silentMs: 3_000 }, 'suspect', 'MISSING_BEATS'],
  [
    'silent, two kinds dead twice, known to pause',
    { silentMs: silent, suspicion: 3.99, probes: twoDead },
    'suspect',
    'HEARTBEATS_KNOWN_TO_PAUSE',
  ],
  [
    'silent, Nova down, a probe dead, known to pause',
    { silentMs: 19_999, suspicion: 0, state: 'down', probes: oneDead },
    'suspect',
    'HEARTBEATS_KNOWN_TO_PAUSE',
  ],
  [
    'known to pause, yet silent for four times the confirmation time',
    { silentMs: 20_000, suspicion: 0, probes: twoDead },
    'host-down',
    'SILENT_AND_PROBES_DEAD',
  ],
  [
    'known to pause, a millisecond before that',
    { silentMs: 19_999, suspicion: 0, probes: twoDead },
    'suspect',
    'HEARTBEATS_KNOWN_TO_PAUSE',
  ],
  ['suspicious below the bound', { silentMs: 4_999, suspicion: 15, probes: twoDead }, 'suspect', 'MISSING_BEATS'],
  [
    'known to pause, one alive',
    { silentMs: silent, suspicion: 1, state: 'down', probes: oneAlive },
    'suspect',
    'PROBE_ALIVE',
  ],
  [
    'forced down while watched, known to pause',
    { silentMs: silent, suspicion: 3.9, state: 'down', pulse: forced },
    'suspect',
    'FORCED_DOWN_WAITING',
  ],
  ['missed, below the threshold, Nova says down', { silentMs: 4_900, state: 'down' }, 'suspect', 'MISSING_BEATS'],
  [
    'silent, two kinds dead twice, Nova still up',
    { silentMs: silent, probes: twoDead },
    'host-down',
    'SILENT_AND_PROBES_DEAD',
  ],
  [
    'silent, two kinds dead once',
    { silentMs: silent, probes: { ...twoDead, deadInARow: 1 } },
    'suspect',
    'WAITING_FOR_NOVA',
  ],
  ['silent, one kind dead, Nova still up', { silentMs: silent, probes: oneDead }, 'suspect', 'WAITING_FOR_NOVA'],
  ['silent without probes, Nova still up', { silentMs: 60_000 }, 'suspect', 'WAITING_FOR_NOVA'],
  [
    'never seen beating: no early confirmation',
    { silentMs: silent, pulse: { everBeat: false }, probes: twoDead },
    'suspect',
    'WAITING_FOR_NOVA',
  ],
  [
    'Nova down, silent, a probe dead',
    { silentMs: silent, state: 'down', probes: oneDead },
    'host-down',
    'NOVA_DOWN_AND_PROBES_DEAD',
  ],
  ['Nova down, silent, none configured', { silentMs: silent, state: 'down' }, 'host-down', 'NOVA_DOWN_NO_PROBES'],
  [
    'Nova down, silent, all unknown',
    { silentMs: silent, state: 'down', probes: { configured: 1 } },
    'suspect',
    'PROBES_UNKNOWN',
  ],
  [
    'the same for twice the time',
    { silentMs: 10_000, state: 'down', probes: { configured: 1 } },
    'host-down',
    'NOVA_DOWN_PROBES_UNKNOWN',
  ],
  [
    'Nova down, silent, one alive',
    { silentMs: silent, state: 'down', probes: oneAlive },
    'service-down',
    'SILENT_BUT_PROBE_ALIVE',
  ],
  ['silent, one alive, Nova still up', { silentMs: silent, probes: oneAlive }, 'suspect', 'PROBE_ALIVE'],
  [
    'down since before our start',
    { silentMs: 12_900, state: 'down', pulse: { everBeat: false }, probes: twoDead },
    'suspect',
    'DOWN_SINCE_BEFORE_START',
  ],
  [
    'the same, long enough',
    { silentMs: 13_000, state: 'down', pulse: { everBeat: false }, probes: twoDead },
    'host-down',
    'NOVA_DOWN_AND_PROBES_DEAD',
  ],
  [
    'disabled by a person, silent',
    { silentMs: silent, state: 'down', pulse: { status: 'disabled' }, probes: twoDead },
    'maintenance',
    'DISABLED_AND_SILENT',
  ],
  [
    'disabled, down before our start',
    { state: 'down', pulse: { status: 'disabled', everBeat: false } },
    'maintenance',
    'DISABLED_AND_SILENT',
  ],
  [
    'disabled, the segment recovers',
    { silentMs: silent, state: 'down', pulse: { status: 'disabled' }, segment: { onDisabledDown: 'recover' } },
    'host-down',
    'NOVA_DOWN_NO_PROBES',
  ],
  [
    'disabled by us',
    {
      silentMs: silent,
      state: 'down',
      ours: true,
      pulse: { status: 'disabled', disabledReason: ourDisabledReason('i') },
    },
    'host-down',
    'NOVA_DOWN_NO_PROBES',
  ],
  [
    'disabled by nova-compute itself, which lost its hypervisor',
    {
      silentMs: silent,
      state: 'down',
      pulse: { status: 'disabled', disabledReason: 'AUTO: Connection to libvirt lost: 1' },
    },
    'host-down',
    'NOVA_DOWN_NO_PROBES',
  ],
  [
    'disabled by a person while our incident waits',
    { silentMs: silent, state: 'down', ours: true, pulse: { status: 'disabled', disabledReason: 'new memory' } },
    'maintenance',
    'DISABLED_AND_SILENT',
  ],
  [
    'disabled by a person, silent, two kinds dead twice, before Nova says down',
    { silentMs: silent, pulse: { status: 'disabled' }, probes: twoDead },
    'maintenance',
    'DISABLED_AND_SILENT',
  ],
  [
    'disabled by a person, at the suspect mark, Nova says down',
    { silentMs: 3_000, state: 'down', pulse: { status: 'disabled' } },
    'maintenance',
    'DISABLED_AND_SILENT',
  ],
  [
    'disabled by a person, below the suspect mark, Nova says down',
    { silentMs: 2_999, state: 'down', pulse: { status: 'disabled' } },
    'healthy',
    'BEATING_THOUGH_NOVA_SAYS_DOWN',
  ],
  [
    'disabled by a person, below the confirmation, Nova says up',
    { silentMs: 4_999, pulse: { status: 'disabled' }, probes: twoDead },
    'suspect',
    'MISSING_BEATS',
  ],
  [
    'disabled by a person, the segment recovers, two kinds dead twice',
    {
      silentMs: silent,
      pulse: { status: 'disabled' },
      probes: twoDead,
      segment: { onDisabledDown: 'recover' },
    },
    'host-down',
    'SILENT_AND_PROBES_DEAD',
  ],
  [
    'disabled by a person, then forced down',
    { silentMs: silent, state: 'down', pulse: { ...forced, disabledBeforeForced: true } },
    'maintenance',
    'DISABLED_AND_FORCED_DOWN',
  ],
  [
    'disabled by a person, then forced down, while our incident waits',
    { silentMs: silent, state: 'down', ours: true, pulse: { ...forced, disabledBeforeForced: true } },
    'maintenance',
    'DISABLED_AND_FORCED_DOWN',
  ],
  [
    'disabled by a person, then forced down by us on a person’s word',
    {
      silentMs: silent,
      state: 'down',
      ours: true,
      hasOurFlags: true,
      pulse: { ...forced, disabledBeforeForced: true },
    },
    'recovering',
    'OUR_INCIDENT',
  ],
  [
    'disabled by a person, then forced down, the segment recovers',
    {
      silentMs: silent,
      state: 'down',
      pulse: { ...forced, disabledBeforeForced: true },
      segment: { onDisabledDown: 'recover' },
    },
    'declared-down',
    'FORCED_DOWN_AND_SILENT',
  ],
  [
    'disabled by a person, then forced down, and beating',
    { state: 'down', pulse: { ...forced, disabledBeforeForced: true, beatsSinceForced: 1 } },
    'contradiction',
    'FORCED_DOWN_BUT_BEATING',
  ],
  [
    'forced down by us, its incident over, silent',
    { silentMs: silent, state: 'down', ours: true, incidentOver: true, pulse: forced },
    'returning',
    'AWAY_AFTER_INCIDENT',
  ],
  [
    'the same, not silent for long enough: nothing is known yet',
    { silentMs: 4_999, state: 'down', ours: true, incidentOver: true, pulse: forced },
    'returning',
    'WATCHING_AFTER_INCIDENT',
  ],
  [
    'forced down by us, its incident over, beating: no contradiction',
    { state: 'down', ours: true, incidentOver: true, pulse: { ...forced, beatsSinceForced: 1 } },
    'returning',
    'BEATING_UNDER_OUR_FLAGS',
  ],
  [
    'beat, and silent again',
    { silentMs: silent, state: 'down', ours: true, incidentOver: true, pulse: { ...forced, beatsSinceForced: 9 } },
    'returning',
    'AWAY_AFTER_INCIDENT',
  ],
  [
    'disabled by us, its incident over, dead again: a new failure',
    {
      silentMs: silent,
      state: 'down',
      ours: true,
      incidentOver: true,
      pulse: { status: 'disabled', disabledReason: 'lifeboat: incident 1' },
    },
    'host-down',
    'NOVA_DOWN_NO_PROBES',
  ],
  ['forced down by us', { silentMs: silent, state: 'down', ours: true, pulse: forced }, 'recovering', 'OUR_INCIDENT'],
  [
    'forced down by us, beating',
    { state: 'down', ours: true, pulse: { ...forced, beatsSinceForced: 1 } },
    'contradiction',
    'OURS_FORCED_DOWN_BUT_BEATING',
  ],
  [
    'an incident of ours before anything is done',
    { silentMs: silent, state: 'down', ours: true },
    'host-down',
    'NOVA_DOWN_NO_PROBES',
  ],
  [
    'forced down while watched, not silent yet',
    { silentMs: 1_000, state: 'down', pulse: forced },
    'suspect',
    'FORCED_DOWN_WAITING',
  ],
  [
    'forced down while watched, silent',
    { silentMs: silent, state: 'down', pulse: forced },
    'declared-down',
    'FORCED_DOWN_AND_SILENT',
  ],
  [
    'forced down while watched, silent, alive',
    { silentMs: silent, state: 'down', pulse: forced, probes: oneAlive },
    'service-down',
    'FORCED_DOWN_BUT_PROBE_ALIVE',
  ],
  [
    'forced down while watched, beating',
    { state: 'down', pulse: { ...forced, beatsSinceForced: 1 } },
    'contradiction',
    'FORCED_DOWN_BUT_BEATING',
  ],
  [
    'forced down before our start',
    { silentMs: silent, state: 'down', pulse: { forcedDown: true } },
    'forced-down-before',
    'FORCED_DOWN_BEFORE_START',
  ],
  [
    'forced down before our start, beating',
    { state: 'down', pulse: { forcedDown: true, beatsSinceForced: 1 } },
    'contradiction',
    'FORCED_DOWN_BUT_BEATING',
  ],
  [
    'ours, beat once and died again, after a freeze: that beat is no beat now',
    { ours: true, previous: 'recovering', pulse: { ...forced, beatsSinceForced: 1, beatSinceRestart: false } },
    'recovering',
    'OUR_INCIDENT',
  ],
  [
    'ours, beating before a freeze: still taken for alive',
    { ours: true, previous: 'contradiction', pulse: { ...forced, beatsSinceForced: 1, beatSinceRestart: false } },
    'contradiction',
    'OURS_FORCED_DOWN_BUT_BEATING',
  ],
  [
    'dead before a freeze: again',
    { previous: 'host-down', pulse: { beatSinceRestart: false } },
    'suspect',
    'WAITING_AFTER_FREEZE',
  ],
]

describe('the verdict table', () => {
  it.each(table)('%s', (_name, change, kind, reason) => {
    expect(conclude(hostFacts(change), limits)).toMatchObject({ kind, reason })
  })

  const anyFacts = fc.record({
    suspicion: fc.double({ min: 0, max: 15, noNaN: true }),
    silentMs: fc.integer({ min: 0, max: 1_000_000 }),
    state: fc.constantFrom('up' as const, 'down' as const),
    ours: fc.boolean(),
    previous: fc.constantFrom('healthy' as const, 'suspect' as const, 'unknown' as const, 'host-down' as const),
    pulse: fc.record({
      everBeat: fc.boolean(),
      beatSinceRestart: fc.boolean(),
      forcedDown: fc.boolean(),
      forcedWhileWatching: fc.boolean(),
      status: fc.constantFrom('enabled' as const, 'disabled' as const),
      beatsSinceForced: fc.integer({ min: 0, max: 2 }),
    }),
    deadInARow: fc.integer({ min: 0, max: 5 }),
    deadKinds: fc.integer({ min: 0, max: 3 }),
  })

  it('never calls a host down or declared down while one probe finds it alive', () => {
    fc.assert(
      fc.property(anyFacts, ({ deadInARow, deadKinds, ...rest }) => {
        const probes = { configured: 3, alive: ['tcp'], dead: ['ping'], deadInARow, deadKinds }
        expect(['host-down', 'declared-down']).not.toContain(conclude(hostFacts({ ...rest, probes }), limits).kind)
      }),
    )
  })

  it('concludes no death before 2.5 missed beats, whatever the suspicion', () => {
    fc.assert(
      fc.property(anyFacts, fc.integer({ min: 0, max: 4_999 }), ({ deadInARow, deadKinds, ...rest }, silentMs) => {
        const probes = { configured: 2, dead: ['ping', 'tcp'], deadInARow, deadKinds }
        const { kind } = conclude(hostFacts({ ...rest, silentMs, probes }), limits)
        expect(['host-down', 'declared-down', 'service-down']).not.toContain(kind)
      }),
    )
  })

  it('concludes nothing earlier for less suspicion', () => {
    fc.assert(
      fc.property(anyFacts, ({ deadInARow, deadKinds, ...rest }) => {
        const probes = { configured: 2, dead: ['ping', 'tcp'], deadInARow, deadKinds }
        const certain = conclude(hostFacts({ ...rest, suspicion: 15, probes }), limits).kind
        const asked = conclude(hostFacts({ ...rest, probes }), limits).kind
        if (asked === 'host-down' || asked === 'declared-down') expect(certain).toBe(asked)
      }),
    )
  })

  it('lets no conclusion through to death while frozen', () => {
    fc.assert(
      fc.property(anyFacts, ({ deadInARow, deadKinds, ...rest }) => {
        const probes = { configured: 2, dead: ['ping', 'tcp'], deadInARow, deadKinds }
        const passed = whileFrozen(conclude(hostFacts({ ...rest, probes }), limits), rest.previous)
        expect(['suspect', 'host-down', 'declared-down', 'service-down', 'maintenance']).not.toContain(passed?.kind)
      }),
    )
  })
})
