/** How a decision becomes a plan: with small workflows, each made for one rule of the planner. */
import { describe, expect, it } from 'vitest'
import type { Instance } from '../../src/domain/instance.ts'
import type { InstancePlan } from '../../src/domain/plan.ts'
import type { Survey } from '../../src/domain/survey.ts'
import type { CompiledWorkflow } from '../../src/engine/compiled.ts'
import { planHost } from '../../src/engine/planner.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { parseWorkflow } from '../../src/engine/workflow.ts'
import { instance, segment, survey } from './surveys.ts'

/** A workflow of these rules and sort keys; every instance that no rule takes is recovered. */
function workflow(parts: { rules?: string[]; last?: string; order?: string[]; notes?: string[]; steps?: string[] }) {
  const listed = (lines: string[], indent: string) =>
    lines.map((line) => `${indent}- ${line}`).join('\n') || `${indent}[]`
  // A recipe that no rule uses is refused.
  const used =
    '{ id: used, when: instance.name == "never", recover: go, expect: running, reason: USED, because: Never }'
  const last = parts.last ?? 'recover: go, expect: running'
  return parseWorkflow(
    `
apiVersion: lifeboat/v1
kind: RecoveryWorkflow
metadata: { name: example, revision: 3, summary: An example }
failure: host
host: { fence: { deadline: 1m }, force-down: { deadline: 1m }, survey: { deadline: 1m } }
instances:
  order:
${listed(parts.order ?? [], '    ')}
  rules:
${listed([used, ...(parts.rules ?? []), `{ id: last, ${last}, reason: LAST, because: It is left over }`], '    ')}
  notes:
${listed(parts.notes ?? [], '    ')}
recipes:
  go:
    steps:
${listed(parts.steps ?? ['{ id: go, do: evacuate, landing: original, deadline: 1m }'], '      ')}
`,
    'example.yaml',
    { ownerPolicy: defaultOwnerPolicy },
  )
}

function planOf(parts: Parameters<typeof workflow>[0], changes: Partial<Instance> = {}, rest: Partial<Survey> = {}) {
  return workflow(parts).plan(survey([instance(changes)], rest), segment()).instances[0]!
}

it('a plan names its host and the workflow that made it', () => {
  const made = workflow({})
  expect(made.plan(survey([instance()]), segment())).toMatchObject({
    host: 'dead',
    workflow: { name: 'example', revision: 3, digest: made.digest },
  })
})

it('a decision not to recover holds nothing that could be run', () => {
  const nothing = { recipe: null, recipes: {}, expected: null, asProject: null, exclusive: null, debts: [] }
  expect(planOf({ last: 'leave: true' })).toMatchObject({ decision: 'leave', rule: 'last', reason: 'LAST', ...nothing })
  expect(planOf({ last: 'hold: true' })).toMatchObject({ decision: 'hold', rule: 'last', reason: 'LAST', ...nothing })
})

it('an instance that no rule takes is held, and says so', () => {
  const document = { metadata: { name: 'w', revision: 1 } } as unknown as CompiledWorkflow['document']
  const empty: CompiledWorkflow = { document, order: [], rules: [], notes: [], recipes: new Map() }
  const { instances } = planHost({
    ...{ workflow: empty, digest: 'd', settings: defaultOwnerPolicy },
    ...{ survey: survey([instance()]), segment: segment() },
  })
  expect(instances).toMatchObject([
    {
      decision: 'hold',
      reason: 'NO_RULE',
      message: expect.stringContaining('no rule'),
      rule: '',
      notes: [],
      debts: [],
    },
  ])
})

it('a condition that cannot be evaluated holds the instance, with the rule and the first line of why', () => {
  const plan = planOf({
    rules: [`{ id: gold, when: 'instance.metadata["tier"] == "gold"', leave: true, reason: G, because: It is gold }`],
  })
  expect(plan).toMatchObject({ decision: 'hold', reason: 'CONDITION_FAILED', rule: 'gold', notes: [] })
  expect(plan.message).toMatch(/^rule gold could not be evaluated: .*tier/)
  expect(plan.message).not.toContain('\n')
})

describe('what is expected of a recovered instance', () => {
  const expected = (expect: string, changes: Partial<Instance> = {}) =>
    planOf({ last: `recover: go, expect: ${expect}` }, changes).expected
  const stopped = { vmState: 'stopped', powerState: 4 }

  it('is what the rule says, whatever it was', () => {
    expect(expected('running', stopped)).toBe('running')
    expect(expected('stopped')).toBe('stopped')
  })

  it('is its original, unless its owner asks for stopped or nobody knows', () => {
    expect(expected('original')).toBe('running')
    expect(expected('original', stopped)).toBe('stopped')
    expect(expected('original', { metadata: { lifeboat: 'stopped' } })).toBe('stopped')
    expect(expected('original', { metadata: { lifeboat: 'recover' } })).toBe('running')
    expect(expected('original', { vmState: 'hibernated' })).toBe('stopped')
  })
})

describe('the priority of a plan', () => {
  const priority = (ofRule: string, ofOwner: string) =>
    planOf({ last: `recover: go, expect: running, priority: ${ofRule}` }, { metadata: { lifeboat_priority: ofOwner } })
      .priority

  it('is the wish and what the rule adds, within a thousand', () => {
    expect(priority('5', '7')).toBe(12)
    expect(priority('-5', '7')).toBe(2)
    expect(priority('1000', '7')).toBe(1_000)
    expect(priority('-1000', '-7')).toBe(-1_000)
    expect(planOf({}, { metadata: { lifeboat_priority: '7' } }).priority).toBe(7)
  })
})

describe('what people are told', () => {
  const rule =
    'recover: go, expect: running, notes: [{ say: Always }, { when: instance.locked, say: Locked }], ' +
    'debts: [{ code: ONE, say: "Of ${instance.id}" }, { when: instance.locked, code: TWO, say: Two }]'
  const notes = ['{ say: Of every instance }', '{ when: instance.locked, say: Of every locked one }']

  it('the wish, then what the rule says, then what the workflow says of every recovered instance', () => {
    const owned = { metadata: { lifeboat: 'what?' } }
    expect(planOf({ last: rule, notes }, owned)).toMatchObject({
      notes: [expect.stringContaining('what?'), 'Always', 'Of every instance'],
      debts: [{ code: 'ONE', message: 'Of i-1' }],
    })
    expect(planOf({ last: rule, notes }, { locked: true })).toMatchObject({
      notes: ['Always', 'Locked', 'Of every instance', 'Of every locked one'],
      debts: [{ code: 'ONE' }, { code: 'TWO', message: 'Two' }],
    })
    expect(planOf({ last: 'leave: true, notes: [{ say: Why }]', notes }, owned).notes).toEqual([
      expect.stringContaining('what?'),
      'Why',
    ])
  })

  it('what the survey could not read and what was therefore not heeded, in one order', () => {
    const missing = { serverGroups: 'no answer', actions: 'no answer', aggregates: 'gone' }
    const expected = [
      expect.stringMatching(/^aggregates .*: gone;/),
      expect.stringMatching(/^serverGroups .*: no answer;/),
    ]
    expect(planOf({}, {}, { missing }).notes).toEqual(expected)
    expect(planOf({ last: 'leave: true' }, {}, { missing }).notes).toEqual([])
  })
})

it('only the aggregates of the dead host speak', () => {
  const aggregate = (hosts: string[]) => ({
    name: 'a',
    availabilityZone: null,
    hosts,
    metadata: { lifeboat_priority: '4' },
  })
  expect(planOf({}, {}, { aggregates: [aggregate(['alive', 'dead'])] }).priority).toBe(4)
  expect(planOf({}, {}, { aggregates: [aggregate(['alive'])] }).priority).toBe(0)
})

describe('a token of the owning project', () => {
  const volumes = { v: { id: 'v', encrypted: true }, w: { id: 'w', encrypted: false } }
  const asProject = (volume: string, mayActFor: Record<string, boolean>) =>
    planOf({}, { volumeIds: [volume] }, { volumes, mayActFor }).asProject

  it('is used for an encrypted volume when we may, and for nothing else', () => {
    expect(asProject('v', { 'p-1': true })).toBe('p-1')
    expect(asProject('v', { 'p-1': false })).toBeNull()
    expect(asProject('w', { 'p-1': true })).toBeNull()
  })
})

describe('members of one server group', () => {
  const exclusive = (policy: string, members = ['i-1']) =>
    planOf({}, {}, { serverGroups: [{ id: 'g', name: 'g', policy, members }] }).exclusive

  it('go one after another where Nova checks the policy late', () => {
    expect(exclusive('anti-affinity')).toBe('g')
    expect(exclusive('affinity')).toBe('g')
  })

  it('go side by side where it only weighs', () => {
    expect(exclusive('soft-anti-affinity')).toBeNull()
    expect(exclusive('soft-affinity')).toBeNull()
    expect(exclusive('anti-affinity', ['i-2'])).toBeNull()
    expect(planOf({}).exclusive).toBeNull()
  })
})

describe('the order of a plan', () => {
  const named = (order: string[], ...instances: Partial<Instance>[]): string[] =>
    workflow({ order })
      .plan(survey(instances.map((changes) => instance(changes))), segment())
      .instances.map(({ instanceId }: InstancePlan) => instanceId)
  const tier = (id: string, value?: string): Partial<Instance> => ({
    id,
    name: id,
    metadata: value === undefined ? {} : { tier: value },
  })
  const some = [tier('b', '2'), tier('a'), tier('d', '1'), tier('c', '2')]

  it('is by each key in turn, and by name when they tell nothing', () => {
    expect(
      named(
        ['by: instance.power_state', 'by: instance.locked', 'by: instance.id'].map((key) => `{ ${key} }`),
        ...some,
      ),
    ).toEqual(['a', 'b', 'c', 'd'])
    const locked = [tier('a'), { ...tier('b'), locked: true }, { ...tier('c'), powerState: 0 }]
    expect(named(['{ by: instance.power_state }', '{ by: instance.locked, descending: true }'], ...locked)).toEqual([
      'c',
      'b',
      'a',
    ])
    expect(named(['{ by: instance.locked, descending: true }', '{ by: instance.power_state }'], ...locked)).toEqual([
      'b',
      'c',
      'a',
    ])
  })

  it('puts what has no such key last, up or down', () => {
    const up = `{ by: 'instance.metadata["tier"]' }`
    const down = `{ by: 'instance.metadata["tier"]', descending: true }`
    for (const listed of [some, some.toReversed()]) {
      expect(named([up], ...listed)).toEqual(['d', 'b', 'c', 'a'])
      expect(named([down], ...listed)).toEqual(['b', 'c', 'd', 'a'])
    }
    const none = [tier('b'), tier('a')]
    expect(named([down], ...none)).toEqual(['a', 'b'])
  })

  it('puts priority before every key', () => {
    const first = { ...tier('z', '9'), metadata: { tier: '9', lifeboat_priority: '1' } }
    expect(named([`{ by: 'instance.metadata["tier"]' }`], ...some, first)[0]).toBe('z')
  })

  it('is by id where names are the same', () => {
    const same = [
      { id: '2', name: 'n' },
      { id: '1', name: 'n' },
      { id: '3', name: 'm' },
    ]
    expect(named([], ...same)).toEqual(['3', '1', '2'])
    expect(named([], ...same.toReversed())).toEqual(['3', '1', '2'])
  })
})

describe('the recipes of a plan', () => {
  it('hold the steps whose condition is met, with what the document says of them', () => {
    const steps = [
      '{ id: lock, do: lock, when: instance.locked, deadline: 2s }',
      '{ id: go, do: evacuate, landing: original, deadline: 1m, retry: { on: [INSTANCE_BUSY], attempts: 3, first: 1s, cap: 2s }, onError: { default: stuck } }',
      '{ id: start, do: start, when: expected == "running", deadline: 1m }',
      '{ id: stop, do: stop, when: expected == "stopped", deadline: 1m }',
    ]
    expect(planOf({ steps })).toMatchObject({ recipe: 'go', decision: 'recover' })
    expect(planOf({ steps }).recipes).toStrictEqual({
      go: {
        name: 'go',
        steps: [
          {
            id: 'go',
            do: 'evacuate',
            landing: 'as-before',
            deadlineMs: 60_000,
            retry: { on: ['INSTANCE_BUSY'], attempts: 3, firstMs: 1_000, capMs: 2_000 },
            onError: { default: 'stuck' },
          },
          { id: 'start', do: 'start', deadlineMs: 60_000 },
        ],
        finally: [],
      },
    })
    const stopped = planOf({ steps, last: 'recover: go, expect: stopped' }, { locked: true }).recipes['go']!.steps
    expect(stopped.map(({ id }) => id)).toEqual(['lock', 'go', 'stop'])
    expect(stopped[1]).toMatchObject({ landing: 'stopped' })
  })

  it('land as the document says, and as before where Nova knows nothing else', () => {
    const landing = (said: string, expected: string, landsStopped = true) =>
      planOf(
        {
          steps: [`{ id: go, do: evacuate, landing: ${said}, deadline: 1m }`],
          last: `recover: go, expect: ${expected}`,
        },
        {},
        { capabilities: { computeMaxMicroversion: '', landsStopped } },
      ).recipes['go']!.steps[0]!.landing
    expect(landing('stopped', 'running')).toBe('stopped')
    expect(landing('as-before', 'stopped')).toBe('as-before')
    expect(landing('original', 'stopped')).toBe('stopped')
    expect(landing('original', 'running')).toBe('as-before')
    for (const said of ['stopped', 'as-before', 'original']) expect(landing(said, 'stopped', false)).toBe('as-before')
  })
})
