/**
 * Whether the plans still say what the rules in force say. The rules of the host's segment may change while its incident is open: a
 * reload, a restart, another aggregate. Nothing that has not begun is done by the old ones: an instance that is evacuated as if
 * its disk were shared gets a fresh disk.
 *
 * An instance that was not touched yet is planned again, from its recorded original (law L4). One that was touched keeps its recipe
 * as long as the present rules would recover it at all; else nothing more of it is begun.
 */
import { isDeepStrictEqual } from 'node:util'
import { LifeboatError } from '../domain/errors.ts'
import type { Incident, InstanceRecovery } from '../domain/incident.ts'
import type { InstanceId } from '../domain/instance.ts'
import type { InstancePlan, StepKind } from '../domain/plan.ts'
import type { Segment } from '../domain/segment.ts'
import type { Original, Survey } from '../domain/survey.ts'
import type { Attempt, PlansInForce, Run } from './context.ts'

/** What is begun by the plan. What follows a landing finishes it, whatever the rules say by now. */
const begins: ReadonlySet<StepKind> = new Set(['lock', 'reset-state', 'confirm-resize', 'evacuate'])

/** The instance was planned again before anything was done to it: its recovery begins with the new plan. */
export class PlanReplaced extends Error {}

export class PlanCheck implements PlansInForce {
  readonly #run: Pick<Run, 'bridge' | 'journal' | 'id' | 'host'>
  readonly #survey: () => Promise<Survey>
  /** The rules by which all plans were made or checked; null in a run that has not seen them made. */
  #rules: string | null = null
  /** What the present rules decide for instances that were touched already and that they would not recover. */
  readonly #refused = new Map<InstanceId, InstancePlan>()
  #checking: Promise<void> | null = null

  /** @param survey a fresh one of the host; waits until it can be taken */
  constructor(run: Pick<Run, 'bridge' | 'journal' | 'id' | 'host'>, survey: () => Promise<Survey>) {
    this.#run = run
    this.#survey = survey
  }

  /** All plans were made by the rules of that segment. */
  made(segment: Segment): void {
    this.#rules = rulesOf(segment)
    this.#refused.clear()
  }

  /** Whether this may be begun as planned. To be asked in the moment of the write. */
  stands({ plan, recovery, step, act }: Attempt): boolean {
    if (act !== 'begins' || !begins.has(step.do)) return true
    return this.#isCurrent() && recovery.plan === plan && !this.#refused.has(plan.instanceId)
  }

  /**
   * Resolves when the plan is what the rules in force decide. Throws PlanReplaced; RULES_CHANGED for a touched instance that they would
   * not recover; SHUTDOWN and CANCELLED while Nova cannot be read.
   */
  async settle({ plan, recovery, step, act }: Attempt): Promise<void> {
    if (act !== 'begins' || !begins.has(step.do)) return
    while (!this.#isCurrent()) await (this.#checking ??= this.#check().finally(() => (this.#checking = null)))
    if (recovery.plan !== plan) throw new PlanReplaced()
    const refused = this.#refused.get(plan.instanceId)
    if (refused !== undefined)
      throw new LifeboatError('RULES_CHANGED', `${refused.reason}: ${refused.message}`, { retry: 'after' })
  }

  get #incident(): Incident {
    return this.#run.bridge.incident(this.#run.id)
  }

  #isCurrent(): boolean {
    return this.#rules === rulesOf(this.#run.bridge.segment(this.#incident))
  }

  async #check(): Promise<void> {
    const { bridge, journal, id, host } = this.#run
    const survey = await this.#survey()
    const incident = this.#incident
    const segment = bridge.segment(incident)
    const planned = bridge.workflow(incident.workflowDigest).plan(asPlannedBefore(survey, incident), segment)
    this.made(segment)
    for (const data of planned.instances) {
      const recovery = incident.instances.get(data.instanceId)
      if (recovery === undefined || recovery.outcome !== null) continue
      if (isTouched(recovery)) {
        if (data.decision !== 'recover') this.#refused.set(data.instanceId, data)
      } else if (!orderTheSame(data, recovery.plan))
        journal.append([{ kind: 'plan.made', incident: id, host, instance: data.instanceId, data }])
    }
  }
}

/** The rules that decide about instances, to be compared. */
function rulesOf({ name, storage, policy }: Segment): string {
  return JSON.stringify([name, storage, policy])
}

/** Whether two plans order the same, whatever their sentences say. */
function orderTheSame(a: InstancePlan, b: InstancePlan): boolean {
  return isDeepStrictEqual(ordersOf(a), ordersOf(b))
}

/** As it comes back from the journal: without what is undefined. */
function ordersOf({ decision, rule, recipe, recipes, expected, asProject }: InstancePlan): unknown {
  return JSON.parse(JSON.stringify({ decision, rule, recipe, recipes, expected, asProject }))
}

/**
 * The survey as it would have been before anything was touched: each instance by its recorded original, and without the
 * evacuations that came since.
 */
function asPlannedBefore(survey: Survey, { instances }: Incident): Survey {
  const recorded: Record<InstanceId, Original> = {}
  for (const { id } of survey.instances) {
    const original = instances.get(id)?.plan.original
    if (original !== undefined) recorded[id] = original
  }
  return {
    ...survey,
    instances: Object.values(recorded).map(({ instance }) => instance),
    recorded,
    migrations: survey.migrations.filter(
      ({ type, uuid, instanceId }) =>
        type !== 'evacuation' || recorded[instanceId]?.knownEvacuations.includes(uuid) !== false,
    ),
  }
}

function isTouched({ steps, round }: InstanceRecovery): boolean {
  return steps.size > 0 || round > 0
}
