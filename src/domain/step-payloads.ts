/**
 * What the rows of each kind of step carry: the state found before the write, what was sent, and what was read back. A restarted daemon
 * believes this, so the kind of a step decides what may be read from its rows.
 *
 * The journal keeps these as they are. A property that some journal lacks is optional here: a release may not have written it yet.
 */
import type { Landing } from './cloud.ts'
import type { ProofStrength } from './fencing.ts'
import type { ReturnStepKind } from './host-return.ts'
import type { Instance } from './instance.ts'
import type { HostStepKind, StepKind } from './plan.ts'
import type { FlagsFound, HostName, ServiceChange, ServiceRecord } from './service.ts'
import type { InitialState } from './survey.ts'
import type { VerdictKind } from './verdict.ts'

export type AnyStepKind = StepKind | HostStepKind | ReturnStepKind

/** Writes on the instance's record: lock, unlock, reset-state. */
export type RecordState = Pick<Instance, 'vmState' | 'taskState' | 'locked' | 'lockedReason'>

/** Writes that reach its host: start, stop, and the repairs of what a stale order broke. */
export type PowerState = Pick<Instance, 'host' | 'vmState' | 'taskState' | 'powerState'>

export interface ResizeFound extends Pick<Instance, 'vmState' | 'taskState' | 'powerState'> {
  resize: InitialState['resize']
}

/** An order of the instance's owner that Nova took while the instance waited for its turn. */
export type PowerOrder = 'stop' | 'start'

/** What is kept of the state right before an evacuation. */
export interface BeforeEvacuation extends Pick<Instance, 'vmState' | 'taskState' | 'powerState' | 'host'> {
  /** Evacuation records that existed before this attempt: anything else is this attempt's. */
  spentEvacuations: string[]
  /** Of those, the ones that stood at `accepted`; one of them may be moved by this attempt. Missing in older journals. */
  waitingEvacuations?: WaitingEvacuation[]
  /** Request ids of evacuations that are known not to be this one. */
  knownRequests: string[]
  /** ISO, by the cloud's clock: an evacuate action that began earlier is not this attempt's. */
  cloudTime: string
}

/** A record whose order was given up: `destination` is the host in whose queue the order still waits. Null: nobody knows one. */
export interface WaitingEvacuation {
  migration: string
  destination: HostName | null
}

export interface EvacuationRequest {
  landing: Landing
  asProject: string | null
  /** The method that proved the old host dead. */
  fencedBy: string
  /** Missing where the owner ordered nothing meanwhile, and in older journals. */
  ordered?: PowerOrder
}

export interface Evacuated extends Pick<Instance, 'host' | 'vmState' | 'powerState'> {
  migration: string
  /** What Nova took between the last look before the evacuation and the evacuation itself. Missing where that was nothing. */
  ordered?: PowerOrder
  /** That stop was a shelve. Missing where it was none, and in older journals. */
  shelved?: boolean
  /** Another order on its guest, or a rebuild, was taken then; it may wait for the dead host. Missing where none was, and in older journals. */
  acted?: true
}

export interface BeforeStart extends PowerState {
  /** Its owner stopped it before our start, which is passed over. Missing where that is not so, and in older journals. */
  ordered?: 'stop'
}

export interface BeforeReboot extends PowerState {
  /** ISO, by the cloud's clock: a reboot that began earlier is not this attempt's. */
  cloudTime: string
}

export interface BeforeFence {
  /** Null: no verdict, a person said that the host is dead. */
  verdict: VerdictKind | null
  /** The service's stamp right before: a later one is a sign of life after the fencing. Missing in older journals. */
  updatedAt?: string | null
}

/** The flags of the service, as the row of our force-down left them. */
export interface ForcedDown extends FlagsFound {
  updatedAt: string | null
}

/** The service of a host that returns. */
export type ReturningService = Pick<ServiceRecord, 'forcedDown' | 'status' | 'state' | 'disabledReason' | 'updatedAt'>

/** There was nothing to send: the state that was asked for was there already. */
export interface NothingToDo {
  nothingToDo: BeforeOf<StepKind>
}

/** A step of an instance may find that there is nothing to do. */
interface InstanceStep<Before, Request, Result> {
  before: Before
  request: Request
  result: Result | NothingToDo
}

interface HostStep<Before, Request, Result> {
  before: Before
  request: Request
  result: Result
}

/** Strings are words for people: what the state is to be. */
export interface StepPayloads {
  lock: InstanceStep<RecordState, string, RecordState>
  unlock: InstanceStep<RecordState, string, RecordState>
  /** As a repair it notes the power state. */
  'reset-state': InstanceStep<RecordState | PowerState, string, RecordState | PowerState>
  'confirm-resize': InstanceStep<
    ResizeFound,
    { confirm: string | null },
    Pick<Instance, 'vmState' | 'powerState'> & { migration: string | null }
  >
  evacuate: InstanceStep<BeforeEvacuation, EvacuationRequest, Evacuated>
  start: InstanceStep<BeforeStart, { power: string }, PowerState>
  /** As a repair it says in a word what is wanted. */
  stop: InstanceStep<PowerState, { power: string } | string, PowerState>
  reboot: InstanceStep<BeforeReboot, { type: 'HARD' }, PowerState>
  /** `limitMs` is missing in older journals. */
  fence: HostStep<BeforeFence, { methods: string[]; limitMs?: number }, { method: string; strength: ProofStrength }>
  'force-down': HostStep<FlagsFound, ServiceChange, ForcedDown>
  /** It only reads, and has no rows. */
  survey: HostStep<never, never, never>
  'clear-forced-down': HostStep<ReturningService, ServiceChange, ReturningService>
  enable: HostStep<ReturningService, ServiceChange, ReturningService>
}

export type BeforeOf<K extends AnyStepKind> = StepPayloads[K]['before']
export type RequestOf<K extends AnyStepKind> = StepPayloads[K]['request']
export type ResultOf<K extends AnyStepKind> = StepPayloads[K]['result']

/** The row that is written before a step's write (law L2); one type for each kind. */
export type StepIntention<K extends AnyStepKind = AnyStepKind> = {
  [P in K]: {
    kind: P
    attempt: number
    /** Null where the state could not be read; the attempt failed then. */
    before: BeforeOf<P> | null
    /** Null where nothing was to be sent. */
    request: RequestOf<P> | null
    /** What the step's writes carry to OpenStack, and its services log; missing where nothing was to be sent. */
    globalRequestId?: string
  }
}[K]

/** What was found and what is sent, as one row has them. */
export interface Noted<K extends AnyStepKind> {
  before: BeforeOf<K> | null
  request: RequestOf<K> | null
}

/** The row of an intention, from its parts. */
export function intention<K extends AnyStepKind>(
  kind: K,
  attempt: number,
  { before, request }: Noted<K>,
  sends: { globalRequestId?: string },
): StepIntention<K> {
  return { kind, attempt, before, request, ...sends }
}
