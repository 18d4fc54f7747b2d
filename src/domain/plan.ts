/** Plans: what the engine decided for each instance, with the reason. Journaled before anything is done. */
import type { Landing } from './cloud.ts'
import type { ErrorCode } from './errors.ts'
import type { InstanceId } from './instance.ts'
import type { Segment } from './segment.ts'
import type { InitialState, Survey } from './survey.ts'

/** The step kinds of an instance's recipe, each with what it does. */
export const stepKinds = {
  lock: 'Lock the instance against its owner while it moves',
  unlock: 'Take our own lock back',
  'reset-state': 'os-resetState active: frees a stuck task and a state that Nova would not evacuate',
  'confirm-resize': 'Confirm the pending resize on its source host and wait for it',
  evacuate: 'Evacuate and follow the migration to its end',
  start: 'Start the instance where it is now',
  stop: 'Stop the instance where it is now',
  /** No workflow has it: a guest is rebooted where it crashed. */
  reboot: 'Restart the guest by a hard reboot on its host',
} as const

export type StepKind = keyof typeof stepKinds

/** Whether it is a step of an instance's recipe, and not of its host. */
export function isStepKind(kind: string): kind is StepKind {
  return Object.hasOwn(stepKinds, kind)
}

/** Codes of outcomes that come from no rule and no error: what others did while the incident was open. */
export const foreignReasons = {
  EVACUATED_BY_OTHERS: 'Someone else evacuated it before its turn, and it arrived; Lifeboat did not touch it',
  INCOMING_MOVE: 'A move of it into the dead host had not ended; look on the host that it came from',
} as const

/** Host steps, in the order they run. */
export const hostStepKinds = {
  fence: 'Fence the host and verify it',
  'force-down': 'Tell Nova that the service is down, and keep the scheduler off it',
  survey: 'List instances and everything that decides about them',
} as const

export type HostStepKind = keyof typeof hostStepKinds

export interface RecipeStep {
  /** Unique in the recipe. */
  id: string
  do: StepKind
  /** Only for evacuate. `original` = as-before if it ran, stopped if not. */
  landing?: Landing | 'original'
  deadlineMs: number
  /** CEL over `original` and `policy`; false skips the step. Decided by the engine when the plan is made. */
  when?: string
  retry?: RetryPolicy
  /** Error code (or `default`) -> recipe to go on with, or `fail`, `stuck`, `left`. */
  onError?: Partial<Record<ErrorCode | 'default', string>>
}

export interface RetryPolicy {
  on: ErrorCode[]
  /** All tries together, the first included. */
  attempts: number
  firstMs: number
  capMs: number
}

export interface Recipe {
  name: string
  /** How many times it may be entered for one instance, when its errors lead back to itself. */
  rounds?: number
  steps: RecipeStep[]
  /** Run whatever happened, e.g. to take our lock back. */
  finally: RecipeStep[]
}

/** A decision for one instance. Skipped steps are already taken out; what stands here is what will be tried. */
export interface InstancePlan {
  instanceId: InstanceId
  name: string
  projectId: string
  /** The rule of the workflow that matched. */
  rule: string
  decision: 'recover' | 'leave' | 'hold'
  /** Stable code, e.g. RUNNING, STOPPED, RESIZED_LOCAL_DISK. */
  reason: string
  message: string
  /** The initial state; stored, and in workflows, as `original`. */
  original: InitialState
  /** Null unless decision is recover. */
  recipe: string | null
  /** Every recipe that can be reached from `recipe` through onError, by name, with landing `original` resolved. */
  recipes: Record<string, Recipe>
  /** The power state the instance must end in. */
  expected: 'running' | 'stopped' | null
  /** Evacuate and start with a token of the instance's own project. */
  asProject: string | null
  /** Higher goes first. */
  priority: number
  /** Instances with the same key go one after another (anti-affinity groups). */
  exclusive: string | null
  /** What this plan will leave behind for a person to clean up, said before it is done. Stored, and in workflows, as `debts`. */
  debts: { code: string; message: string }[]
  /** Things a person should be told when it is over, e.g. that memory was lost. */
  notes: string[]
}

export interface HostPlan {
  host: string
  workflow: { name: string; revision: number; digest: string }
  instances: InstancePlan[]
  /** What becomes of its service, where the plan is of its nova-compute and its segment does not fence the host then. */
  service?: ProcessRuling
}

/** What is asked: what would be done if this failed now. `instance`: the name or the UUID of one on that host. */
export type PlanSubject = { host: string } & (
  | { failure: 'host' | 'process' }
  | { failure: 'instance'; instance: string }
)

/** What a workflow says of a nova-compute that failed, once, when that begins. */
export interface ProcessRuling {
  rule: string
  do: 'disable' | 'leave'
  /** How its service is enabled again, where that is not as its segment says. */
  enable: 'automatic' | 'confirm' | null
  because: string
}

/** A workflow document, as the journal pins it. */
export interface WorkflowRecord {
  name: string
  revision: number
  /** sha256 of the document's text. */
  digest: string
  /** The document as it was read: the journal keeps it, so that a run always ends under the document it began with. */
  source: string
}

/** The pure planner, implemented by engine/ for one pinned workflow document for hosts. */
export interface Workflow extends WorkflowRecord {
  failure: 'host'
  hostDeadlineMs: Record<HostStepKind, number>
  /** By which settings it reads the owners' wishes, to be compared. */
  wishes: string
  plan(survey: Survey, segment: Segment): HostPlan
  /** As `plan`; of a large host `pause` is awaited now and then, so that others have their turn. Throws what it throws. */
  planInPieces(survey: Survey, segment: Segment, pause: () => Promise<void>): Promise<HostPlan>
}
