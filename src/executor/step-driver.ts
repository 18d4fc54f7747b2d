/**
 * A step driver knows one kind of step: how to send it, how to follow it to its end, and how to find out after a crash or
 * a lost answer whether it was sent. It never journals the step's rows: attempt.ts does, in one place, for all kinds.
 */
import type { Accepted, CallOptions } from '../domain/cloud.ts'
import type { StepRecord } from '../domain/incident.ts'
import type { InstanceRecovery } from '../domain/incident.ts'
import type { InstancePlan, RecipeStep, StepKind } from '../domain/plan.ts'
import type { BeforeOf, RequestOf, ResultOf } from '../domain/step-payloads.ts'
import type { CloudTrouble } from './cloud-trouble.ts'
import type { Act, Run } from './context.ts'
import type { HostWatch } from './host-watch.ts'

/** One step of one instance under way. */
export interface StepScene {
  run: Run
  watch: HostWatch
  trouble: CloudTrouble
  plan: InstancePlan
  recovery: InstanceRecovery
  step: RecipeStep
  /** Aborts when the daemon stops or the step's time is over. */
  signal: AbortSignal
  act: Act
  /** While it is followed: makes room for other instances. To be called when nothing but another host's incident can end the wait. */
  leaveRoom?: () => void
}

export type Prepared<K extends StepKind = StepKind> =
  | { before: BeforeOf<K>; request: RequestOf<K> }
  /** The state asked for is already there. */
  | { nothingToDo: BeforeOf<K> }
  /** An earlier write of ours, given up as lost, was taken after all: follow that one instead of sending again. */
  | { before: BeforeOf<K>; request: RequestOf<K>; adopt: string }

export interface Overdue {
  goesOn: boolean
  where: string | null
  details: Record<string, unknown>
}

/** A driver is given the rows of its own kind of step alone. */
export interface StepDriver<K extends StepKind = StepKind> {
  /** The state right before the write, for the journal; `nothingToDo` with the state that is there already. Reads, never writes. */
  before(scene: StepScene): Promise<Prepared<K>>
  /** Sends the write, under the step's own request id (`as`). Throws LifeboatError with its certainty. */
  send(scene: StepScene, as: CallOptions): Promise<Accepted>
  /** Follows the write to its end by reading back. Throws LifeboatError (certainty applied) when it ended badly. */
  follow(scene: StepScene, record: StepRecord<K>): Promise<ResultOf<K>>
  /** Asked when the step's time is over: whether what it waits for has an end of its own, and where it stands. */
  overdue?(scene: StepScene, record: StepRecord<K>): Overdue
  /**
   * Nobody knows whether the write was taken: reads until it is certain, or until nothing has shown up for `quietMs` of
   * Nova's answering.
   * Gives the request id when one was found.
   */
  reconcile(
    scene: StepScene,
    record: StepRecord<K>,
    quietMs: number,
  ): Promise<{ applied: boolean; requestId: string | null }>
}
