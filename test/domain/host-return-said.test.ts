/** What is said of a returning host, and what holds whatever the facts are. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  changeReturn,
  decideReturn,
  mayRunTwice,
  returnStates,
  traitGraceMs,
  type ReturnDecision,
  type ReturnFacts,
  type ReturnRules,
  type ReturnState,
} from '../../src/domain/host-return.ts'
import {
  now,
  ours,
  rules,
  confirm,
  ourFlags,
  up,
  enabled,
  settled,
  longHealthy,
  ann,
  proven,
  done,
  decided,
  refused,
  left,
  flying,
  unsettled,
  both,
} from './return-facts.ts'

describe('what is said', () => {
  test('names each record that needs another start, the first five in the sentence and all of them as leftovers', () => {
    const records = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => left(name, 'done'))
    const decision = decided({ evacuations: { inFlight: [], done: records } })
    expect(decision?.message).toContain(
      'a (m-a, done), b (m-b, done), c (m-c, done), d (m-d, done), e (m-e, done) and 2 more',
    )
    expect(decision?.leftovers.map(({ instance }) => instance)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    expect(decision?.leftovers[0]).toEqual({
      code: 'NEEDS_ANOTHER_START',
      message: 'a: evacuation m-a needs another start of nova-compute',
      instance: 'a',
    })
  })

  test('names what is in flight, without counting when all are named', () => {
    const decision = decided({ evacuations: flying })
    expect(decision?.message).toContain('have not ended: web (m-web, pre-migrating). If')
    expect(decision?.leftovers).toEqual([
      { code: 'EVACUATION_IN_FLIGHT', message: 'web: evacuation m-web is pre-migrating', instance: 'web' },
    ])
  })

  test('leaves nothing behind where nothing is named', () => {
    expect(decided({})?.leftovers).toEqual([])
    expect(decided({ service: null })?.leftovers).toEqual([])
    expect(decided({}, done)?.leftovers).toEqual([])
  })

  test('lists names with a comma', () => {
    const records = [left('web', 'done'), left('db', 'done')]
    expect(decided({ evacuations: { inFlight: [], done: records } })?.message).toContain(
      'complete web (m-web, done), db (m-db, done): each start',
    )
  })

  test('says the rules it acts by', () => {
    expect(decided({ healthy: null }, proven)?.message).toContain('for 5 min')
    expect(decided({ state: 'kept-out' })?.message).toContain('more than 3 times within 30 min')
    expect(decided({ order: { ...ann, keepOut: true } })?.message).toBe('Kept out by ann: repaired')
  })

  test('names who ordered that it stay out, or why it should, where it is in service all the same', () => {
    const of = (order: ReturnFacts['order']): ReturnDecision | null =>
      decided({ state: 'kept-out', service: enabled, order }, proven)
    expect(of({ ...ann, keepOut: true })?.leftovers).toMatchObject([{ code: 'ENABLED_ALTHOUGH_KEPT_OUT' }])
    expect(of({ ...ann, keepOut: true })?.message).toMatch(
      /^ann ordered that it stay out \(repaired\), but .* Disable its service in Nova/,
    )
    expect(of(null)?.message).toContain('because it failed more than 3 times within 30 min, but')
  })

  test('says why nothing is written, and which write waits', () => {
    const blocked = { code: 'PAUSED', message: 'paused by ann: lunch' }
    expect(decided({ blocked })).toMatchObject({ message: 'Clear our forced_down: not now, paused by ann: lunch' })
    expect(decided({ failed: { kind: 'clear-forced-down', at: now, message: 'Nova said 400' } })?.message).toContain(
      '(Nova said 400)',
    )
  })

  test('says the same of each refusal: a new sentence is a new entry', () => {
    const said = [1, 2].map((times) => decided({ failed: { ...refused(1), times } })?.message)
    expect(said[0]).toBe(said[1])
  })

  test('says whose disable stands', () => {
    expect(decided({ service: { ...up, disabledReason: 'theirs' } }, proven)?.message).toContain(
      'no longer ours (theirs)',
    )
    expect(
      decided({ ourFlags: { ...ourFlags, disabled: false }, service: { ...up, disabledReason: null } }, proven)
        ?.message,
    ).toContain('someone else had disabled it before (no reason given)')
  })

  test('reports a trait that stays as a leftover, only at the end', () => {
    expect(decided({ trait: 'set' }, done)?.leftovers).toEqual([])
    expect(decided({ trait: 'set', enabledAt: now - traitGraceMs }, done)?.leftovers).toMatchObject([
      { code: 'TRAIT_LEFT', instance: null },
    ])
    expect(decided({ trait: null, enabledAt: now - traitGraceMs }, done)?.leftovers).toMatchObject([
      { code: 'TRAIT_UNREAD', instance: null },
    ])
  })
})

test('the end of a return names the guests that may run twice, whoever ended it', () => {
  for (const service of [enabled, { ...enabled, id: 's-2' }])
    expect(decided({ strays: ['web'], service })).toMatchObject({
      act: 'end',
      message: expect.stringContaining('although Nova has them elsewhere: web') as string,
      leftovers: [{ code: mayRunTwice }],
    })
})

const states = Object.keys(returnStates).filter((state) => state !== 'back') as ReturnState[]
const anyFacts: fc.Arbitrary<ReturnFacts> = fc.record({
  state: fc.constantFrom(...states),
  ourFlags: fc.record({
    incidents: fc.constant(['i-1']),
    serviceId: fc.constant('s-1'),
    forcedDown: fc.boolean(),
    disabled: fc.boolean(),
    reasons: fc.constant([ours]),
  }),
  unansweredUntil: fc.constant(null),
  readAt: fc.constant(now),
  isRefused: fc.boolean(),
  service: fc.option(
    fc.record({
      id: fc.constantFrom('s-1', 's-1', 's-1', 's-2', null),
      status: fc.constantFrom('enabled' as const, 'disabled' as const),
      state: fc.constantFrom('up' as const, 'down' as const),
      forcedDown: fc.boolean(),
      disabledReason: fc.constantFrom(ours, 'theirs', null),
    }),
    { freq: 9 },
  ),
  pulse: fc.constantFrom('beating' as const, 'beating' as const, 'silent' as const, 'unsure' as const),
  healthy: fc.constantFrom(null, longHealthy, { since: now, polls: 1 }),
  evacuations: fc.constantFrom(null, settled, settled, flying, unsettled, both),
  cleared: fc.boolean(),
  enabledAt: fc.constantFrom(null, now, now - traitGraceMs),
  trait: fc.constantFrom(null, 'set' as const, 'gone' as const),
  failures: fc.array(fc.constant(now), { maxLength: 5 }),
  order: fc.constantFrom(null, ann, { ...ann, keepOut: true }),
  strays: fc.constantFrom([], [], ['i-1']),
  failed: fc.constantFrom(null, { kind: 'enable' as const, at: now, message: 'no' }),
  blocked: fc.constantFrom(null, { code: 'PAUSED', message: 'paused' }),
})

describe('whatever the facts are', () => {
  const holds = (law: (facts: ReturnFacts, decision: ReturnDecision, under: ReturnRules) => void): void =>
    fc.assert(
      fc.property(anyFacts, fc.constantFrom(rules, confirm), (facts, under) => {
        const decision = decideReturn(facts, under, now)
        if (decision !== null) law(facts, decision, under)
      }),
      { numRuns: 3_000 },
    )

  test('the table allows the change', () =>
    holds(({ state }, decision) => expect(() => changeReturn(state, decision.state)).not.toThrow()))

  test('nothing is written that is not ours, of a host that does not beat, while something forbids it, or against a person', () =>
    holds(({ ourFlags: its, service, pulse, order, blocked }, { act }, under) => {
      if (act === null || act === 'end') return
      expect({ pulse, blocked, id: service?.id }).toEqual({ pulse: 'beating', blocked: null, id: its.serviceId })
      expect(order?.keepOut).not.toBe(true)
      if (under.mode === 'confirm') expect(order).toEqual(ann)
      if (act === 'clear-forced-down') expect(its.forcedDown && service?.forcedDown).toBe(true)
      else expect(its.disabled && service?.disabledReason).toBe(ours)
    }))

  test('forced_down is taken back only when every evacuation is settled, and a disable only of a host proven healthy', () =>
    holds(({ evacuations, healthy, service }, { act }) => {
      if (act === 'clear-forced-down') expect(evacuations).toEqual(settled)
      if (act === 'enable') expect({ healthy, state: service?.state }).toEqual({ healthy: longHealthy, state: 'up' })
    }))

  test('a host that is in service is not said to be kept out', () =>
    holds(({ service }, { state }) => {
      if (state === 'kept-out') expect(service?.status === 'enabled' && !service.forcedDown).toBe(false)
    }))

  test('the end is said exactly when the state is back', () =>
    holds((_facts, { state, act }) => expect(state === 'back').toBe(act === 'end')))
})
