/** Which silent hosts are kept out of scheduling, what restarted daemons know of it, and when they are let back. */
import { describe, expect, test } from 'vitest'
import type { Entry, EntryData } from '../../src/domain/entry.ts'
import type { Incident } from '../../src/domain/incident.ts'
import type { ServiceRecord } from '../../src/domain/service.ts'
import { evacuates, setAsideAfter } from '../../src/domain/set-aside-record.ts'
import {
  decideSetAside,
  setAsideReason,
  setAsideSentence,
  whySetAside,
  type SetAside,
  type SetAsideFacts,
} from '../../src/domain/set-aside.ts'
import type { ProbeReading, Verdict, VerdictKind } from '../../src/domain/verdict.ts'

const confirmAfterBeats = 3
const dead = 'incident-of-cmp01'
const reason = setAsideReason(dead, 'silent')

function row(change: Partial<ServiceRecord> = {}): ServiceRecord {
  const flags = { status: 'enabled', state: 'up', forcedDown: false, disabledReason: null } as const
  return { id: 's-2', binary: 'nova-compute', host: 'cmp02', zone: 'nova', updatedAt: null, ...flags, ...change }
}

function verdict(
  kind: VerdictKind,
  { answers = [], missedBeats = 1.6, reason: code = 'MISSING_BEATS' }: Said = {},
): Verdict {
  const probes = answers.map((answer): ProbeReading => ({ probe: 'p', kind: 'tcp', answer, detail: '', at: '' }))
  const service = { status: 'enabled', state: 'up', forcedDown: false, updatedAt: null }
  const evidence = { ...service, silentMs: 16_000, intervalMs: 10_000, missedBeats, probes }
  return { host: 'cmp02', segment: 's', kind, reason: code, message: 'silent', at: '', evidence }
}

interface Said {
  answers?: ProbeReading['answer'][]
  missedBeats?: number
  reason?: Verdict['reason']
}

function incident(change: Partial<Incident> = {}): Incident {
  const open = { id: 'own', mode: 'armed', phase: 'fencing', cancelled: null, proof: null, instances: new Map() }
  return { ...open, ...change } as Incident
}

const why = (it: Verdict, at = row(), own?: Incident): string | null => whySetAside(it, at, own, confirmAfterBeats)

describe('a host is set aside', () => {
  test('that is suspect, that Nova takes for a destination, and that a witness finds dead', () => {
    expect(why(verdict('suspect', { answers: ['dead', 'unknown'] }))).toBe('silent')
  })

  test.each([
    ['suspect without a witness that can tell, before silence alone looks like death', {}, null],
    ['suspect for so long that silence alone looks like death', { missedBeats: 3 }, 'silent'],
    ['suspect, and found alive', { missedBeats: 9, answers: ['dead', 'alive'] }, null],
    ['silent before a freeze', { answers: ['dead'], reason: 'WAITING_AFTER_FREEZE' }, null],
    ['silent with the control plane in doubt', { answers: ['dead'], reason: 'CONTROL_PLANE_DOUBT' }, null],
  ] satisfies [string, Said, string | null][])('or is not: %s', (_, said, because) => {
    expect(why(verdict('suspect', said))).toBe(because)
  })

  test.each([
    ['disabled by anybody', { status: 'disabled' }],
    ['forced down', { forcedDown: true }],
    ['down in Nova: its scheduler avoids it', { state: 'down' }],
    ['in a cell that cannot be reached', { id: null }],
  ] satisfies [string, Partial<ServiceRecord>][])('never when it is %s', (_, change) => {
    expect(why(verdict('suspect', { answers: ['dead'] }), row(change))).toBeNull()
  })

  test('while its own incident waits for its proof; not when that has one, is cancelled or only observes', () => {
    const down = verdict('host-down', { answers: ['dead'] })
    expect(why(down, row(), incident())).toMatch(/^silent; its own incident own /)
    expect(why(down, row(), incident({ proof: {} as Incident['proof'] }))).toBeNull()
    expect(why(down, row(), incident({ cancelled: { by: 'ann', reason: '' } }))).toBeNull()
    expect(why(down, row(), incident({ mode: 'observe' }))).toBeNull()
    expect(why(verdict('healthy'), row(), incident())).toBeNull()
  })

  test('not when it is dead without an incident: people ordered that', () => {
    expect(why(verdict('host-down', { answers: ['dead'] }))).toBeNull()
  })
})

describe('guests of an incident are evacuated', () => {
  const plan = (decision: string, outcome: unknown): Incident['instances'] =>
    new Map([['i', { plan: { decision }, outcome }]]) as unknown as Incident['instances']
  const recovering = { phase: 'recovering', proof: {} as Incident['proof'], instances: plan('recover', null) } as const

  test('as long as one that is to be recovered has no outcome', () => {
    expect(evacuates(incident(recovering))).toBe(true)
    expect(evacuates(incident({ ...recovering, instances: plan('recover', {}) }))).toBe(false)
    expect(evacuates(incident({ ...recovering, instances: plan('leave', null) }))).toBe(false)
  })

  test.each([{ mode: 'observe' }, { phase: 'surveying' }, { proof: null }, { cancelled: { by: 'a', reason: '' } }])(
    'not with %o',
    (change) => expect(evacuates(incident({ ...recovering, ...change } as Partial<Incident>))).toBe(false),
  )
})

const known: SetAside = {
  incident: dead,
  serviceId: 's-2',
  reason,
  because: 'silent',
  state: 'set',
  since: '1',
  at: '1',
}
const ours = row({ status: 'disabled', disabledReason: reason })

function decide(change: Partial<SetAsideFacts>): ReturnType<typeof decideSetAside> {
  const facts = {
    known,
    row: ours,
    verdict: verdict('healthy'),
    hasIncident: false,
    mayReturn: true,
    unanswered: false,
  }
  return decideSetAside({ ...facts, ...change })
}

const state = (to: SetAside['state']): SetAside => ({ ...known, state: to })

describe('a host that was set aside', () => {
  test('waits for what else must be so', () => {
    expect(decide({ mayReturn: false })).toEqual({ do: 'wait' })
  })

  test('is someone else’s at once when they disable it while our order is unanswered', () => {
    const theirs = row({ status: 'disabled', disabledReason: 'bad DIMM' })
    const decision = decide({ known: state('setting'), row: theirs, unanswered: true })
    expect(decision).toMatchObject({ to: 'over', theirs: true })
  })

  test('is let back when it is healthy and Nova sees it up', () => {
    expect(decide({})).toEqual({ do: 'take-back' })
    expect(decide({ row: { ...ours, state: 'down' } })).toEqual({ do: 'wait' })
  })

  test.each(['suspect', 'host-down', 'unknown', 'service-down', 'contradiction'] as const)('waits while %s', (kind) => {
    expect(decide({ verdict: verdict(kind) })).toEqual({ do: 'wait' })
  })

  test('waits while its health is only what was known before a freeze, and for its own incident', () => {
    expect(decide({ verdict: verdict('healthy', { reason: 'WAITING_AFTER_FREEZE' }) })).toEqual({ do: 'wait' })
    expect(decide({ hasIncident: true })).toEqual({ do: 'wait' })
  })

  test('waits while nothing can be read of it', () => {
    expect(decide({ row: undefined })).toEqual({ do: 'wait' })
    expect(decide({ row: { ...ours, id: null } })).toEqual({ do: 'wait' })
    expect(decide({ verdict: verdict('unknown', { reason: 'ROW_MISSING' }) })).toEqual({ do: 'wait' })
  })

  test.each([
    ['enabled by someone', row(), /someone else enabled/, {}],
    [
      'disabled by an operator',
      row({ status: 'disabled', disabledReason: 'bad DIMM' }),
      /stays so \(bad DIMM\)/,
      { theirs: true },
    ],
    ['made again', { ...ours, id: 's-9' }, /created again/, {}],
  ])('is not ours any more once it is %s', (_, at, because, more) => {
    expect(decide({ row: at })).toEqual({
      do: 'say',
      to: 'over',
      because: expect.stringMatching(because),
      certainty: 'applied',
      ...more,
    })
  })

  test('is set once Nova shows it; what it does not show may still come', () => {
    expect(decide({ known: state('setting') })).toMatchObject({ do: 'say', to: 'set' })
    expect(decide({ known: state('setting'), row: row(), unanswered: true })).toEqual({ do: 'wait' })
    expect(decide({ known: state('setting'), row: row() })).toMatchObject({ to: 'over', certainty: 'not-applied' })
  })

  test('is enabled again only after the enable before it had its time', () => {
    expect(decide({ known: state('taking-back'), unanswered: true })).toEqual({ do: 'wait' })
    expect(decide({ known: state('taking-back') })).toEqual({ do: 'take-back' })
    expect(decide({ known: state('taking-back'), row: row(), unanswered: true })).toMatchObject({ to: 'over' })
  })
})

test('a restarted daemon knows what stands, since when and why', () => {
  const say = (before: SetAside | null, to: EntryData['service.set-aside']['to'], at: string): SetAside | null => {
    const data = { to, serviceId: 's-2', reason, because: to, certainty: 'unknown' }
    return setAsideAfter(before, { at, incident: dead, data } as Extract<Entry, { kind: 'service.set-aside' }>)
  }
  const ordered = say(null, 'setting', '1')
  expect(ordered).toEqual({ ...known, because: 'setting', state: 'setting' })
  const set = say(ordered, 'set', '2')
  expect(set).toEqual({ ...known, because: 'setting', at: '2' })
  expect(say(set, 'taking-back', '3')).toMatchObject({ state: 'taking-back', since: '1' })
  expect(say(set, 'over', '3')).toBeNull()
  // One that Nova had refused, and shows all the same.
  expect(say(null, 'set', '3')).toMatchObject({ incident: dead, state: 'set', since: '3' })
})

test('each step is a sentence with the host in it', () => {
  const data = { serviceId: 's-2', reason, because: 'B', certainty: 'unknown' } as const
  for (const to of ['setting', 'set', 'taking-back', 'over'] as const)
    expect(setAsideSentence('cmp02', { ...data, to })).toMatch(/^cmp02 .*: B$/)
})
