/**
 * The planner: survey in, one decision for every instance out (law L9). Pure: the same survey always gives the same
 * plan, in the same order, and no instance, whatever Nova says of it, can make it throw.
 */
import { inDoubtEarlier } from '../domain/earlier-recovery.ts'
import type { Instance } from '../domain/instance.ts'
import type { HostPlan, InstancePlan } from '../domain/plan.ts'
import type { Segment } from '../domain/segment.ts'
import type { InitialState, Survey } from '../domain/survey.ts'
import type { CompiledNote, CompiledRule, CompiledWorkflow } from './compiled.ts'
import { planBound } from './bound.ts'
import { notEvaluated } from './expressions.ts'
import { factsOf, type Facts } from './facts.ts'
import { initialStateOf } from './initial-state.ts'
import { doubted, recalled } from './recall.ts'
import { recipesFor } from './recipes.ts'
import { ownerPolicyOf, type OwnerPolicy, type OwnerPolicySettings } from './owner-policy.ts'

/** Reasons that come from no rule: then a person decides. */
export const planReasons = {
  EARLIER_UNSETTLED:
    'An earlier incident could not tell whether its guest runs elsewhere, and nothing has settled that since',
  CONDITION_FAILED:
    'A rule of the workflow could not be evaluated for it, e.g. because it asks for metadata that is not there',
  NO_RULE: 'No rule of the workflow takes it',
} as const

type PlanReason = keyof typeof planReasons

/** Instances planned in one go by whoever plans in pieces: some 20 ms. Many more would hold up heartbeats and other incidents. */
const pieceSize = 25

/** What a plan is made of. */
export interface PlanOrder {
  workflow: CompiledWorkflow
  digest: string
  settings: OwnerPolicySettings
  survey: Survey
  segment: Segment
}

/** Plans every instance of the survey, in the order in which they are to be recovered. */
export function planHost(order: PlanOrder): HostPlan {
  const pieces = planPieces(order)
  for (;;) {
    const piece = pieces.next()
    if (piece.done === true) return piece.value
  }
}

/** As planHost. Between pieces of a large host `pause` is awaited; what it throws ends the planning. */
export async function planHostInPieces(order: PlanOrder, pause: () => Promise<void>): Promise<HostPlan> {
  const pieces = planPieces(order)
  for (;;) {
    const piece = pieces.next()
    if (piece.done === true) return piece.value
    await pause()
  }
}

/** Yields where others may have their turn; gives the plan. */
function* planPieces({ workflow, digest, settings, survey, segment }: PlanOrder): Generator<void, HostPlan> {
  const { name, revision } = workflow.document.metadata
  const aggregates = survey.aggregates.filter(({ hosts }) => hosts.includes(survey.host))
  const planned: Planned[] = []
  for (const listed of survey.instances) {
    if (planned.length > 0 && planned.length % pieceSize === 0) yield
    const original = survey.recorded?.[listed.id] ?? recalled(listed, survey) ?? initialStateOf(listed, survey)
    // What its owner asks for is what Nova shows now, whatever else an earlier incident knows better.
    const { metadata, tags } = listed
    const instance = original.earlier === undefined ? listed : { ...original.instance, metadata, tags }
    const ownerPolicy = ownerPolicyOf(instance, aggregates, settings)
    const facts = factsOf(instance, original, ownerPolicy, survey, segment)
    const plan = planInstance(workflow, survey, instance, original, ownerPolicy, facts)
    planned.push({ plan, keys: workflow.order.map(({ key }) => safely(() => key(facts))) })
  }
  return {
    host: survey.host,
    workflow: { name, revision, digest },
    instances: [...inOrder(workflow, planned), ...(survey.bound ?? []).map((bound) => planBound(bound, survey))],
  }
}

function planInstance(
  workflow: CompiledWorkflow,
  survey: Survey,
  instance: Instance,
  original: InitialState,
  ownerPolicy: OwnerPolicy,
  facts: Facts,
): InstancePlan {
  const blank: InstancePlan = {
    instanceId: instance.id,
    name: instance.name,
    projectId: instance.projectId,
    rule: '',
    decision: 'hold',
    reason: 'CONDITION_FAILED' satisfies PlanReason,
    message: '',
    original,
    recipe: null,
    recipes: {},
    expected: null,
    asProject: null,
    priority: ownerPolicy.priority,
    exclusive: null,
    debts: [],
    notes: [],
  }
  const doubt = doubted(instance, survey)
  if (doubt !== null) return { ...blank, reason: inDoubtEarlier satisfies PlanReason, message: doubt }
  for (const rule of workflow.rules) {
    try {
      if (rule.when(facts)) return decided(blank, rule, workflow, survey, ownerPolicy, facts)
    } catch (error) {
      // Only when the plan itself cannot be made, e.g. a condition asks for a metadata key that the instance lacks.
      const { id } = rule.rule
      return { ...blank, rule: id, message: notEvaluated(id, error) }
    }
  }
  return { ...blank, reason: 'NO_RULE' satisfies PlanReason, message: 'no rule of the workflow takes this instance' }
}

function decided(
  blank: InstancePlan,
  compiled: CompiledRule,
  workflow: CompiledWorkflow,
  survey: Survey,
  ownerPolicy: OwnerPolicy,
  facts: Facts,
): InstancePlan {
  const { rule } = compiled
  const message = compiled.because(facts)
  const priority = Math.max(-1_000, Math.min(1_000, ownerPolicy.priority + (rule.priority ?? 0)))
  const base = { ...blank, rule: rule.id, reason: rule.reason, message, priority }
  const spoken = [...ownerPolicy.notes, ...said(compiled.notes, facts)]
  if (rule.recover === undefined) {
    return { ...base, decision: rule.leave === true ? 'leave' : 'hold', notes: spoken }
  }
  const expected = expectedOf(rule.expect, facts)
  const recipes = recipesFor(rule.recover, workflow, { ...facts, expected: expected ?? 'any' })
  return {
    ...base,
    decision: 'recover',
    recipe: base.original.earlier?.traces === true ? afterFailure(rule.recover, recipes) : rule.recover,
    recipes,
    expected,
    asProject: facts.instance.encrypted && facts.instance.encrypted_key_available ? facts.instance.project : null,
    exclusive: exclusiveOf(facts.instance.id, survey),
    debts: compiled.leftovers.filter(({ when }) => when(facts)).map(({ code, say }) => ({ code, message: say(facts) })),
    notes: [...spoken, ...earlierNote(base.original), ...said(workflow.notes, facts), ...missingNotes(survey)],
  }
}

/** What an earlier incident left behind is what a failed attempt leaves: its recovery goes on as after one. */
function afterFailure(recipe: string, recipes: InstancePlan['recipes']): string {
  const evacuate = recipes[recipe]?.steps.find((step) => step.do === 'evacuate')
  const next = evacuate?.onError?.NO_VALID_HOST
  return next !== undefined && Object.hasOwn(recipes, next) ? next : recipe
}

function earlierNote({ earlier }: InitialState): string[] {
  return earlier === undefined ? [] : [`incident ${earlier.incident} had tried it before`]
}

function said(notes: CompiledNote[], facts: Facts): string[] {
  return notes.filter(({ when }) => when(facts)).map(({ say }) => say(facts))
}

/** The owner's policy `stopped` counts. Unknown stays off: a guest that nobody knows to be wanted must not be started, and can be started by its owner. */
function expectedOf(expect: CompiledRule['rule']['expect'], facts: Facts): InstancePlan['expected'] {
  if (expect !== 'original') return expect ?? null
  return facts.original.wanted === 'running' && facts.wish.value !== 'stopped' ? 'running' : 'stopped'
}

/**
 * Nova checks the hard policies again on the destination, late: two members under way at once can fail each other
 * (docs/nova.md §1.7). The soft ones are only weighed when a host is chosen, and lose nothing by going side by side.
 */
function exclusiveOf(instanceId: string, survey: Survey): string | null {
  const group = survey.serverGroups.find(({ members }) => members.includes(instanceId))
  return group !== undefined && (group.policy === 'anti-affinity' || group.policy === 'affinity') ? group.id : null
}

function missingNotes({ missing }: Survey): string[] {
  const parts = Object.keys(missing).filter((part) => part === 'serverGroups' || part === 'aggregates')
  return parts
    .sort()
    .map((part) => `${part} could not be read: ${missing[part]}; what they ask for was not taken into account`)
}

/** A plan, and what the document's order says of its instance. */
interface Planned {
  plan: InstancePlan
  keys: unknown[]
}

/** By the document's keys, then by name and id, so that the order never depends on how Nova listed them. */
function inOrder(workflow: CompiledWorkflow, planned: Planned[]): InstancePlan[] {
  planned.sort((a, b) => {
    if (a.plan.priority !== b.plan.priority) return b.plan.priority - a.plan.priority
    for (const [index, { descending }] of workflow.order.entries()) {
      const [left, right] = [a.keys[index], b.keys[index]]
      const order =
        descending && left !== undefined && right !== undefined ? compared(right, left) : compared(left, right)
      if (order !== 0) return order
    }
    return compared(a.plan.name, b.plan.name) || compared(a.plan.instanceId, b.plan.instanceId)
  })
  return planned.map(({ plan }) => plan)
}

/** A key that cannot be evaluated for an instance is not there, and sorts last either way: order is no reason to lose a plan. */
function safely(evaluate: () => unknown): unknown {
  try {
    return evaluate()
  } catch {
    return undefined
  }
}

function compared(a: unknown, b: unknown): number {
  if (a === b) return 0
  if (a === undefined) return 1
  if (b === undefined) return -1
  return (a as string) < (b as string) ? -1 : 1
}
