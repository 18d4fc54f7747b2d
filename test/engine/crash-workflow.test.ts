/** What a workflow of one's own can and cannot say of a crashed guest. */
import { describe, expect, it } from 'vitest'
import { defaultRestartRules } from '../../src/domain/instance-failure.ts'
import type { InstanceAction } from '../../src/domain/instance.ts'
import { builtInSettings } from '../../src/domain/segment.ts'
import type { CrashFacts, CrashRules } from '../../src/engine/crash.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { parseWorkflowOf } from '../../src/engine/workflow.ts'
import { shippedCrashes } from './shipped.ts'
import { instance } from './surveys.ts'

const rules: CrashRules = {
  segment: 'rack-a',
  restart: { ...defaultRestartRules, unasked: 'recover' },
  policy: builtInSettings.policy,
  owner: defaultOwnerPolicy,
}

function facts(changes: Partial<CrashFacts> = {}): CrashFacts {
  return {
    ...{ host: 'cmp01', instance: instance({ host: 'cmp01' }), live: 'off', actions: null, aggregates: [] },
    ...{
      encrypted: false,
      mayActForProject: false,
      crashedAt: 0,
      reportedAt: 0,
      sinceMs: 3_000,
      requests: [],
      evacuatedFrom: [],
      cancelled: null,
    },
    ...changes,
  }
}

function stop(by: string | null): InstanceAction {
  const base = { action: 'stop', requestId: 'r', message: null, events: [] }
  return { ...base, userId: by, projectId: by, startedAt: '1970-01-01T00:00:15Z' }
}

const shown = (vmState: string, taskState: string | null = null): Pick<CrashFacts, 'instance'> => ({
  instance: instance({ host: 'cmp01', vmState, taskState }),
})

/** A workflow of these rules, with the shipped recipes. */
function own(written: string): typeof shippedCrashes {
  const source = shippedCrashes.source.replace(/^ {2}rules:\n[^]*(?=^# One step)/m, `  rules:\n${written}\n`)
  const used = [...written.matchAll(/restart: (\w+)/g)].map((found) => found[1])
  const kept = used.includes('start') ? source : source.replace(/^ {2}start:\n[^]*/m, '')
  return parseWorkflowOf('instance', kept, 'own.yaml', { ownerPolicy: defaultOwnerPolicy })
}

const always = (step: 'reboot' | 'start'): string =>
  step === 'reboot'
    ? '    - { id: all, restart: reboot, reason: CRASHED, because: every guest is restarted }'
    : `    - { id: some, when: report.age < 0, restart: reboot, reason: CRASHED, because: never }
    - { id: all, restart: start, reason: CRASHED, because: every guest is started }`

describe('no workflow has a guest restarted', () => {
  const sync = [stop(null)]
  it.each<[string, 'reboot' | 'start', Partial<CrashFacts>]>([
    ['unless its hypervisor says that it does not run', 'reboot', { live: 'silent' }],
    ['that its hypervisor says runs', 'reboot', { live: 'running' }],
    ['whose hypervisor it may not ask', 'reboot', { live: 'forbidden' }],
    ['while Nova is working on it', 'reboot', shown('active', 'powering-off')],
    ['by a reboot where Nova shows it neither active nor in ERROR', 'reboot', shown('paused')],
    ['by a reboot where Nova shows it stopped', 'reboot', { ...shown('stopped'), live: null, actions: sync }],
    ['without the key of its volume', 'reboot', { encrypted: true }],
    [
      'after a person cancelled the incident of that crash',
      'reboot',
      { cancelled: { openedAt: 0, closedAt: 0, requests: [] } },
    ],
    ['that its owner stopped', 'start', { ...shown('stopped'), actions: [stop('u')] }],
    ['that its owner stopped after Nova had', 'start', { ...shown('stopped'), actions: [stop('u'), ...sync] }],
    ['that its owner stopped before Nova did', 'start', { ...shown('stopped'), actions: [...sync, stop('u')] }],
    ['that someone unknown stopped', 'start', { ...shown('stopped'), actions: [] }],
    ['whose history could not be read', 'start', shown('stopped')],
    ['by a start where Nova shows it active', 'start', { actions: sync }],
    ['by a start while Nova is working on it', 'start', { ...shown('stopped', 'deleting'), actions: sync }],
  ])('%s', (_what, step, changes) => {
    const decision = own(always(step)).decide(facts(changes), rules)
    expect(decision).toMatchObject({ do: 'leave', rule: 'all', code: 'RESTART_REFUSED' })
    expect(decision.message).toMatch(/^rule all would restart it, and no workflow may: ./)
  })

  it('on another host, or that Nova no longer knows: no rule is asked', () => {
    const { decide } = own(always('reboot'))
    const elsewhere = { instance: instance({ host: 'cmp02' }) }
    expect(decide(facts(elsewhere), rules)).toEqual({
      ...{ do: 'nothing', rule: '', status: 'ignored', runs: false, code: 'MOVED_BY_OTHERS' },
      message: 'Nova shows it on cmp02, not on cmp01, so it did not crash there',
    })
    const deleted = { instance: instance({ host: 'cmp01', status: 'DELETED' }) }
    expect(decide(facts(deleted), rules)).toMatchObject({ do: 'nothing', code: 'INSTANCE_GONE' })
  })

  it('and it may restart whatever else it wants to', () => {
    expect(own(always('reboot')).decide(facts(), rules)).toMatchObject({ do: 'restart', recipe: 'reboot' })
    expect(own(always('reboot')).decide(facts(shown('error')), rules)).toMatchObject({ do: 'restart' })
    const stopped = facts({ ...shown('stopped'), live: null, actions: sync })
    expect(own(always('start')).decide(stopped, rules)).toMatchObject({ do: 'restart', recipe: 'start' })
  })
})

describe('a workflow of one’s own', () => {
  it('may leave what the shipped one restarts, with words of its own', () => {
    const quiet =
      own(`    - { id: lab, when: instance.name == "one", leave: true, reason: LAB, because: '\${instance.name} is for tests' }
${always('reboot')}`)
    expect(quiet.decide(facts(), rules)).toMatchObject({
      do: 'leave',
      rule: 'lab',
      code: 'LAB',
      message: 'one is for tests',
    })
  })

  it('leaves an instance and tells people when a rule cannot be evaluated for it', () => {
    const careless =
      own(`    - { id: tier, when: 'instance.metadata["tier"] == "gold"', ignore: true, reason: GOLD, because: gold }
${always('reboot')}`)
    expect(careless.decide(facts(), rules)).toEqual({
      ...{ do: 'leave', rule: 'tier', code: 'CONDITION_FAILED' },
      message: 'rule tier could not be evaluated: No such key: tier',
    })
  })

  it('counts no guest as running that its hypervisor says does not', () => {
    const rosy = own(`    - { id: fine, when: report.age < 60, done: true, reason: FINE, because: it is fine }
${always('reboot')}`)
    const runs = (changes: Partial<CrashFacts>): boolean => {
      const decision = rosy.decide(facts(changes), rules)
      return decision.do === 'nothing' && decision.runs
    }
    expect([runs({ live: 'off' }), runs({ live: 'running' })]).toEqual([false, true])
    expect(runs({ ...shown('stopped'), live: null })).toBe(false)
    expect(rosy.decide(facts(), rules)).toMatchObject({ do: 'nothing', status: 'finished' })
    const ignores =
      own(`    - { id: not-ours, when: report.age < 60, ignore: true, reason: OTHERS, because: it is theirs }
${always('reboot')}`)
    expect(ignores.decide(facts({ live: 'running' }), rules)).toEqual({
      ...{ do: 'nothing', status: 'ignored', runs: false },
      ...{ rule: 'not-ours', code: 'OTHERS', message: 'it is theirs' },
    })
  })

  it('tries a step that names no retry once', () => {
    const source = shippedCrashes.source.replace(', retry: *refused', '')
    const once = parseWorkflowOf('instance', source, 'own.yaml', { ownerPolicy: defaultOwnerPolicy })
    const decision = once.decide(facts({ ...shown('stopped'), live: null, actions: [stop(null)] }), rules)
    if (decision.do !== 'restart') throw new Error('it is to be started')
    expect(decision.recipes['start']?.steps).toEqual([{ id: 'start', do: 'start', deadlineMs: 300_000 }])
  })

  it('has its steps with their deadlines and retries', () => {
    const decision = own(always('reboot')).decide(facts(), rules)
    expect(decision).toMatchObject({
      step: 'reboot',
      recipes: {
        reboot: {
          name: 'reboot',
          steps: [
            {
              ...{ id: 'reboot', do: 'reboot', deadlineMs: 300_000 },
              retry: { on: ['API_UNAVAILABLE', 'API_THROTTLED'], attempts: 10, firstMs: 1_000, capMs: 30_000 },
            },
          ],
          finally: [],
        },
      },
    })
  })
})

describe('before the hypervisor, the history and the volumes are read', () => {
  it('only rules that ask for none of them, nor follow one that does, decide', () => {
    const unread = facts({ live: null })
    expect(shippedCrashes.decideUnread(unread, rules)).toBeNull()
    expect(shippedCrashes.decideUnread(facts({ ...shown('shelved'), live: null }), rules)).toMatchObject({
      code: 'NO_GUEST',
    })
    for (const late of [
      ...['hypervisor.says == "running"', 'history.read', 'instance.encrypted'],
      // However it is written.
      ...['instance["encr" + "ypted"] == true', '[instance].exists(it, it["encr" + "ypted"] == true)'],
    ]) {
      const asks = own(`    - { id: late, when: '${late}', ignore: true, reason: LATE, because: late }
    - { id: old, when: report.age > 0, ignore: true, reason: OLD, because: old }
${always('reboot')}`)
      expect(asks.decideUnread(unread, rules)).toBeNull()
      expect(asks.decide(facts(), rules)).toMatchObject({ code: 'OLD' })
    }
  })

  it('a rule whose condition does not come to ask for one decides', () => {
    const asks =
      own(`    - { id: lazy, when: 'report.age > 0 || history.read', ignore: true, reason: LAZY, because: lazy }
${always('reboot')}`)
    expect(asks.decideUnread(facts({ live: null }), rules)).toMatchObject({ code: 'LAZY' })
  })

  it('a sentence that asks for one waits for it as well', () => {
    const asks =
      own(`    - { id: said, when: report.age > 0, ignore: true, reason: SAID, because: 'says \${hypervisor.says}' }
${always('reboot')}`)
    expect(asks.decideUnread(facts({ live: null }), rules)).toBeNull()
  })
})
