/**
 * Whether the plans still say what the rules in force say. The rules of the host's segment may change while its incident is open: a
 * reload, a restart, another aggregate. Nothing that has not begun is done by the old ones: an instance that is evacuated as if
 * its disk were shared gets a fresh disk.
 *
 * The same goes for what an owner asks for by metadata and tags: it is read again before the first evacuation of an instance whose plan
 * was made a while ago. After that evacuation nothing is asked any more: the instance is not as its owner left it.
 *
 * An instance that was not touched yet is planned again, from its recorded initial state (law L4). One that was touched keeps its recipe
 * as long as the present rules would recover it at all; else nothing more of it is begun.
 */
import { isDeepStrictEqual } from 'node:util'
import { inDoubtEarlier } from '../domain/earlier-recovery.ts'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import type { Incident, InstanceRecovery, StepRecord } from '../domain/incident.ts'
import type { Instance, InstanceId } from '../domain/instance.ts'
import type { InstancePlan, StepKind } from '../domain/plan.ts'
import type { Segment } from '../domain/segment.ts'
import type { InitialState, Survey } from '../domain/survey.ts'
import type { Attempt, PlansInForce, Run } from './context.ts'
import { mayStillBeServed } from './step-errors.ts'
import { attempts, mayHaveLeft, wordsGoodForMs } from './steps/recheck.ts'

/** What is begun by the plan. What follows a landing finishes it, whatever the rules say by now. */
const begins: ReadonlySet<StepKind> = new Set(['lock', 'reset-state', 'confirm-resize', 'evacuate'])

/** The instance was planned again before anything was done to it: its recovery begins with the new plan. */
export class PlanReplaced extends Error {}

type PlanCheckRun = Pick<Run, 'permissions' | 'journal' | 'clock' | 'id' | 'host'>

export class PlanCheck implements PlansInForce {
  readonly #run: PlanCheckRun
  readonly #survey: () => Promise<Survey>
  /** The rules by which all plans were made or checked; null in a run that has not seen them made. */
  #rules: string | null = null
  /** What the present rules decide for instances that were touched already and that they would not recover. */
  readonly #refused = new Map<InstanceId, InstancePlan>()
  /** The owners' words by which instances were planned, where they were read again. */
  readonly #words = new Map<InstanceId, string>()
  /** Monotonic time as of which the plans say what the owners ask for. */
  #wordsAt = -Infinity
  #checking: Promise<void> | null = null

  /** @param survey a fresh one of the host; waits until it can be taken */
  constructor(run: PlanCheckRun, survey: () => Promise<Survey>) {
    this.#run = run
    this.#survey = survey
  }

  /** All plans were made by the rules of that segment. */
  made(segment: Segment): void {
    this.#rules = rulesOf(segment, this.#wishes())
    this.#wordsAt = this.#run.clock.now()
    this.#refused.clear()
  }

  /** Whether this may be begun as planned. To be asked in the moment of the write. */
  stands(attempt: Attempt): boolean {
    const { plan, recovery, step, act } = attempt
    if (act !== 'begins' || !begins.has(step.do)) return true
    const isAsPlanned = this.#isCurrent() && recovery.plan === plan && !this.#refused.has(plan.instanceId)
    return isAsPlanned && this.#isAsAsked(attempt)
  }

  /**
   * Resolves when the plan is what the rules in force decide. Throws PlanReplaced; RULES_CHANGED for a touched instance that they would
   * not recover; SHUTDOWN and CANCELLED while Nova cannot be read.
   */
  async refresh(attempt: Attempt): Promise<void> {
    const { plan, recovery, step, act } = attempt
    if (act !== 'begins' || !begins.has(step.do)) return
    await this.#readWords(attempt)
    while (!this.#isCurrent() || !this.#isAsAsked(attempt))
      await (this.#checking ??= this.#check().finally(() => (this.#checking = null)))
    if (recovery.plan !== plan) throw new PlanReplaced()
    const refused = this.#refused.get(plan.instanceId)
    if (refused !== undefined)
      throw new LifeboatError('RULES_CHANGED', `${refused.reason}: ${refused.message}`, { retry: 'after' })
  }

  get #incident(): Incident {
    return this.#run.permissions.incident(this.#run.id)
  }

  #isCurrent(): boolean {
    return this.#rules === rulesOf(this.#run.permissions.segment(this.#incident), this.#wishes())
  }

  #wishes(): string {
    return this.#run.permissions.workflow(this.#incident.workflowDigest).wishes
  }

  /** The first attempt to evacuate looks at its instance by itself, a moment before. Later ones and other steps do not. */
  async #readWords({ plan, recovery, step, watch }: Attempt): Promise<void> {
    const { clock } = this.#run
    const isOld = clock.now() - Math.max(this.#wordsAt, watch.shownAt(plan.instanceId)) > wordsGoodForMs
    const looksItself = step.do === 'evacuate' && mayHaveLeft(recovery).length === 0
    if (!isOld || looksItself || wasEvacuated(recovery)) return
    try {
      await watch.list(wordsGoodForMs)
    } catch (thrown) {
      // Nothing is known against the plan then. Whatever keeps Nova from being read meets the attempt as well, which says so and is repeated.
      if (ensureError(thrown).code === 'SHUTDOWN') throw thrown
    }
  }

  /** Whether its owner asks for what was planned, as far as is known by now. */
  #isAsAsked({ plan, recovery, watch }: Attempt): boolean {
    const id = plan.instanceId
    if (wasEvacuated(recovery) || this.#run.clock.now() - this.#wordsAt <= wordsGoodForMs) return true
    const seen = watch.instance(id)
    // What was read before the plan was made says nothing.
    if (seen === undefined || watch.shownAt(id) <= this.#wordsAt) return true
    return wordsOf(seen) === (this.#words.get(id) ?? wordsOf(plan.original.instance))
  }

  async #check(): Promise<void> {
    const { permissions, journal, id, host } = this.#run
    const survey = await this.#survey()
    const incident = this.#incident
    const segment = permissions.segment(incident)
    const planned = permissions.workflow(incident.workflowDigest).plan(asPlannedBefore(survey, incident), segment)
    this.made(segment)
    for (const instance of survey.instances) this.#words.set(instance.id, wordsOf(instance))
    for (const data of planned.instances) {
      const recovery = incident.instances.get(data.instanceId)
      if (recovery === undefined || recovery.outcome !== null) continue
      // This survey knows nothing of earlier incidents, and that hold rests on one.
      if (recovery.plan.reason === inDoubtEarlier) continue
      // What ends here needs no step any more, and no key of one that was refused is used again.
      const isTried = isTouched(recovery) && !(data.decision !== 'recover' && isUntaken(recovery))
      if (isTried) {
        if (data.decision !== 'recover') this.#refused.set(data.instanceId, data)
      } else if (!orderTheSame(data, recovery.plan))
        journal.append([{ kind: 'plan.made', incident: id, host, instance: data.instanceId, data }])
    }
  }
}

/** The rules that decide about instances, to be compared. */
function rulesOf({ name, storage, policy }: Segment, wishes: string): string {
  return JSON.stringify([name, storage, policy, wishes])
}

/** Whether two plans order the same, whatever their sentences say. */
function orderTheSame(a: InstancePlan, b: InstancePlan): boolean {
  return isDeepStrictEqual(ordersOf(a), ordersOf(b))
}

/** Where owners say what they ask for. */
function wordsOf({ metadata, tags }: Pick<Instance, 'metadata' | 'tags'>): string {
  const sorted = Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([sorted, tags.toSorted()])
}

/** As it comes back from the journal: without what is undefined. */
function ordersOf({ decision, rule, recipe, recipes, expected, asProject }: InstancePlan): unknown {
  return JSON.parse(JSON.stringify({ decision, rule, recipe, recipes, expected, asProject }))
}

/**
 * The survey as it would have been before anything was touched: each instance by its initial state on record, and without the
 * evacuations that came since. Before its first evacuation its owner's words are those of now.
 */
function asPlannedBefore(survey: Survey, { instances }: Incident): Survey {
  const recorded: Record<InstanceId, InitialState> = {}
  const listed: Instance[] = []
  for (const { id, metadata, tags } of survey.instances) {
    const recovery = instances.get(id)
    if (recovery === undefined) continue
    const { original } = recovery.plan
    recorded[id] = original
    const isOwners = !wasEvacuated(recovery)
    listed.push(isOwners ? { ...original.instance, metadata, tags } : original.instance)
  }
  return {
    ...survey,
    instances: listed,
    recorded,
    migrations: survey.migrations.filter(
      ({ type, uuid, instanceId }) =>
        type !== 'evacuation' || recorded[instanceId]?.knownEvacuations.includes(uuid) !== false,
    ),
  }
}

/**
 * Whatever was sent for it was refused. A lock without a trace may still be served, and only its rows let the incident outlast it
 * (late-lock.ts); an evacuation or a reset without one was waited out before it counted as failed.
 */
function isUntaken({ steps, round }: InstanceRecovery): boolean {
  return round === 0 && [...steps.values()].every((step) => wasRefused(step) && !isLateLock(step))
}

function isLateLock(step: StepRecord): boolean {
  return step.kind === 'lock' && mayStillBeServed(step)
}

function wasRefused({ status, error }: StepRecord): boolean {
  return status === 'failed' && error?.certainty === 'not-applied'
}

function wasEvacuated(recovery: InstanceRecovery): boolean {
  return attempts(recovery).some((attempt) => !wasRefused(attempt))
}

function isTouched({ steps, round }: InstanceRecovery): boolean {
  return steps.size > 0 || round > 0
}
