/** Expected plans of crashed guests and rulings on a nova-compute: each key of a case is the fact of that name, and a plain one without it. */
import { describe, expect, it } from 'vitest'
import { checkExpectations } from '../../src/engine/expectations.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { parseWorkflowOf } from '../../src/engine/workflow.ts'
import { shippedCrashes, shippedProcesses } from './shipped.ts'

const options = { ownerPolicy: defaultOwnerPolicy }

/** One rule that says all it knows. */
const tellingProcesses = (): typeof shippedProcesses =>
  parseWorkflowOf(
    'process',
    shippedProcesses.source.replace(
      /^ {2}rules:\n[^]*/m,
      `  rules:
    - id: in-lab
      when: size(host.aggregates) > 0
      disable: true
      enable: automatic
      because: In \${host.aggregates[0]}
    - id: all
      leave: true
      because: '\${host.name} \${host.zone} \${service.missed_beats} "\${report.by}" \${failures.recent} \${segment.name}'
`,
    ),
    'own.yaml',
    options,
  )

const tellingCrashes = (): typeof shippedCrashes =>
  parseWorkflowOf(
    'instance',
    shippedCrashes.source.replace(
      /^ {2}rules:\n[^]*/m,
      `  rules:
    - id: busy
      when: instance.task_state != ""
      wait: true
      because: It is \${instance.task_state}
    - id: all
      ignore: true
      reason: TOLD
      because: '\${instance.vm_state} \${hypervisor.says} \${report.age} \${history.read} "\${history.last_order}" \${history.stopped_before} \${history.cancelled} [\${history.stopped_at}] \${wish.value} (\${wish.from}) \${policy.error_before} \${restart.unasked} \${segment.name} \${instance.encrypted} \${instance.encrypted_key_available} \${history.started_since}'
recipes: {}
`,
    ),
    'own.yaml',
    options,
  )

type Case = Record<string, unknown>

function differences(workflow: typeof shippedProcesses | typeof shippedCrashes, one: Case): string[] {
  const source = JSON.stringify({
    ...{ apiVersion: 'lifeboat/v1', kind: 'WorkflowTest', workflow: workflow.name },
    cases: [{ name: 'one', ...one }],
  })
  return checkExpectations(source, 'cases.yaml', workflow).flatMap((result) => result.differences)
}

describe('a case about a nova-compute', () => {
  const says = (said: string): Case => ({ expect: { decision: 'leave', rule: 'all', says: said } })
  it.each<[string, Case]>([
    ['that says nothing is about a plain host', says('host nova 12 "" 1 segment')],
    ['may say the host', { host: { name: 'cmp01', zone: 'az1' }, ...says('cmp01 az1 12') }],
    ['may say the segment', { segment: 'rack-a', ...says('1 rack-a') }],
    ['may say the heartbeats', { missedBeats: 40, ...says('nova 40 ""') }],
    ['may say who reported it', { reportedBy: 'ann', ...says('12 "ann" 1') }],
    ['may say how often it failed', { recentFailures: 3, ...says('"" 3 segment') }],
    [
      'may say its aggregates',
      { host: { aggregates: ['lab'] }, expect: { decision: 'disable', enable: 'automatic', says: 'In lab' } },
    ],
  ])('%s', (_what, one) => {
    expect(differences(tellingProcesses(), one)).toEqual([])
  })

  it.each<[string, Case]>([
    ['another decision', { expect: { decision: 'restart' } }],
    ['a word for enable that there is not', { expect: { decision: 'disable', enable: 'never' } }],
    ['an unknown key', { expect: { decision: 'leave' }, guest: 'web' }],
    ['an unknown key of the host', { host: { rack: 'a' }, expect: { decision: 'leave' } }],
  ])('with %s is refused', (_what, one) => {
    expect(() => differences(tellingProcesses(), one)).toThrow(/cases\.yaml/)
  })
})

describe('a case about a crashed guest', () => {
  const says = (said: string): Case => ({ expect: { decision: 'ignore', reason: 'TOLD', rule: 'all', says: said } })
  it.each<[string, Case]>([
    [
      'that says nothing is about a plain instance, asked for, reported three seconds ago and off',
      says('active off 3 true "" 0 false [] recover (instance metadata HA_Enabled) leave leave segment false false'),
    ],
    ['may say what its hypervisor says', { hypervisor: 'silent', ...says('active silent 3') }],
    ['of a stopped instance asks no hypervisor', { instance: { vmState: 'stopped' }, ...says('stopped  3') }],
    ['may say how long ago it was reported', { reportedSecondsAgo: 9, ...says('off 9 true') }],
    ['may say that it is off', { hypervisor: 'off', ...says('active off 3') }],
    [
      'may say that its user acted',
      { actions: [{ action: 'start', by: 'user', secondsAfter: 5 }], ...says('"start" 0') },
    ],
    [
      'may say that its user had it run again since',
      {
        instance: { vmState: 'stopped' },
        actions: [
          { action: 'stop', by: 'nova', secondsAfter: 200 },
          { action: 'start', by: 'user', secondsAfter: 181 },
        ],
        ...says('segment false false true'),
      },
    ],
    [
      "may say that Nova's own stop came after the crash",
      { actions: [{ action: 'stop', by: 'nova', secondsAfter: 60 }], ...says('"" 0 false [2030-01-01T12:01:00.000Z]') },
    ],
    [
      'may say the rules that hold anyway',
      { policy: { errorBefore: 'leave', unasked: 'leave' }, ...says(') leave leave') },
    ],
    ['may leave the history unread', { actionsUnread: true, ...says('3 false ""') }],
    ['may say who acted', { actions: [{ action: 'stop', secondsAfter: -60 }], ...says('3 true "stop" 0') }],
    [
      "may say when Nova's own stop was",
      {
        actions: [{ action: 'stop', by: 'nova', secondsAfter: -60 }],
        ...says('true "" 60 false [2030-01-01T11:59:00.000Z]'),
      },
    ],
    ['may say that a person cancelled it', { cancelledSecondsBefore: 10, ...says('0 true [] recover') }],
    ['may say the rules', { policy: { errorBefore: 'evacuate', unasked: 'recover' }, ...says(') evacuate recover') }],
    ['may say one rule alone', { policy: { unasked: 'recover' }, ...says(') leave recover') }],
    [
      'may say what its owner wrote',
      { instance: { metadata: { lifeboat: 'leave' } }, ...says('leave (instance metadata lifeboat) leave leave') },
    ],
    [
      'may say what its aggregate says',
      {
        instance: { metadata: {} },
        aggregate: { lifeboat: 'stopped' },
        ...says('stopped (aggregate metadata lifeboat) leave'),
      },
    ],
    ['may say its volumes', { volumes: ['plain'], ...says('segment false false') }],
    [
      'takes a volume that nobody could read for encrypted',
      { volumes: ['plain', 'unknown'], ...says('segment true false') },
    ],
    [
      'may say whether its key may be fetched',
      { volumes: ['encrypted'], mayActForProject: true, ...says('segment true true') },
    ],
    [
      'that is waited for has no reason',
      { instance: { taskState: 'rebooting' }, expect: { decision: 'wait', says: 'rebooting' } },
    ],
  ])('%s', (_what, one) => {
    expect(differences(tellingCrashes(), one)).toEqual([])
  })

  it('has a plan in the name of its project only if something is done or told', () => {
    const encrypted = { volumes: ['encrypted'], mayActForProject: true }
    const told = { instance: { vmState: 'resized' }, expect: { decision: 'leave', recipe: null, asProject: true } }
    expect(differences(shippedCrashes, { ...encrypted, ...told })).toEqual([])
    const ignored = { expect: { decision: 'ignore', recipe: null, asProject: false } }
    expect(differences(tellingCrashes(), { ...encrypted, ...ignored })).toEqual([])
  })

  it('that expects a reason of what is waited for differs', () => {
    const one = { instance: { taskState: 'rebooting' }, expect: { decision: 'wait', reason: 'TOLD', recipe: null } }
    expect(differences(tellingCrashes(), one)).toEqual(['reason: expected "TOLD", the plan has undefined'])
  })

  it.each<[string, Case]>([
    ['another decision', { expect: { decision: 'recover' } }],
    ['a word of the hypervisor that there is not', { hypervisor: 'dead', expect: { decision: 'wait' } }],
    ['a sight of Nova that there is not', { shown: 'twice', expect: { decision: 'wait' } }],
    [
      'an action by someone else',
      { actions: [{ action: 'stop', by: 'ann', secondsAfter: 0 }], expect: { decision: 'wait' } },
    ],
    [
      'an unknown key of an action',
      { actions: [{ action: 'stop', secondsAfter: 0, why: '' }], expect: { decision: 'wait' } },
    ],
    ['a rule that there is not', { policy: { stopped: 'leave' }, expect: { decision: 'wait' } }],
    ['an unknown key', { host: 'cmp01', expect: { decision: 'wait' } }],
    ['an unknown expectation', { expect: { decision: 'wait', enable: 'confirm' } }],
  ])('with %s is refused', (_what, one) => {
    expect(() => differences(tellingCrashes(), one)).toThrow(/cases\.yaml/)
  })
})
