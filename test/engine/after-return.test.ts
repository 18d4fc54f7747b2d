/** What is taken for off after its host came back by itself, and what Lifeboat may start: each rule by itself. */
import { describe, expect, it } from 'vitest'
import type { ErrorRecord } from '../../src/domain/errors.ts'
import type { InstanceAction } from '../../src/domain/instance.ts'
import type { EarlierRecovery, InitialState } from '../../src/domain/survey.ts'
import { builtInSettings } from '../../src/domain/segment.ts'
import { isOffNow, mayHaveDiedWithHost, planAfterReturn, type ReturnedInstance } from '../../src/engine/after-return.ts'
import { instance } from './surveys.ts'

const lastSign = Date.parse('2030-01-01T12:00:00Z')
const { policy } = builtInSettings

function at(minutes: number): string {
  return new Date(lastSign + minutes * 60_000).toISOString()
}

function action(name: string, minutes: number, changes: Partial<InstanceAction> = {}): InstanceAction {
  const base = { requestId: `req-${name}-${minutes}`, userId: 'u', projectId: 'p', message: null, events: [] }
  return { ...base, action: name, startedAt: at(minutes), ...changes }
}

const byNova = { userId: null, projectId: null }

const quiet = { encrypted: false, mayActForProject: false, earlier: null, since: null }

function returned(changes: Partial<ReturnedInstance> = {}): ReturnedInstance {
  const off = instance({ vmState: 'stopped', powerState: 4, updatedAt: at(5) })
  const actions = [action('stop', 5, byNova)]
  return { instance: off, actions, ...quiet, ...changes }
}

const planOf = (changes: Partial<ReturnedInstance>, rules = policy): ReturnType<typeof planAfterReturn> =>
  planAfterReturn(returned(changes), { lastSign, backAt: lastSign + 4 * 60_000, nowMs: lastSign + 20 * 60_000 }, rules)

describe('an instance that is off after its host came back', () => {
  it('is started where it is when nobody but nova-compute stopped it', () => {
    expect(planOf({})).toMatchObject({
      decision: 'recover',
      reason: 'OFF_AFTER_RETURN',
      expected: 'running',
      asProject: null,
    })
  })

  it.each([
    ['before its host died', [action('stop', -60)]],
    ['before, and nova-compute stopped it once more', [action('stop', -60), action('stop', 5, byNova)]],
    ['after its host was back', [action('stop', 5, byNova), action('start', 6), action('stop', 7)]],
  ])('stays off when its owner had stopped it %s', (_when, actions) => {
    expect(planOf({ actions })).toBeNull()
  })

  it('stays off when it had switched itself off long before', () => {
    expect(planOf({ actions: [action('stop', -60, byNova)] })).toBeNull()
  })

  it.each([
    ['was started after its host was back', [action('start', 4.5), action('stop', 6, byNova)]],
    ['ran for long after its host was back', [action('stop', 16, byNova)]],
  ])('stays off when it %s, and switched itself off then', (_how, actions) => {
    expect(planOf({ actions })).toBeNull()
  })

  it('stays off when its history cannot be read: nobody knows who stopped it', () => {
    expect(planOf({ actions: null })).toBeNull()
  })

  it('with an encrypted volume is started in the name of its project, or not at all', () => {
    expect(planOf({ encrypted: true, mayActForProject: true })).toMatchObject({ decision: 'recover', asProject: 'p-1' })
    expect(planOf({ encrypted: true })).toMatchObject({ decision: 'leave', reason: 'ENCRYPTED_WITHOUT_KEY' })
  })

  it('that was paused has lost its memory: it is started only where the segment says so', () => {
    const actions = [action('pause', -60), action('stop', 5, byNova)]
    expect(planOf({ actions })).toMatchObject({ decision: 'leave', reason: 'MEMORY_LOST_STOPPED' })
    expect(planOf({ actions }, { ...policy, memoryLost: 'start' })).toMatchObject({ decision: 'recover' })
  })
})

describe('an instance of which an earlier incident knows', () => {
  const off = instance({ vmState: 'stopped', powerState: 4, updatedAt: at(-600) })
  const longAgo = action('stop', -600, byNova)
  const earlier = (change: Partial<EarlierRecovery> = {}): EarlierRecovery => ({
    incident: 'first',
    original: { instance: { ...off, vmState: 'active' }, wanted: 'running', wantedBecause: 'it ran' } as InitialState,
    outcome: { outcome: 'left', code: 'OFF_AFTER_RETURN', message: '', after: null },
    ...{ steps: [], ordered: null, lookedAt: null, ofCrash: null, isOffAfterReturn: true },
    ...{ plannedAt: at(-590), endedAt: at(-500), provenDeadSince: () => false },
    ...change,
  })
  const asked = (told: EarlierRecovery, ...actions: InstanceAction[]) =>
    planOf({ instance: off, actions: [longAgo, ...actions], earlier: told })
  const crashed = { ofCrash: { lookedAt: null, stoppedAgain: false }, isOffAfterReturn: false }

  it('as off since a return of its host, or as waiting for its restart, is off because of that, however long ago', () => {
    for (const told of [earlier(), earlier(crashed)]) {
      const plan = asked(told)
      expect(plan).toMatchObject({ decision: 'recover', message: 'It ran when incident first began, and is off now' })
      // As Nova shows it, not as it was then.
      expect(plan?.original.instance).toBe(off)
    }
  })

  it.each([
    ['off since a return', earlier()],
    ['waiting for its restart', earlier(crashed)],
  ])('as %s, and that its owner has started or stopped since, is what its history says', (_what, told) => {
    expect(asked(told, action('start', -400), action('stop', -300, byNova))).toBeNull()
    expect(asked(told, action('stop', -400))).toBeNull()
  })

  it('as evacuated, or as one that may have been, is what its history says', () => {
    const steps = [{ kind: 'evacuate', status: 'failed', requestId: 'ours', error: null } as const]
    expect(asked(earlier({ isOffAfterReturn: false, steps }))).toBeNull()
    expect(asked(earlier({ ...crashed, steps }))).toBeNull()
  })
})

describe('an instance whose guest an earlier incident may have started elsewhere', () => {
  const error = {
    code: 'GUEST_ON_DESTINATION',
    certainty: 'unknown',
    details: { destination: 'cmp07' },
  } as unknown as ErrorRecord
  const earlier = (change: Partial<EarlierRecovery> = {}): EarlierRecovery => ({
    incident: 'first',
    original: { instance: instance({}), wanted: 'running', knownEvacuations: [] } as unknown as InitialState,
    outcome: { outcome: 'stuck', code: 'GUEST_ON_DESTINATION', message: 'it may run there', after: null },
    steps: [{ kind: 'evacuate', status: 'failed', requestId: 'ours', error }],
    ...{ ordered: null, lookedAt: null, ofCrash: null, isOffAfterReturn: false },
    ...{ plannedAt: at(-590), endedAt: at(-500), provenDeadSince: () => false },
    ...change,
  })

  it('is left, whatever the segment says, and its plan names the host and what to do', () => {
    const plan = planOf({ earlier: earlier() })
    expect(plan).toMatchObject({ decision: 'leave', reason: 'EARLIER_UNSETTLED', recipe: null })
    expect(plan?.message).toMatch(
      /^Incident first left it stuck .* running on cmp07\. Make sure that it does not run there, then start it: openstack/,
    )
  })

  it('is named however long ago it went off, unless its owner had switched it off', () => {
    const longAgo = action('stop', -490, byNova)
    expect(planOf({ earlier: earlier(), actions: [longAgo] })).toMatchObject({ reason: 'EARLIER_UNSETTLED' })
    expect(planOf({ earlier: earlier(), actions: [longAgo, action('stop', -480)] })).toBeNull()
    const proven = earlier({ provenDeadSince: () => true })
    expect(planOf({ earlier: proven, actions: [longAgo] })).toBeNull()
  })

  it('is left too while its evacuation may still come', () => {
    const lost = { ...error, details: {} }
    const just = earlier({ steps: [{ ...earlier().steps[0]!, error: lost }], endedAt: at(15) })
    expect(planOf({ earlier: just })?.message).toContain('no evacuation of it is under way')
    const since = { evacuations: [], actedOnGuest: false, requestLastsMs: 3_600_000 }
    const hourly = { ...just, endedAt: at(-20) }
    expect(planOf({ earlier: hourly, since })).toMatchObject({ decision: 'leave' })
    expect(planOf({ earlier: hourly })).toMatchObject({ decision: 'recover' })
  })

  it.each([
    ['someone has started it since', { since: { evacuations: [], actedOnGuest: true } }],
    ['that host was proven dead since', { earlier: earlier({ provenDeadSince: (host) => host === 'cmp07' }) }],
    ['its evacuation is known to have failed', { earlier: earlier({ steps: [] }) }],
  ])('is started where %s', (_why, settled) => {
    expect(planOf({ earlier: earlier(), ...settled })).toMatchObject({ decision: 'recover' })
  })
})

it('the history is asked only of those that went off since about the death of their host', () => {
  const off = (minutes: number): boolean => mayHaveDiedWithHost(instance({ updatedAt: at(minutes) }), lastSign)
  expect([off(5), off(-10), off(-16)]).toEqual([true, true, false])
})

it('an instance is off when Nova shows it stopped and nobody is at work on it', () => {
  const off = (changes = {}): boolean => isOffNow(instance({ vmState: 'stopped', ...changes }))
  expect(off()).toBe(true)
  expect(off({ taskState: 'powering-on' })).toBe(false)
  expect(off({ vmState: 'active' })).toBe(false)
})
