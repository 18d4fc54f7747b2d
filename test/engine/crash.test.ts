/** What is done about a guest that was reported crashed: the table of docs/instance-failures.md, row by row and in its order. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { defaultRestartRules, pauseBeforeRestart } from '../../src/domain/instance-failure.ts'
import type { InstanceAction } from '../../src/domain/instance.ts'
import { builtInSettings } from '../../src/domain/segment.ts'
import {
  isJudgedByHypervisor,
  planOfCrash,
  restartTurn,
  type CrashFacts,
  type CrashRules,
  type RestartRecord,
  type RestartTurn,
} from '../../src/engine/crash.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { shippedCrashes } from './shipped.ts'
import { instance } from './surveys.ts'

const asked = { HA_Enabled: 'true' }
const crashedAt = Date.parse('2026-11-20T10:00:00Z')

function facts(changes: Partial<CrashFacts> = {}): CrashFacts {
  return {
    host: 'cmp01',
    instance: instance({ host: 'cmp01', metadata: asked }),
    ...{ live: 'off', actions: null, aggregates: [], encrypted: false, mayActForProject: false },
    ...{ crashedAt, reportedAt: crashedAt, sinceMs: 3_000, requests: [], evacuatedFrom: [], cancelled: null },
    ...changes,
  }
}

const rules: CrashRules = {
  segment: 'rack-a',
  restart: defaultRestartRules,
  policy: builtInSettings.policy,
  owner: defaultOwnerPolicy,
}

const like = (changes: Parameters<typeof instance>[0]): Pick<CrashFacts, 'instance'> => ({
  instance: instance({ host: 'cmp01', metadata: asked, ...changes }),
})
const bySync = (at: string): InstanceAction => action('stop', at, { userId: null, projectId: null })

function action(name: string, startedAt: string, changes: Partial<InstanceAction> = {}): InstanceAction {
  const base = { requestId: `req-${startedAt}`, userId: 'u', projectId: 'p', message: null, events: [] }
  return { ...base, action: name, startedAt, ...changes }
}

const startedAt = (time: string): InstanceAction => action('start', `2026-11-20T${time}`)

describe('an instance that was reported crashed', () => {
  test.each<[string, Partial<CrashFacts>, object]>([
    ['is ignored when Nova knows it no longer', { instance: null }, { do: 'nothing', code: 'INSTANCE_GONE' }],
    ['is ignored when it is on another host', like({ host: 'cmp02' }), { do: 'nothing', code: 'MOVED_BY_OTHERS' }],
    [
      'is waited for when an incident is bringing it over, until Nova shows it there',
      { ...like({ host: 'cmp02' }), evacuatedFrom: ['cmp02'] },
      { do: 'wait' },
    ],
    [
      'is ignored on the dead host that it was brought over from',
      { ...like({ host: 'cmp02' }), evacuatedFrom: ['cmp03'] },
      { do: 'nothing', code: 'MOVED_BY_OTHERS' },
    ],
    ['is ignored when it has no guest', like({ vmState: 'shelved_offloaded' }), { do: 'nothing', code: 'NO_GUEST' }],
    ['is ignored when nobody asked for it', like({ metadata: {} }), { do: 'nothing', code: 'NOT_ASKED' }],
    [
      'is ignored when its owner wants it left',
      like({ metadata: { lifeboat: 'leave' } }),
      { do: 'nothing', code: 'NOT_ASKED' },
    ],
    [
      'is ignored when its owner wants it stopped after a failure',
      like({ metadata: { lifeboat: 'stopped' } }),
      { do: 'nothing', code: 'NOT_ASKED' },
    ],
    ['waits while Nova is at work on it', like({ taskState: 'powering-off' }), { do: 'wait' }],
    [
      'is told when Nova never comes to an end with it',
      { ...like({ taskState: 'image_uploading' }), sinceMs: 600_000 },
      { do: 'leave', code: 'CRASHED_MID_TASK' },
    ],
    ['is well when its hypervisor says that it runs', { live: 'running' }, { do: 'nothing', code: 'RUNS_AGAIN' }],
    ['waits while its nova-compute is silent', { live: 'silent' }, { do: 'wait' }],
    ['waits until its hypervisor was asked', { live: null }, { do: 'wait' }],
    ['is rebooted when its hypervisor says that it does not run', {}, { do: 'restart', step: 'reboot' }],
    [
      'waits for Nova to notice where its hypervisor may not be asked',
      { live: 'forbidden', sinceMs: 19_999 },
      { do: 'wait' },
    ],
    [
      'counts as well where its hypervisor may not be asked and Nova has noticed nothing',
      { live: 'forbidden', sinceMs: 20_000 },
      { do: 'nothing', code: 'RUNS_AGAIN' },
    ],
    ['is left when its hypervisor paused it', like({ powerState: 3 }), { do: 'leave', code: 'CRASHED_PAUSED' }],
    ['is left when it was paused', like({ vmState: 'paused' }), { do: 'leave', code: 'CRASHED_PAUSED' }],
    ['is left when it was in rescue mode', like({ vmState: 'rescued' }), { do: 'leave', code: 'CRASHED_PAUSED' }],
    ['is left when it was resized', like({ vmState: 'resized' }), { do: 'leave', code: 'CRASHED_RESIZED' }],
    ['is left when it was in ERROR', like({ vmState: 'error' }), { do: 'leave', code: 'CRASHED_ERROR' }],
    [
      'is rebooted in its project only where Lifeboat may act there, for the key of its volume',
      { encrypted: true },
      { do: 'leave', code: 'ENCRYPTED_WITHOUT_KEY' },
    ],
    ['is rebooted in its project', { encrypted: true, mayActForProject: true }, { do: 'restart', step: 'reboot' }],
    [
      'is started when only the power sync stopped it',
      { ...like({ vmState: 'stopped' }), actions: [bySync('2026-11-20T10:00:15')] },
      { do: 'restart', step: 'start' },
    ],
    [
      'stays off when its owner stopped it before',
      { ...like({ vmState: 'stopped' }), actions: [action('stop', '2026-11-20T09:59:00')] },
      { do: 'nothing', code: 'STOPPED_BY_OWNER' },
    ],
    [
      'stays off when its owner stopped it after the power sync',
      {
        ...like({ vmState: 'stopped' }),
        actions: [bySync('2026-11-20T10:00:15'), action('stop', '2026-11-20T10:00:20')],
      },
      { do: 'nothing', code: 'STOPPED_BY_OWNER' },
    ],
    [
      'is started when its owner had rebooted it since stopping it',
      {
        ...like({ vmState: 'stopped' }),
        actions: [
          bySync('2026-11-20T10:00:15'),
          action('reboot', '2026-11-20T08:00:00'),
          action('stop', '2026-11-20T07:00:00'),
        ],
      },
      { do: 'restart', step: 'start' },
    ],
    [
      'stays off when the power sync stopped it long before',
      { ...like({ vmState: 'stopped' }), actions: [bySync('2026-11-20T09:56:59')] },
      { do: 'nothing', code: 'OFF_BEFORE' },
    ],
    [
      'stays off when a person started it three minutes after the last report, and only then the power sync stopped it',
      { ...like({ vmState: 'stopped' }), actions: [bySync('2026-11-20T10:04:00'), startedAt('10:03:01')] },
      { do: 'nothing', status: 'finished', runs: false, code: 'STARTED_SINCE' },
    ],
    [
      'is rebooted when a person ordered that and nothing shows that it was carried out',
      { actions: [action('reboot', '2026-11-20T10:03:01')] },
      { do: 'restart', step: 'reboot' },
    ],
    [
      'is started when the power sync stopped it before that start, which nobody carried out',
      {
        ...like({ vmState: 'stopped' }),
        actions: [action('reboot', '2026-11-20T10:05:00'), bySync('2026-11-20T10:00:15')],
      },
      { do: 'restart', step: 'start' },
    ],
    [
      'is started when a person started it sooner: another crash may be on record as a repetition of the first',
      { ...like({ vmState: 'stopped' }), actions: [bySync('2026-11-20T10:04:00'), startedAt('10:03:00')] },
      { do: 'restart', step: 'start' },
    ],
    [
      'is started when its crash was reported once more after that start',
      {
        ...like({ vmState: 'stopped' }),
        actions: [bySync('2026-11-20T10:04:00'), startedAt('10:03:01')],
        reportedAt: crashedAt + 230_000,
      },
      { do: 'restart', step: 'start' },
    ],
    [
      'is started when the start since then was Lifeboat’s own',
      {
        ...like({ vmState: 'stopped' }),
        actions: [bySync('2026-11-20T10:04:00'), startedAt('10:03:01')],
        requests: ['req-2026-11-20T10:03:01'],
      },
      { do: 'restart', step: 'start' },
    ],
    [
      'is started when Lifeboat sent a restart whose id is not known: the start may be that one',
      {
        ...like({ vmState: 'stopped' }),
        actions: [bySync('2026-11-20T10:04:00'), startedAt('10:03:01')],
        requests: null,
      },
      { do: 'restart', step: 'start' },
    ],
    [
      'is left when nobody is on record who stopped it',
      { ...like({ vmState: 'stopped' }), actions: [] },
      { do: 'leave', code: 'CRASHED_UNEXPLAINED' },
    ],
    ['waits while its history cannot be read', like({ vmState: 'stopped' }), { do: 'wait' }],
  ])('%s', (_title, changes, expected) => {
    expect(shippedCrashes.decide(facts(changes), rules)).toMatchObject(expected)
  })

  test('is restarted without being asked where its segment says so', () => {
    const restart = { ...defaultRestartRules, unasked: 'recover' as const }
    expect(shippedCrashes.decide(facts(like({ metadata: {} })), { ...rules, restart })).toMatchObject({ do: 'restart' })
  })

  test('in ERROR is rebooted where its segment recovers such, and only if its hypervisor says that it does not run', () => {
    const policy = { ...rules.policy, errorBefore: 'evacuate' as const }
    const seen = (live: CrashFacts['live'], sinceMs = 3_000): string =>
      shippedCrashes.decide(facts({ ...like({ vmState: 'error' }), live, sinceMs }), { ...rules, policy }).do
    expect([seen('off'), seen('running'), seen('silent'), seen('forbidden'), seen('forbidden', 20_000)]).toEqual([
      'restart',
      'nothing',
      'wait',
      'wait',
      'leave',
    ])
  })

  test('is judged by its hypervisor unless it is stopped, busy or has no guest', () => {
    const asks = (changes: Parameters<typeof instance>[0]): boolean => isJudgedByHypervisor(instance(changes))
    for (const vmState of ['active', 'error', 'resized', 'paused', 'suspended', 'rescued'])
      expect([vmState, asks({ vmState })]).toEqual([vmState, true])
    expect(asks({ vmState: 'stopped' })).toBe(false)
    expect(asks({ taskState: 'rebooting' })).toBe(false)
    expect(asks({ vmState: 'building' })).toBe(false)
  })
})

describe('a crash that is reported after a person cancelled one of the same instance', () => {
  const cancelled = { openedAt: crashedAt, closedAt: crashedAt + 60_000, requests: ['req-ours'] }
  const minutesLater = (minutes: number): number => cancelled.closedAt + minutes * 60_000
  const bySyncAfter = bySync('2026-11-20T10:05:00')

  test.each<[string, Partial<CrashFacts>, object]>([
    ['is the cancelled one while it is not clearly later', { crashedAt: minutesLater(3) }, { code: 'CANCELLED' }],
    ['is another one three minutes after the cancel', { crashedAt: minutesLater(3) + 1 }, { do: 'restart' }],
    [
      'is the cancelled one, however late, while the instance has been off since',
      { ...like({ vmState: 'stopped' }), crashedAt: minutesLater(6), actions: [bySyncAfter] },
      { code: 'CANCELLED' },
    ],
    [
      'is another one as soon as someone has started the instance since',
      { crashedAt: minutesLater(0.5), actions: [action('start', '2026-11-20T10:01:10'), bySyncAfter] },
      { do: 'restart' },
    ],
    [
      'is another one if someone started the instance in the moment of the cancel',
      { crashedAt: minutesLater(0.5), actions: [action('start', '2026-11-20T10:01:00')] },
      { do: 'restart' },
    ],
    [
      'is the cancelled one if the only start since is the one that Lifeboat had sent before',
      { crashedAt: minutesLater(1), actions: [action('reboot', '2026-11-20T10:01:02', { requestId: 'req-ours' })] },
      { code: 'CANCELLED' },
    ],
    [
      'is another one, reported late, of a guest that was started between the crash and the cancel',
      {
        ...like({ vmState: 'stopped' }),
        crashedAt: minutesLater(6),
        actions: [bySyncAfter, action('reboot', '2026-11-20T10:00:10', { requestId: 'req-ours' })],
      },
      { do: 'restart', step: 'start' },
    ],
    [
      'is the cancelled one if the only restart is the one that came before the cancel',
      { crashedAt: minutesLater(1), actions: [action('reboot', '2026-11-20T10:00:10')] },
      { code: 'CANCELLED' },
    ],
  ])('%s', (_title, changes, expected) => {
    expect(shippedCrashes.decide(facts({ cancelled, actions: [], ...changes }), rules)).toMatchObject(expected)
  })
})

/** What fits a row: facts, and what Nova shows of the instance. */
type Fitting = [facts: Partial<CrashFacts>, shown: Parameters<typeof instance>[0]]

/**
 * The rows of the page in their order, each with facts that fit it; its name is its code, or what it does. The page's first two are asked
 * by the run itself, before it looks at the instance.
 */
const rows: [name: string, fits: Fitting, is: object][] = [
  ['INSTANCE_GONE', [{ instance: null }, {}], { do: 'nothing' }],
  ['Waits', [{}, { host: 'cmp02', taskState: 'migrating' }], { do: 'wait' }],
  ['MOVED_BY_OTHERS', [{}, { host: 'cmp02' }], { do: 'nothing' }],
  ['NOT_ASKED', [{}, { metadata: {} }], { do: 'nothing' }],
  ['CRASHED_MID_TASK', [{ sinceMs: 600_000 }, { taskState: 'image_uploading' }], { do: 'leave' }],
  ['Waits', [{ sinceMs: 3_000 }, { taskState: 'powering-off' }], { do: 'wait' }],
  ['NO_GUEST', [{}, { vmState: 'shelved' }], { do: 'nothing' }],
  ['RUNS_AGAIN', [{ live: 'running' }, { vmState: 'active' }], { do: 'nothing' }],
  ['Waits', [{ live: 'silent' }, { vmState: 'active' }], { do: 'wait' }],
  ['CRASHED_PAUSED', [{}, { vmState: 'active', powerState: 3 }], { do: 'leave' }],
  ['CRASHED_RESIZED', [{}, { vmState: 'resized' }], { do: 'leave' }],
  ['CRASHED_ERROR', [{}, { vmState: 'error' }], { do: 'leave' }],
  [
    'STOPPED_BY_OWNER',
    [{ actions: [action('stop', '2026-11-20T09:59:00')] }, { vmState: 'stopped' }],
    { do: 'nothing' },
  ],
  ['CRASHED_UNEXPLAINED', [{ actions: [] }, { vmState: 'stopped' }], { do: 'leave' }],
  ['OFF_BEFORE', [{ actions: [bySync('2026-11-20T09:56:59')] }, { vmState: 'stopped' }], { do: 'nothing' }],
  [
    'STARTED_SINCE',
    [{ actions: [bySync('2026-11-20T10:04:00'), startedAt('10:03:01')] }, { vmState: 'stopped' }],
    { do: 'nothing' },
  ],
  [
    'CANCELLED',
    [
      {
        cancelled: { openedAt: crashedAt, closedAt: crashedAt + 60_000, requests: [] },
        actions: [bySync('2026-11-20T10:00:15')],
      },
      {},
    ],
    { do: 'nothing' },
  ],
  ['ENCRYPTED_WITHOUT_KEY', [{ encrypted: true }, {}], { do: 'leave' }],
  [
    'Orders a start',
    [{ actions: [bySync('2026-11-20T10:00:15')] }, { vmState: 'stopped' }],
    { do: 'restart', step: 'start' },
  ],
  ['Orders a hard reboot', [{}, {}], { do: 'restart', step: 'reboot' }],
]

/** Facts that fit both rows, unless the one rules the other out; then those of the first. */
function both([first, ofFirst]: Fitting, [second, ofSecond]: Fitting): CrashFacts {
  return facts({ ...like({ ...ofSecond, ...ofFirst }), ...second, ...first })
}

describe('the page about crashed guests', () => {
  test('has these rows, in this order', () => {
    const page = readFileSync(new URL('../../docs/instance-failures.md', import.meta.url), 'utf8')
    const [, table = ''] = /\| What it finds .*\n\|[-|]+\|\n((?:\|.*\n)+)/.exec(page) ?? []
    const names = table
      .trimEnd()
      .split('\n')
      .map((row) => {
        const [does = '', outcome = ''] = row.split('|').slice(2)
        return [...outcome.matchAll(/`(\w+)`/g)].at(-1)?.[1] ?? does.trim()
      })
    expect(names).toEqual(['HOST_FAILED', 'Waits', ...rows.map(([name]) => name)])
  })

  test.each(rows.map(([name, given, is], index) => [name, index, given, is] as const))(
    '%s (%i) comes before every later row',
    (name, index, given, is) => {
      const expected = /^[A-Z_]+$/.test(name) ? { ...is, code: name } : is
      for (const [later, alsoGiven] of rows.slice(index))
        expect(shippedCrashes.decide(both(given, alsoGiven), rules), later).toMatchObject(expected)
    },
  )
})

describe('the plan of an instance that crashed', () => {
  test('knows both ways back, for Nova may stop it before its turn', () => {
    const seen = facts()
    const decision = shippedCrashes.decide(seen, rules)
    if (decision.do !== 'restart' || seen.instance === null) throw new Error('it is to be restarted')
    const plan = planOfCrash(seen.instance, decision, seen)
    expect(plan).toMatchObject({ decision: 'recover', reason: 'CRASHED', recipe: 'reboot', expected: 'running' })
    expect(Object.keys(plan.recipes)).toEqual(['reboot', 'start'])
  })

  test('has what was known of the instance, and no more', () => {
    const decision = shippedCrashes.decide(facts(), rules)
    if (decision.do !== 'restart') throw new Error('it is to be restarted')
    const one = instance({ projectId: 'p', locked: true, lockedReason: 'audit' })
    const { recipes: _all, ...plan } = planOfCrash(one, decision, { encrypted: false, mayActForProject: false })
    expect(plan).toEqual({
      ...{
        instanceId: one.id,
        name: one.name,
        projectId: 'p',
        rule: 'crashed',
        decision: 'recover',
        reason: 'CRASHED',
      },
      message: 'Its guest crashed: its hypervisor says that it does not run',
      original: {
        ...{ instance: one, wanted: 'running', wantedBecause: 'its guest crashed, and nobody had stopped it' },
        ...{ flagged: false, locked: true, lockedReason: 'audit', knownEvacuations: [], resize: null },
      },
      ...{ recipe: 'reboot', expected: 'running', asProject: null, priority: 0, exclusive: null, debts: [], notes: [] },
    })
  })

  test('acts in the name of its project only for an encrypted volume', () => {
    const decision = shippedCrashes.decide(facts(), rules)
    if (decision.do !== 'restart') throw new Error('it is to be restarted')
    const one = instance({ projectId: 'p' })
    const inProject = (encrypted: boolean, mayActForProject: boolean): string | null =>
      planOfCrash(one, decision, { encrypted, mayActForProject }).asProject
    expect([inProject(true, true), inProject(false, true), inProject(true, false)]).toEqual(['p', null, null])
  })
})

describe('a restart', () => {
  const now = 10_000_000
  const calm: RestartRecord = { restarts: [], crashedAt: now, crashesOnHost: 1, released: false }
  const turn = (changes: Partial<RestartRecord>): RestartTurn =>
    restartTurn({ ...calm, ...changes }, defaultRestartRules, pauseBeforeRestart, now)

  test('is sent at once after the first crash', () => {
    expect(turn({})).toEqual({ go: true })
  })

  test('waits a minute after the crash that follows a restart, and five minutes after the next', () => {
    expect(turn({ restarts: [now - 100_000] })).toMatchObject({ go: false, hold: 'RESTART_PAUSE', until: now + 60_000 })
    expect(turn({ restarts: [now - 100_000], crashedAt: now - 60_000 })).toEqual({ go: true })
    const twice = [now - 100_000, now - 200_000]
    expect(turn({ restarts: twice, crashedAt: now - 299_999 })).toMatchObject({
      ...{ go: false, hold: 'RESTART_PAUSE' },
      message: 'it crashed again after 2 restarts: Lifeboat restarts it 5 min after the crash',
    })
    expect(turn({ restarts: twice, crashedAt: now - 300_000 })).toEqual({ go: true })
  })

  test('waits for a person once there were as many as the segment allows within the time', () => {
    const three = [now - 1, now - 2, now - 3_599_999]
    expect(turn({ restarts: three, crashedAt: 0 })).toMatchObject({
      ...{ go: false, hold: 'RESTARTS_SPENT', restarts: 3, until: null },
    })
    expect(turn({ restarts: [now - 1, now - 2, now - 3_600_000], crashedAt: 0 })).toEqual({ go: true })
    const rules = { ...defaultRestartRules, maxRestarts: 1 }
    const once = restartTurn({ ...calm, restarts: [now - 1] }, rules, pauseBeforeRestart, now)
    expect(once).toMatchObject({ message: 'it crashed again after one restart within 1 h' })
  })

  test('waits for a person when guests of too many instances crashed on its host', () => {
    expect(turn({ crashesOnHost: 5 })).toEqual({ go: true })
    expect(turn({ crashesOnHost: 6 })).toMatchObject({ go: false, hold: 'CRASHES_ON_HOST', until: null })
  })

  test('is sent whatever speaks against it when a person has let it through', () => {
    expect(turn({ crashesOnHost: 9, restarts: [now, now, now, now], released: true })).toEqual({ go: true })
  })
})
