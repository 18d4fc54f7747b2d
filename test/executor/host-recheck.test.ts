/** What one more look says before something is done, and what a stamp that moved says after a restart: tables. */
import { describe, expect, it } from 'vitest'
import { asKnown, type KnownRow, type Verdict, type VerdictKind } from '../../src/domain/verdict.ts'
import { judgeRecheck, type RecheckFacts } from '../../src/executor/host-recheck.ts'
import { knownRow, movementSince, type Movement } from '../../src/executor/service-liveness.ts'
import type { StepRecord } from '../../src/domain/incident.ts'
import type { ServiceRecord } from '../../src/domain/service.ts'

const stamp = '2026-01-01T00:00:10.000000'

function verdict(kind: VerdictKind, evidence: Partial<Verdict['evidence']> = {}): Verdict {
  return {
    host: 'h1',
    segment: 's',
    kind,
    reason: 'OUR_INCIDENT',
    message: `it is ${kind}`,
    at: '',
    evidence: {
      status: 'enabled',
      state: 'down',
      forcedDown: false,
      updatedAt: stamp,
      silentMs: 0,
      intervalMs: 10_000,
      missedBeats: 0,
      probes: [],
      ...evidence,
    },
  }
}
const alive = { probes: [{ probe: 'ping', kind: 'ping', answer: 'alive', detail: '', at: '' } as const] }
const unsure = { probes: [{ probe: 'ping', kind: 'ping', answer: 'unknown', detail: '', at: '' } as const] }
const look = (change: Partial<RecheckFacts> & Pick<RecheckFacts, 'verdict'>) =>
  judgeRecheck({
    ...{ frozen: null, quiet: null, phase: 'confirming', recordedStamp: null, stated: false, statedSince: false },
    ...{ recoversDeclared: true, fencesIsolated: false },
    ...change,
  })

describe('a look', () => {
  it('at a host that a person forced down holds, where the segment leaves such hosts to people and nobody stated its death', () => {
    const declared = { verdict: verdict('declared-down'), recoversDeclared: false }
    expect(look(declared)).toMatchObject({ seen: 'unclear', hold: 'MAINTENANCE' })
    expect(look({ ...declared, stated: true })).toEqual({ seen: 'dead' })
  })

  it.each(['host-down', 'declared-down', 'recovering'] as const)('%s is dead', (kind) => {
    expect(look({ verdict: verdict(kind) })).toEqual({ seen: 'dead' })
  })

  it('healthy is back, unless everything is frozen', () => {
    expect(look({ verdict: verdict('healthy') })).toEqual({ seen: 'returned', message: 'it is healthy' })
    const frozen = look({ verdict: verdict('healthy'), frozen: 'no conductor' })
    expect(frozen).toEqual({ seen: 'unclear', hold: 'FROZEN', message: 'no conductor' })
    expect(look({ verdict: verdict('host-down'), frozen: 'no conductor' }).seen).toBe('unclear')
  })

  it.each([
    ['CELL_UNREACHABLE', 'CLOUD_UNAVAILABLE'],
    ['ROW_MISSING', 'NOVA_REFUSED'],
    ['NOT_LISTED', 'NOVA_REFUSED'],
  ] as const)(
    'a host whose row cannot be read (%s) waits, whatever stamp was read before and anyone who says what',
    (reason, hold) => {
      const unread = { ...verdict('unknown'), reason }
      for (const facts of [{ recordedStamp: stamp }, { stated: true }, { phase: 'fencing' as const }])
        expect(look({ verdict: unread, ...facts })).toMatchObject({ seen: 'unclear', hold })
    },
  )

  it('a beating host is never fenced, whatever the segment says', () => {
    const held = { seen: 'unclear', hold: 'HOST_ALIVE', message: 'it is contradiction' }
    expect(look({ verdict: verdict('contradiction') })).toEqual(held)
    expect(look({ verdict: verdict('contradiction'), fencesIsolated: true, stated: true })).toEqual(held)
  })

  it('an isolated host is fenced only where the segment says so, and only while Nova says down', () => {
    const isolated = verdict('service-down', alive)
    expect(look({ verdict: isolated })).toMatchObject({ seen: 'unclear', hold: 'HOST_ALIVE' })
    expect(look({ verdict: isolated, stated: true })).toMatchObject({ seen: 'unclear', hold: 'HOST_ALIVE' })
    expect(look({ verdict: isolated, fencesIsolated: true })).toEqual({ seen: 'isolated' })
    const up = verdict('service-down', { ...alive, state: 'up' })
    expect(look({ verdict: up, fencesIsolated: true })).toMatchObject({ seen: 'unclear', hold: 'HOST_ALIVE' })
  })

  it('a living host is not fenced while its silence says nothing yet, and a dead one does not wait for that', () => {
    const quiet = 'this process stood still'
    const held = { seen: 'unclear', hold: 'FROZEN', message: quiet }
    expect(look({ verdict: verdict('service-down', alive), fencesIsolated: true, quiet })).toEqual(held)
    expect(look({ verdict: verdict('host-down'), fencesIsolated: true, quiet })).toEqual({ seen: 'dead' })
  })

  it("a host that a person disabled goes on only on a person's word, and not while a witness finds it alive", () => {
    const held = { seen: 'unclear', hold: 'MAINTENANCE', message: 'it is maintenance' }
    expect(look({ verdict: verdict('maintenance'), recordedStamp: stamp, phase: 'fencing' })).toEqual(held)
    expect(look({ verdict: verdict('maintenance'), stated: true })).toEqual({ seen: 'dead' })
    expect(look({ verdict: verdict('maintenance', alive), stated: true })).toEqual(held)
  })

  it.each<[string, Partial<RecheckFacts>, Partial<Verdict['evidence']>, boolean]>([
    ['the recorded stamp, unmoved', { recordedStamp: stamp }, {}, true],
    ['the recorded stamp, moved', { recordedStamp: '2026-01-01T00:00:00.000000' }, {}, false],
    [
      'the recorded stamp, moved after a statement',
      { recordedStamp: '2026-01-01T00:00:00.000000', stated: true },
      {},
      false,
    ],
    ['unmoved, but a witness is alive', { recordedStamp: stamp }, alive, false],
    ['unmoved, and a witness cannot tell', { recordedStamp: stamp }, unsure, true],
    ['no stamp, and a statement', { stated: true }, {}, true],
    ['no stamp, confirmed before', { phase: 'fencing' }, {}, true],
    ['no stamp and nothing else', {}, {}, false],
  ])('after a restart: %s', (_what, facts, evidence, isDead) => {
    for (const kind of ['unknown', 'suspect', 'forced-down-before'] as const) {
      const seen = look({ verdict: verdict(kind, evidence), ...facts })
      const hold = kind === 'forced-down-before' ? 'MAINTENANCE' : null
      expect(seen).toEqual(isDead ? { seen: 'dead' } : { seen: 'unclear', hold, message: `it is ${kind}` })
    }
  })
})

it('a host that was forced down before a restart, while its incident waited, is dead by a word that answers just that', () => {
  const forced = { recordedStamp: '2026-01-01T00:00:00.000000', stated: true, statedSince: true }
  expect(look({ verdict: verdict('forced-down-before'), ...forced })).toEqual({ seen: 'dead' })
  const answers = look({ verdict: verdict('forced-down-before', alive), ...forced })
  expect(answers).toMatchObject({ seen: 'unclear', hold: 'MAINTENANCE' })
})

describe('a service row after a restart', () => {
  const ours: KnownRow = {
    updatedAt: '2026-01-01T00:00:10.700000',
    forcedDown: true,
    status: 'disabled',
    disabledReason: 'lifeboat',
  }
  const row = (updatedAt: string | null, change: Partial<KnownRow> = {}): KnownRow => ({
    ...ours,
    updatedAt,
    ...change,
  })

  it.each<[string | null, Movement, string]>([
    ['2026-01-01T00:00:10.000000', 'silent', 'the list cuts the microseconds off'],
    ['2026-01-01T00:00:11.000000', 'silent', 'or rounds them up'],
    ['2026-01-01T00:00:12.000000', 'beating', 'later than that nobody of ours wrote'],
    ['2026-01-01T00:00:02.000000', 'silent', 'earlier: a database that was restored, no beat'],
    [null, 'written', 'nothing is known'],
    ['not a time', 'written', 'nothing is known'],
  ])('%s is %s: %s', (updatedAt, movement) => {
    expect(movementSince(ours, row(updatedAt))).toBe(movement)
  })

  it('a stamp of whole seconds is compared as it is', () => {
    const whole = { ...ours, updatedAt: '2026-01-01T00:00:10' }
    expect(movementSince(whole, row('2026-01-01T00:00:10Z'))).toBe('silent')
    expect(movementSince(whole, row('2026-01-01T00:00:11Z'))).toBe('beating')
  })

  it.each([{ forcedDown: false }, { status: 'enabled' }, { disabledReason: 'repair' }])(
    'later together with %j: someone wrote, which says nothing of a beat',
    (change) => {
      expect(movementSince(ours, row('2026-01-01T00:01:00', change))).toBe('written')
    },
  )

  it('a reason that was not known, or is empty instead of missing, is no change', () => {
    const { updatedAt, forcedDown, status } = ours
    expect(movementSince({ updatedAt, forcedDown, status }, row('2026-01-01T00:01:00'))).toBe('beating')
    const none = { ...ours, disabledReason: null }
    expect(movementSince(none, row('2026-01-01T00:01:00', { disabledReason: '' }))).toBe('beating')
    expect(movementSince({ ...ours, disabledReason: '' }, row('2026-01-01T00:01:00', { disabledReason: null }))).toBe(
      'beating',
    )
  })

  it('what is known of it: what our last force-down left, else the verdict, else nothing', () => {
    const step = (status: StepRecord['status'], result: unknown): StepRecord =>
      ({ kind: 'force-down', status, result }) as StepRecord
    const known = (steps: StepRecord[], from: Verdict | null): KnownRow | null =>
      knownRow({ hostSteps: new Map(steps.map((it, at) => [String(at), it])), verdict: from })
    expect(known([step('failed', null), step('confirmed', ours), step('intended', null)], null)).toBe(ours)
    const fence = {
      kind: 'fence',
      status: 'confirmed',
      before: null,
      result: { method: 'bmc' },
    } as unknown as StepRecord
    expect(known([fence, step('confirmed', ours), fence], null)).toBe(ours)
    expect(known([fence], null)).toBeNull()
    expect(known([step('failed', null)], verdict('host-down'))).toEqual({
      updatedAt: stamp,
      forcedDown: false,
      status: 'enabled',
    })
    expect(known([], null)).toBeNull()
  })

  describe('of a host that was fenced again after our force-down', () => {
    const forcedDown = (updatedAt: string | null) => step('force-down', 'confirmed', { result: row(updatedAt) })
    const fenced = (before: unknown, status: StepRecord['status'] = 'confirmed') => step('fence', status, { before })
    const step = (kind: StepRecord['kind'], status: StepRecord['status'], rest: object): StepRecord =>
      ({ kind, status, before: null, ...rest }) as StepRecord
    const known = (...steps: StepRecord[]): KnownRow | null =>
      knownRow({ hostSteps: new Map(steps.map((it, at) => [String(at), it])), verdict: null })
    const later = '2026-01-01T00:01:00.000000'
    const latest = '2026-01-01T00:02:00Z'

    it('is the stamp seen right before that fencing, with the flags of our force-down', () => {
      const seen = known(forcedDown(stamp), fenced({ updatedAt: later }))
      expect(seen).toEqual({ ...ours, updatedAt: later })
    })

    it.each([
      ['in order', [later, latest]],
      ['in another order', [latest, later]],
    ])('is the newest of several, %s', (_how, stamps) => {
      expect(known(forcedDown(stamp), ...stamps.map((updatedAt) => fenced({ updatedAt })))?.updatedAt).toBe(latest)
    })

    it('is our force-down itself when that came later', () => {
      const result = row(later)
      expect(known(fenced({ updatedAt: stamp }), step('force-down', 'confirmed', { result }))).toBe(result)
    })

    it('is that stamp too when our force-down left none', () => {
      expect(known(forcedDown(null), fenced({ updatedAt: later }))?.updatedAt).toBe(later)
    })

    it.each([
      ['a fencing that failed', fenced({ updatedAt: later }, 'failed')],
      ['a fencing without a look', fenced({ verdict: 'host-down' })],
      ['a fencing of which nothing was kept', fenced(null)],
      ['a look that saw no stamp', fenced({ updatedAt: null })],
      ['another step', step('survey', 'confirmed', { before: { updatedAt: later } })],
    ])('is not moved by %s', (_what, other) => {
      expect(known(forcedDown(stamp), other)?.updatedAt).toBe(stamp)
      expect(known(forcedDown(null), other)?.updatedAt).toBeNull()
    })
  })

  it('keeps of a row what tells a beat from a write', () => {
    const read = { id: 's-1', binary: 'nova-compute', host: 'h1', zone: 'nova', state: 'up', ...ours } as ServiceRecord
    expect(asKnown(read)).toEqual(ours)
  })
})
