/**
 * Expected plans: a workflow's tests, kept beside it as YAML. Each case describes one instance
 * of a dead host by how it differs from a plain running one, and what must be decided about it. Pure.
 */
import { z } from 'zod'
import type { InstancePlan, RecipeStep } from '../domain/plan.ts'
import { builtInSettings, type Segment } from '../domain/segment.ts'
import type { Survey } from '../domain/survey.ts'
import { crashCase, crashDifferences } from './crash-expectations.ts'
import { actionOf, Differences, instanceId, instanceKeys, instanceOf } from './expectation-parts.ts'
import { defaultOwnerPolicy, type OwnerPolicySettings } from './owner-policy.ts'
import { processCase, processDifferences } from './process-expectations.ts'
import { invalidWorkflow, type AnyWorkflow } from './workflow.ts'
import { problemText, readYaml } from '../formats/yaml-source.ts'

const caseSchema = z.strictObject({
  name: z.string(),
  ...instanceKeys,
  /** Newest first. `by: nova` is the power sync; `minutesAgo` counts back from the survey. */
  actions: z
    .array(z.strictObject({ action: z.string(), by: z.enum(['user', 'nova']).optional(), minutesAgo: z.int() }))
    .optional(),
  actionsUnread: z.boolean().optional(),
  /** Hosts: `dead` is the one that died, `alive` is up, `gone` is down as well. */
  migrations: z
    .array(
      z.strictObject({
        type: z.enum(['evacuation', 'resize', 'migration', 'live-migration']),
        status: z.string(),
        from: z.enum(['dead', 'alive', 'gone']),
        to: z.enum(['dead', 'alive', 'gone']).optional(),
      }),
    )
    .optional(),
  serverGroup: z.string().optional(),
  landsStopped: z.boolean().optional(),
  storage: z.enum(['shared', 'local']).optional(),
  policy: z
    .strictObject({
      stopped: z.enum(['evacuate', 'leave']),
      errorBefore: z.enum(['leave', 'evacuate']),
      memoryLost: z.enum(['stopped', 'start']),
      unasked: z.enum(['recover', 'leave']),
    })
    .partial()
    .optional(),
  expect: z.strictObject({
    decision: z.enum(['recover', 'leave', 'hold']),
    reason: z.string(),
    rule: z.string().optional(),
    recipe: z.string().optional(),
    /** What is tried first, e.g. "evacuate as-before"; final steps come last, as "finally unlock". */
    steps: z.array(z.string()).optional(),
    ends: z.enum(['running', 'stopped']).optional(),
    asProject: z.boolean().optional(),
    exclusive: z.boolean().optional(),
    priority: z.int().optional(),
    debts: z.array(z.string()).optional(),
    says: z.string().optional(),
    notes: z.array(z.string()).optional(),
  }),
})

type Case = z.infer<typeof caseSchema>

export interface ExpectationResult {
  name: string
  line: number
  /** Empty when the plan is as expected. */
  differences: string[]
}

/** Runs the cases of a test file against the workflow. Throws WORKFLOW_INVALID when the file itself is wrong. */
export function checkExpectations(
  source: string,
  fileName: string,
  workflow: AnyWorkflow,
  ownerPolicy: OwnerPolicySettings = defaultOwnerPolicy,
): ExpectationResult[] {
  switch (workflow.failure) {
    case 'instance':
      return checkCases(source, fileName, crashCase, (one) => crashDifferences(one, workflow, ownerPolicy))
    case 'process':
      return checkCases(source, fileName, processCase, (one) => processDifferences(one, workflow))
    case 'host':
      return checkCases(source, fileName, caseSchema, (one) => {
        const [plan] = workflow.plan(surveyOf(one), segmentOf(one)).instances
        return plan === undefined ? ['the plan is empty'] : compare(one.expect, plan)
      })
  }
}

function checkCases<T extends z.ZodType<{ name: string }>>(
  source: string,
  fileName: string,
  one: T,
  differencesOf: (one: z.output<T>) => string[],
): ExpectationResult[] {
  const fileSchema = z.strictObject({
    apiVersion: z.literal('lifeboat/v1'),
    kind: z.literal('WorkflowTest'),
    workflow: z.string(),
    cases: z.array(one),
  })
  const read = readYaml(source, fileName)
  if (read.problems.length > 0) throw invalidWorkflow(fileName, read.problems.map(problemText))
  const parsed = fileSchema.safeParse(read.data)
  if (!parsed.success)
    throw invalidWorkflow(
      fileName,
      parsed.error.issues.map((issue) => problemText({ ...read.valueAt(issue.path), message: issue.message })),
    )
  return parsed.data.cases.map((each, index) => ({
    name: each.name,
    line: read.valueAt(['cases', index]).line,
    differences: differencesOf(each),
  }))
}

function compare(expect: Case['expect'], plan: InstancePlan): string[] {
  const differences = new Differences()
  const same = differences.same.bind(differences)
  same('decision', expect.decision, plan.decision)
  same('reason', expect.reason, plan.reason)
  same('rule', expect.rule, plan.rule)
  same('recipe', expect.recipe, plan.recipe)
  same('steps', expect.steps, stepsOf(plan))
  same('ends', expect.ends, plan.expected)
  same('asProject', expect.asProject, plan.asProject !== null)
  same('exclusive', expect.exclusive, plan.exclusive !== null)
  same('priority', expect.priority, plan.priority)
  same(
    'debts',
    expect.debts,
    plan.debts.map(({ code }) => code),
  )
  differences.says(expect.says, plan.message)
  for (const note of expect.notes ?? [])
    if (!plan.notes.some((said) => said.includes(note)))
      differences.found.push(`notes: expected "${note}" in ${JSON.stringify(plan.notes)}`)
  return differences.found
}

function stepsOf({ recipe, recipes }: InstancePlan): string[] {
  const first = recipe === null ? undefined : recipes[recipe]
  const said = ({ do: kind, landing }: RecipeStep): string => (landing === undefined ? kind : `${kind} ${landing}`)
  return [...(first?.steps ?? []).map(said), ...(first?.finally ?? []).map((step) => `finally ${said(step)}`)]
}

const takenAt = '2030-01-01T12:00:00.000Z'
const id = instanceId

function surveyOf(one: Case): Survey {
  const volumes = one.volumes ?? []
  return {
    host: 'dead',
    takenAt,
    capabilities: {
      computeMaxMicroversion: one.landsStopped === false ? '2.94' : '2.100',
      landsStopped: one.landsStopped ?? true,
    },
    instances: [instanceOf(one, 'dead')],
    migrations: (one.migrations ?? []).map((each, index, all) => ({
      id: all.length - index,
      uuid: `migration-${all.length - index}`,
      instanceId: id,
      type: each.type,
      status: each.status,
      sourceHost: each.from,
      destHost: each.to ?? null,
      createdAt: minutesBefore(30),
      updatedAt: null,
    })),
    services: [service('dead', 'down'), service('alive', 'up'), service('gone', 'down')],
    serverGroups:
      one.serverGroup === undefined ? [] : [{ id: 'group', name: 'group', policy: one.serverGroup, members: [id] }],
    aggregates:
      one.aggregate === undefined
        ? []
        : [{ name: 'aggregate', availabilityZone: null, hosts: ['dead'], metadata: one.aggregate }],
    volumes: Object.fromEntries(
      volumes.flatMap((kind, index) =>
        kind === 'unknown' ? [] : [[`volume-${index}`, { id: `volume-${index}`, encrypted: kind === 'encrypted' }]],
      ),
    ),
    actions:
      one.actionsUnread === true
        ? {}
        : {
            [id]: (one.actions ?? []).map(({ action, by, minutesAgo }, index) =>
              actionOf(action, by, index, minutesBefore(minutesAgo)),
            ),
          },
    mayActFor: one.mayActForProject === undefined ? {} : { project: one.mayActForProject },
    missing: one.actionsUnread === true ? { actions: 'not read' } : {},
  }
}

function segmentOf({ storage, policy }: Case): Segment {
  const usual = builtInSettings.policy
  return {
    ...builtInSettings,
    name: 'segment',
    storage: storage ?? 'shared',
    policy: {
      stopped: policy?.stopped ?? usual.stopped,
      errorBefore: policy?.errorBefore ?? usual.errorBefore,
      memoryLost: policy?.memoryLost ?? usual.memoryLost,
      unasked: policy?.unasked ?? usual.unasked,
    },
    brake: { maxHosts: 1, maxShare: 1 },
    maxParallelPerHost: 1,
  }
}

function service(host: string, state: 'up' | 'down'): Survey['services'][number] {
  const updatedAt = minutesBefore(state === 'up' ? 0 : 2)
  return {
    id: host,
    binary: 'nova-compute',
    host,
    zone: 'nova',
    status: 'enabled',
    state,
    updatedAt,
    forcedDown: false,
    disabledReason: null,
  }
}

function minutesBefore(minutes: number): string {
  return new Date(Date.parse(takenAt) - minutes * 60_000).toISOString()
}
