/**
 * What is known of an instance that an earlier incident tried to bring back. Nova shows what that incident did to it: ERROR by its
 * failed evacuation, `active` by its reset. The journal has the initial state. Pure.
 */
import { cloudTimeMs } from '../domain/cloud-time.ts'
import { changingOrders, ordersSince, powerOrderSince } from '../domain/earlier-recovery.ts'
import type { ErrorRecord } from '../domain/errors.ts'
import type { Instance, InstanceAction, Migration } from '../domain/instance.ts'
import type { HostName } from '../domain/service.ts'
import type { EarlierRecovery, InitialState, SeenEarlier, Survey } from '../domain/survey.ts'
import { omitUndefined } from '../domain/omit-undefined.ts'
import { initialStateOf } from './initial-state.ts'

/** The initial state that an earlier incident recorded; null where there was none, or Nova has the truth. */
export function recalled(instance: Instance, survey: Survey): InitialState | null {
  const known = survey.earlier?.[instance.id]
  return known === undefined ? null : recalledInitialState(known.before, seenNow(instance, survey, known))
}

/** Why nobody knows whether the guest of an instance runs elsewhere, in words, or null. */
export function doubted(instance: Instance, survey: Survey): string | null {
  const known = survey.earlier?.[instance.id]
  return known === undefined ? null : doubtAbout(known.before, seenNow(instance, survey, known), survey.host)
}

function seenNow(
  instance: Instance,
  survey: Survey,
  { evacuations, actedOnGuest, requestLastsMs }: SeenEarlier,
): SeenNow {
  return {
    instance,
    original: initialStateOf(instance, survey),
    actions: survey.actions[instance.id] ?? null,
    evacuations,
    actedOnGuest,
    ...omitUndefined({ requestLastsMs }),
    nowMs: Date.parse(survey.takenAt),
  }
}

/** What Nova says of the instance now. */
export interface SeenNow {
  instance: Instance
  /** As Nova alone tells it. */
  original: InitialState
  /** Newest first; null: they could not be read. */
  actions: InstanceAction[] | null
  /** All evacuations of the instance. */
  evacuations: Migration[]
  /** Someone else has acted on the guest since, and that succeeded. */
  actedOnGuest: boolean
  /** As long as Nova may serve a request whose answer was lost, ms, if that is longer than usual. */
  requestLastsMs?: number
  /** Our wall clock, ms. */
  nowMs: number
}

/**
 * For so long at least a request whose answer was lost may still turn up in Nova as an evacuation. Shorter: the guest is evacuated beside it and
 * runs twice. Longer: a person who tries again at once has to wait.
 */
const lostRequestMs = 10 * 60_000

/** Ends of a crash after which Nova shows what the owner wants. */
const asItsOwnerLeftIt: ReadonlySet<string> = new Set(['STOPPED_BY_OWNER', 'STARTED_SINCE'])

/** The initial state as the earlier incident recorded it, with what its user ordered since; null where Nova has the truth. */
export function recalledInitialState(earlier: EarlierRecovery, seen: SeenNow): InitialState | null {
  const { original: before, outcome } = earlier
  // A stop that we gave again in its owner's name is ours in the history, and stands after its owner's: the record would start it.
  if (outcome?.outcome === 'recovered' || asItsOwnerLeftIt.has(outcome?.code ?? '')) return null
  const actions = seen.actions ?? []
  if (ordersSince(earlier, actions).some(({ action }) => changingOrders.has(action))) return null
  const power = powerOrderSince(earlier, actions)
  // A person started or stopped it since its host had come back: its history says how that ended.
  if (earlier.isOffAfterReturn && power !== undefined) return null
  const { instance, original } = seen
  // Someone had it started or stopped after that incident, and Nova has carried that out: what we did is undone.
  if (power !== undefined && isAfter(earlier, power) && isSettled(instance)) return null
  const [wanted, because] = wantedSince(earlier, power)
  const vmState = vmStateOf(before.instance.vmState, seen.instance.vmState, wanted)
  // Nothing was done to it: only its history misleads.
  if ((earlier.ofCrash !== null || earlier.isOffAfterReturn) && earlier.steps.length === 0)
    return { ...original, wanted, wantedBecause: because, flagged: true }
  const locked = lockedByOthers(before, instance)
  return {
    ...original,
    instance: {
      ...instance,
      vmState,
      taskState: null,
      powerState: before.instance.powerState,
      fault: before.instance.fault,
      locked,
    },
    wanted,
    wantedBecause: because,
    flagged: true,
    locked,
    lockedReason: locked ? (instance.lockedReason ?? before.lockedReason) : null,
    earlier: { incident: earlier.incident, traces: instance.vmState !== vmState || instance.taskState !== null },
  }
}

function isAfter({ endedAt }: EarlierRecovery, { startedAt }: InstanceAction): boolean {
  return endedAt !== null && cloudTimeMs(startedAt) > Date.parse(endedAt)
}

function isSettled({ vmState, taskState }: Instance): boolean {
  return taskState === null && (vmState === 'active' || vmState === 'stopped')
}

/** What its owner wants by the latest word, and why. */
function wantedSince(
  { incident, original, ordered, ofCrash }: EarlierRecovery,
  power: InstanceAction | undefined,
): [InitialState['wanted'], string] {
  if (power !== undefined)
    return [
      power.action === 'stop' ? 'stopped' : 'running',
      `a user ordered ${power.action} at ${power.startedAt}, since incident ${incident} began`,
    ]
  if (ofCrash?.stoppedAgain === true) return ['stopped', `incident ${incident} gave its owner's stop again`]
  if (ordered !== null)
    return [
      ordered === 'stop' ? 'stopped' : 'running',
      `its owner ordered ${ordered} while incident ${incident} went on`,
    ]
  return [original.wanted, `incident ${incident} recorded it: ${original.wantedBecause}`]
}

/** Why nobody knows whether the guest runs elsewhere, in words; null when the earlier incident knew, or something has settled it. */
export function doubtAbout(earlier: EarlierRecovery, seen: SeenSince, deadHost: HostName): string | null {
  const doubt = doubtOf(earlier, seen, deadHost)
  if (doubt === null) return null
  const { told, mayRunOn } = doubt
  return mayRunOn === null
    ? `${told}: try again later`
    : `${told}. Look there first; see that it does not run there and start it where Nova shows it, or evacuate it by hand`
}

/** What of the time since that incident tells whether the guest runs elsewhere. */
export type SeenSince = Pick<SeenNow, 'evacuations' | 'actedOnGuest' | 'requestLastsMs' | 'nowMs'>

export interface Doubt {
  /** What that incident said, and what is not known since. */
  told: string
  /** Null: nobody knows whether its evacuation comes at all. */
  mayRunOn: HostName[] | null
}

/**
 * What nobody knows of a guest that an earlier incident may have started elsewhere; null as for `doubtAbout`.
 * @param host a guest of this one cannot run there beside itself: it is dead, or it is where Nova shows the instance
 */
export function doubtOf(earlier: EarlierRecovery, seen: SeenSince, host: HostName): Doubt | null {
  const { outcome } = earlier
  const error = unknownEvacuation(earlier)
  if (error === null || outcome === null || seen.actedOnGuest) return null
  const hosts = destinationsOf(earlier, seen, error.details)
  const open = unsettled(hosts, host, earlier)
  if (hosts.length > 0 && open.length === 0) return null
  const told = `Incident ${earlier.incident} left it stuck (${outcome.code}): ${outcome.message}`
  if (hosts.length === 0) {
    const own = ownEvacuations(earlier, seen).at(-1)
    const isOld = seen.nowMs - Date.parse(earlier.endedAt ?? '') > Math.max(seen.requestLastsMs ?? 0, lostRequestMs)
    if (own?.status === 'error' || (own === undefined && isOld)) return null
    return { told: `${told}. Whether that evacuation still comes is not known`, mayRunOn: null }
  }
  const where = `the guest may be running on ${open.join(' and on ')}`
  return { told: `${told}. Nothing has settled that since: ${where}`, mayRunOn: open }
}

/** Those of the hosts of which nobody knows that the guest died with them. */
export function unsettled(
  hosts: readonly HostName[],
  deadHost: HostName,
  { provenDeadSince }: Pick<EarlierRecovery, 'provenDeadSince'>,
): HostName[] {
  return hosts.filter((host) => host !== deadHost && !provenDeadSince(host))
}

/** The failure of an evacuation of which nobody knows whether it started the guest elsewhere; null: there is none. */
export function unknownEvacuation({
  outcome,
  steps,
}: Pick<EarlierRecovery, 'outcome' | 'steps'>): Pick<ErrorRecord, 'details'> | null {
  if (outcome?.crossed !== undefined) return { details: outcome.crossed }
  const error = steps.findLast(({ kind, status }) => kind === 'evacuate' && status === 'failed')?.error
  return outcome?.outcome === 'stuck' && error?.certainty === 'unknown' ? error : null
}

/** A resize that waited was confirmed or reset by us: it is over, and its power state is what is wanted. */
function vmStateOf(before: string, now: string, wanted: InitialState['wanted']): string {
  if (before !== 'resized' || now === 'resized') return before
  return wanted === 'running' ? 'active' : 'stopped'
}

/** Our own lock may still be there (law L6). */
function lockedByOthers(before: InitialState, { locked, lockedReason }: Instance): boolean {
  if (!locked) return false
  return before.locked || (lockedReason !== null && !lockedReason.startsWith('lifeboat: '))
}

/** What was evacuated from other hosts before is no order of that incident. */
function ownEvacuations({ original }: EarlierRecovery, { evacuations }: SeenSince): Migration[] {
  const { instance, knownEvacuations } = original
  const own = evacuations.filter(
    ({ uuid, sourceHost }) => !knownEvacuations.includes(uuid) && sourceHost === instance.host,
  )
  return own.sort((a, b) => a.id - b.id)
}

/** No host: journals name a destination so that Nova had not named. */
const unknownHost = 'an unknown host'

/** The hosts that a failed evacuation names: several where another one crossed it. */
export function namedDestinations({ details }: Pick<ErrorRecord, 'details'>): HostName[] {
  const { destination, destinations } = details
  if (typeof destination === 'string') return [destination]
  const all: unknown[] = Array.isArray(destinations) ? destinations : []
  return all.filter((host) => typeof host === 'string').filter((host) => host !== unknownHost)
}

/** Where the orders that crossed stand by now: one that Nova ended in error started no guest, and one may have got its host since. */
function ofCrossing({ evacuations }: SeenSince, details: Record<string, unknown>): HostName[] {
  const { migrations } = details
  if (!Array.isArray(migrations)) return []
  const crossing = evacuations.filter(({ uuid }) => migrations.includes(uuid))
  const isEachNamed = namedDestinations({ details }).length >= migrations.length
  return crossing.flatMap(({ status, destHost }) => {
    if (status === 'error') return []
    // Nova names none of an order that nobody took; Placement may have named it.
    return destHost === null && isEachNamed ? [] : [destHost ?? unknownHost]
  })
}

/** Where it may have taken the guest; none: Nova shows no order that names a host. */
function destinationsOf(earlier: EarlierRecovery, seen: SeenSince, details: Record<string, unknown>): HostName[] {
  const named = [...new Set([...namedDestinations({ details }), ...ofCrossing(seen, details)])]
  if (named.length > 0) return named
  const own = ownEvacuations(earlier, seen)
  const record = own.find(({ uuid }) => uuid === details['migration']) ?? own.at(-1)
  return record === undefined || record.status === 'error' || record.destHost === null ? [] : [record.destHost]
}
