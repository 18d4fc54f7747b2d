/** Expected plans: what a case of a test file says becomes a survey, and what the plan has is compared with it. */
import { describe, expect, it } from 'vitest'
import { problemsOf, type LifeboatError } from '../../src/domain/errors.ts'
import type { InstancePlan, Workflow } from '../../src/domain/plan.ts'
import { builtInSettings, type Segment } from '../../src/domain/segment.ts'
import type { Survey } from '../../src/domain/survey.ts'
import { checkExpectations } from '../../src/engine/expectations.ts'
import { initialStateOf } from '../../src/engine/initial-state.ts'
import { instance, survey } from './surveys.ts'

const head = 'apiVersion: lifeboat/v1\nkind: WorkflowTest\nworkflow: w\ncases:\n'
const plain = instance()

const planned: InstancePlan = {
  instanceId: 'i',
  name: 'n',
  projectId: 'p',
  rule: 'running',
  decision: 'recover',
  reason: 'RUNNING',
  message: 'It was running',
  original: initialStateOf(plain, survey([plain])),
  recipe: 'go',
  recipes: {
    go: {
      name: 'go',
      steps: [
        { id: 'a', do: 'evacuate', landing: 'stopped', deadlineMs: 1 },
        { id: 'b', do: 'start', deadlineMs: 1 },
      ],
      finally: [{ id: 'c', do: 'unlock', deadlineMs: 1 }],
    },
  },
  expected: 'running',
  asProject: 'p',
  priority: 7,
  exclusive: 'g',
  debts: [{ code: 'ONE', message: 'm' }],
  notes: ['a first note', 'a second note'],
}

/** A workflow that plans this, and keeps what it was asked. */
function workflow(plan: Partial<InstancePlan> | null = {}) {
  const asked: { survey: Survey; segment: Segment }[] = []
  const made: Workflow['plan'] = (found, segment) => {
    asked.push({ survey: found, segment })
    const instances = plan === null ? [] : [{ ...planned, ...plan }]
    return { host: found.host, workflow: { name: 'w', revision: 1, digest: 'd' }, instances }
  }
  return { asked, workflow: { failure: 'host', plan: made } as Workflow }
}

function surveyed(one: string): { survey: Survey; segment: Segment } {
  const { asked, workflow: stub } = workflow()
  checkExpectations(`${head}  - { name: n, expect: { decision: recover, reason: RUNNING }${one} }\n`, 'x.yaml', stub)
  return asked[0]!
}

function differences(expectation: string, plan: Partial<InstancePlan> | null = {}): string[] {
  const source = `${head}  - { name: n, expect: { decision: recover, reason: RUNNING${expectation} } }\n`
  return checkExpectations(source, 'x.yaml', workflow(plan).workflow)[0]!.differences
}

const service = (host: string, state: string, updatedAt: string) => ({
  id: host,
  binary: 'nova-compute',
  host,
  zone: 'nova',
  status: 'enabled',
  state,
  updatedAt,
  forcedDown: false,
  disabledReason: null,
})

const id = '11111111-1111-4111-8111-111111111111'

describe('a case that says nothing', () => {
  it('is a plain running instance on the dead host, with a living and a dead host beside it', () => {
    expect(surveyed('')).toEqual({
      survey: {
        host: 'dead',
        takenAt: '2030-01-01T12:00:00.000Z',
        capabilities: { computeMaxMicroversion: '2.100', landsStopped: true },
        instances: [
          {
            id,
            name: 'instance',
            projectId: 'project',
            userId: 'user',
            host: 'dead',
            status: 'ACTIVE',
            vmState: 'active',
            taskState: null,
            powerState: 1,
            locked: false,
            lockedReason: null,
            launchedAt: '2029-01-01T00:00:00Z',
            createdAt: '2029-01-01T00:00:00Z',
            updatedAt: '2029-01-01T00:00:00Z',
            metadata: {},
            tags: [],
            flavor: { name: 'flavor', vcpus: 1, ramMb: 512, diskGb: 1, ephemeralGb: 0, swapMb: 0, extraSpecs: {} },
            imageId: 'image',
            volumeIds: [],
            availabilityZone: 'nova',
            fault: null,
          },
        ],
        migrations: [],
        services: [
          service('dead', 'down', '2030-01-01T11:58:00.000Z'),
          service('alive', 'up', '2030-01-01T12:00:00.000Z'),
          service('gone', 'down', '2030-01-01T11:58:00.000Z'),
        ],
        serverGroups: [],
        aggregates: [],
        volumes: {},
        actions: { [id]: [] },
        mayActFor: {},
        missing: {},
      },
      segment: {
        ...builtInSettings,
        name: 'segment',
        storage: 'shared',
        brake: { maxHosts: 1, maxShare: 1 },
        maxParallelPerHost: 1,
      },
    })
  })
})

describe('what a case says', () => {
  it('of the instance', () => {
    const said =
      'vmState: stopped, taskState: t, locked: true, launched: false, volumeBacked: true, metadata: { a: b }, ' +
      'tags: [t], extraSpecs: { c: d }, ephemeralGb: 3, fault: f'
    const found = surveyed(`, instance: { ${said} }`).survey.instances[0]
    expect(found).toMatchObject({
      vmState: 'stopped',
      status: 'STOPPED',
      taskState: 't',
      powerState: 4,
      locked: true,
      launchedAt: null,
      imageId: null,
      metadata: { a: 'b' },
      tags: ['t'],
      flavor: { extraSpecs: { c: 'd' }, ephemeralGb: 3 },
      fault: 'f',
    })
    const powered = surveyed(', instance: { vmState: paused, powerState: 3, launched: true, volumeBacked: false }')
    expect(powered.survey.instances[0]).toMatchObject({
      powerState: 3,
      imageId: 'image',
      launchedAt: expect.any(String),
    })
    expect(surveyed(', instance: { vmState: paused }').survey.instances[0]!.powerState).toBe(1)
  })

  it('of its volumes: what could not be read is not there', () => {
    const { survey: found } = surveyed(', volumes: [plain, unknown, encrypted], mayActForProject: false')
    expect(found.instances[0]!.volumeIds).toEqual(['volume-0', 'volume-1', 'volume-2'])
    expect(found.volumes).toEqual({
      'volume-0': { id: 'volume-0', encrypted: false },
      'volume-2': { id: 'volume-2', encrypted: true },
    })
    expect(found.mayActFor).toEqual({ project: false })
  })

  it('of its history', () => {
    const { survey: found } = surveyed(
      ', actions: [{ action: stop, by: nova, minutesAgo: 3 }, { action: start, by: user, minutesAgo: 9 }]',
    )
    const action = { message: null, events: [] }
    expect(found.actions).toEqual({
      [id]: [
        {
          ...action,
          action: 'stop',
          requestId: 'req-0',
          userId: null,
          projectId: null,
          startedAt: '2030-01-01T11:57:00.000Z',
        },
        {
          ...action,
          action: 'start',
          requestId: 'req-1',
          userId: 'user',
          projectId: 'project',
          startedAt: '2030-01-01T11:51:00.000Z',
        },
      ],
    })
    const unread = surveyed(', actionsUnread: true').survey
    expect([unread.actions, unread.missing]).toEqual([{}, { actions: 'not read' }])
    expect(surveyed(', actionsUnread: false').survey.missing).toEqual({})
  })

  it('of its migrations, newest first', () => {
    const { survey: found } = surveyed(
      ', migrations: [{ type: resize, status: finished, from: alive, to: dead }, { type: evacuation, status: x, from: gone }]',
    )
    const base = { instanceId: id, createdAt: '2030-01-01T11:30:00.000Z', updatedAt: null }
    expect(found.migrations).toEqual([
      {
        ...base,
        id: 2,
        uuid: 'migration-2',
        type: 'resize',
        status: 'finished',
        sourceHost: 'alive',
        destHost: 'dead',
      },
      { ...base, id: 1, uuid: 'migration-1', type: 'evacuation', status: 'x', sourceHost: 'gone', destHost: null },
    ])
  })

  it('of its surroundings', () => {
    const { survey: found, segment } = surveyed(
      ', serverGroup: affinity, aggregate: { k: v }, landsStopped: false, storage: local, ' +
        'policy: { stopped: leave, errorBefore: evacuate, memoryLost: start, unasked: leave }',
    )
    expect(found.serverGroups).toEqual([{ id: 'group', name: 'group', policy: 'affinity', members: [id] }])
    expect(found.aggregates).toEqual([
      { name: 'aggregate', availabilityZone: null, hosts: ['dead'], metadata: { k: 'v' } },
    ])
    expect(found.capabilities).toEqual({ computeMaxMicroversion: '2.94', landsStopped: false })
    expect(segment).toMatchObject({
      storage: 'local',
      policy: { stopped: 'leave', errorBefore: 'evacuate', memoryLost: 'start', unasked: 'leave' },
    })
    expect(surveyed(', policy: { unasked: leave }').segment.policy).toEqual({
      stopped: 'evacuate',
      errorBefore: 'leave',
      memoryLost: 'stopped',
      unasked: 'leave',
    })
  })
})

describe('the plan that is expected', () => {
  it.each([
    'rule: running',
    'recipe: go',
    'steps: [evacuate stopped, start, finally unlock]',
    'ends: running',
    'asProject: true',
    'exclusive: true',
    'priority: 7',
    'debts: [ONE]',
    'says: was running',
    'notes: [second, first]',
  ])('has what is asked: %s', (expectation) => {
    expect(differences(`, ${expectation}`)).toEqual([])
  })

  it.each([
    ['rule: other', 'rule: expected "other", the plan has "running"'],
    ['recipe: other', 'recipe: expected "other", the plan has "go"'],
    ['steps: [start]', 'steps: expected ["start"], the plan has ["evacuate stopped","start","finally unlock"]'],
    ['ends: stopped', 'ends: expected "stopped", the plan has "running"'],
    ['asProject: false', 'asProject: expected false, the plan has true'],
    ['exclusive: false', 'exclusive: expected false, the plan has true'],
    ['priority: 8', 'priority: expected 8, the plan has 7'],
    ['debts: []', 'debts: expected [], the plan has ["ONE"]'],
    ['says: nonsense', 'says: expected "nonsense" in "It was running"'],
    ['notes: [third]', 'notes: expected "third" in ["a first note","a second note"]'],
  ])('differs where it has something else: %s', (expectation, difference) => {
    expect(differences(`, ${expectation}`)).toEqual([difference])
  })

  it('differs in its decision and reason', () => {
    expect(differences('', { decision: 'leave', reason: 'OTHER' })).toEqual([
      'decision: expected "recover", the plan has "leave"',
      'reason: expected "RUNNING", the plan has "OTHER"',
    ])
  })

  it('has no steps, project or group where it recovers nothing', () => {
    const nothing = { recipe: null, recipes: {}, asProject: null, exclusive: null }
    expect(differences(', steps: [], asProject: false, exclusive: false', nothing)).toEqual([])
  })

  it('must be there', () => {
    expect(differences('', null)).toEqual(['the plan is empty'])
  })
})

describe('a test file', () => {
  it('names its cases and their lines', () => {
    const one = '  - name: NAME\n    expect: { decision: recover, reason: RUNNING }\n'
    const source = head + one.replace('NAME', 'a') + one.replace('NAME', 'b')
    const results = checkExpectations(source, 'x.yaml', workflow().workflow)
    expect(results.map(({ name, line }) => [name, line])).toEqual([
      ['a', 5],
      ['b', 7],
    ])
  })

  const problems = (source: string): LifeboatError => {
    try {
      checkExpectations(source, 'x.yaml', workflow().workflow)
    } catch (error) {
      return error as LifeboatError
    }
    throw new Error('it was accepted')
  }

  it('that is no YAML is refused as such, and not for its shape', () => {
    const error = problems('a: [1\nb: 2')
    expect(error.code).toBe('WORKFLOW_INVALID')
    expect(problemsOf(error)[0]).toMatch(/^x\.yaml:\d+:\d+: /)
    expect(problemsOf(error).join()).not.toContain('expected')
  })

  it('lists every mistake with its place', () => {
    const listed = problemsOf(problems(head.replace('v1', 'v2').replace('WorkflowTest', 'Test')))
    expect(listed.map((line) => line.slice(0, 11))).toEqual(['x.yaml:1:13', 'x.yaml:2:7:', 'x.yaml:4:7:'])
  })

  it.each([
    'storage: shared',
    'storage: local',
    'policy: { stopped: evacuate }',
    'policy: { stopped: leave }',
    'policy: { errorBefore: evacuate }',
    'policy: { errorBefore: leave }',
    'policy: { memoryLost: stopped }',
    'policy: { memoryLost: start }',
    'policy: { unasked: recover }',
    'policy: { unasked: leave }',
  ])('may say %s', (one) => {
    expect(() => surveyed(`, ${one}`)).not.toThrow()
  })

  it.each([
    ['another version', head.replace('v1', 'v2'), '1:13'],
    ['another kind', head.replace('WorkflowTest', 'Test'), '2:7'],
    ['an unknown key', `${head}  - { name: n, expects: 1, expect: { decision: leave, reason: X } }\n`, '5:5'],
    [
      'an unknown fact of an instance',
      `${head}  - { name: n, instance: { x: 1 }, expect: { decision: leave, reason: X } }\n`,
      '5:26',
    ],
    ['an unknown policy', `${head}  - { name: n, policy: { x: 1 }, expect: { decision: leave, reason: X } }\n`, '5:24'],
    ['no expectation', `${head}  - { name: n }\n`, '5:5'],
    ['an unknown expectation', `${head}  - { name: n, expect: { decision: leave, reason: X, x: 1 } }\n`, '5:24'],
    ['a decision that there is not', `${head}  - { name: n, expect: { decision: maybe, reason: X } }\n`, '5:36'],
  ])('with %s is refused at its place', (_what, source, place) => {
    expect(problemsOf(problems(source)).join()).toContain(`x.yaml:${place}: `)
  })
})
