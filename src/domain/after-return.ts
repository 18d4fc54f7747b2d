/**
 * After a host came back by itself: its guests are off, and Nova shows them running until nova-compute has compared (docs/nova.md
 * §4.4). What is known of that, folded from the journal: a restarted daemon knows exactly this. Pure.
 */
import { inDoubtEarlier } from './earlier-recovery.ts'
import type { Entry, IncidentId } from './entry.ts'
import type { Incident, InstanceRecovery } from './incident.ts'
import type { HostName } from './service.ts'

/** A host that comes back without our doing, and whose instances are looked at until it is known which of them are off. */
export interface WatchedReturn {
  host: HostName
  /** The incident that it ended. Plans, steps and outcomes of its instances belong to that one. */
  incident: IncidentId
  /** ISO, our wall clock. Null: it has not come back yet, as far as is known. */
  backAt: string | null
  /** How many were said to be off. */
  off: number
  /** Nova has had the time to show every guest that is off: nothing new is looked for. */
  known: boolean
  /** A person ordered those that are off to be started. */
  order: { by: string; reason: string } | null
  /** The host failed again, and its next incident is about the same instances; null: it did not. */
  supersededBy: IncidentId | null
}

/** The kinds that begin and end it. */
export const watchedReturnKinds = [
  'incident.opened',
  'incident.closed',
  'instances.watched',
  'operator.start',
] as const satisfies readonly Entry['kind'][]

/**
 * Whether the entry hands the host's instances to an incident of its own. One that only observes can neither move nor start them: they stay where
 * they are known, and so does the order to start them.
 */
export function supersedes(entry: Entry): boolean {
  return entry.kind === 'incident.opened' && entry.data.mode !== 'observe'
}

/** Adds one entry to what is known. */
export function applyToWatched(watched: Map<HostName, WatchedReturn>, entry: Entry): void {
  const { host, incident } = entry
  if (host === null || incident === null) return
  if (entry.kind === 'incident.closed' && entry.data.watched !== undefined) {
    const nothingYet = { off: 0, known: false, order: null, supersededBy: null }
    const backAt = entry.data.watched === true ? entry.at : null
    watched.set(host, { host, incident, backAt, ...nothingYet })
    return
  }
  const known = watched.get(host)
  if (known === undefined) return
  if (supersedes(entry)) watched.set(host, { ...known, supersededBy: known.supersededBy ?? incident })
  if (known.incident !== incident) return
  if (entry.kind === 'instances.watched') {
    const { off, to, backAt } = entry.data
    watched.set(host, { ...known, off, known: to === 'known', backAt: backAt === undefined ? known.backAt : backAt })
  }
  if (entry.kind === 'operator.start') watched.set(host, { ...known, order: entry.data })
}

/**
 * How long after its return Nova may still show a guest as running that is off: nova-compute compares within a minute of its start,
 * and then every ten (sync_power_state_interval). Shorter says that all are well while some are off; longer keeps people waiting.
 */
export const shownWithinMs = 11 * 60_000

/** The least pause between two looks at the host's list, and the longest. Shorter costs Nova requests, longer tells people late. */
const lookAgainMs = 15_000
const rarestLookMs = 3_600_000

/** Until the next look at a host that has been back for so long: rarer and rarer, and one when the time is up. */
export function pauseBeforeLook(backForMs: number): number {
  const pause = Math.min(Math.max(lookAgainMs, backForMs / 2), rarestLookMs)
  return backForMs < shownWithinMs ? Math.min(pause, shownWithinMs - backForMs) : pause
}

/** Codes of instances that are nobody's task any more, or someone else's. */
const finalCodes: ReadonlySet<string> = new Set([
  'STOPPED_BY_OWNER',
  'MOVED_BY_OTHERS',
  'HOST_FAILED_AGAIN',
  'INSTANCE_GONE',
])

/** The instances of the incident that ran before their host came back by itself and do not run now, as far as is known. */
export function offAfterReturn({ instances }: Pick<Incident, 'instances'>): InstanceRecovery[] {
  return [...instances.values()].filter(isOff)
}

function isOff({ plan, outcome }: InstanceRecovery): boolean {
  return plan.rule === afterReturnRule && outcome?.outcome !== 'recovered' && !finalCodes.has(outcome?.code ?? '')
}

/**
 * Whether it was still off when its host failed again. By Nova alone it looks like a guest that had switched itself off long before. Of one whose
 * guest may run elsewhere the incident before knows more.
 */
export function wasOffUntilNextFailure(recovery: InstanceRecovery): boolean {
  const { plan, outcome } = recovery
  if (plan.reason === inDoubtEarlier) return false
  return isOff(recovery) || (plan.rule === afterReturnRule && outcome?.code === 'HOST_FAILED_AGAIN')
}

/** Those of them that Lifeboat starts as soon as it may. */
export function waitingForStart(incident: Pick<Incident, 'instances'>): InstanceRecovery[] {
  return offAfterReturn(incident).filter(
    ({ plan, outcome }) => plan.decision === 'recover' && outcome?.code === plan.reason,
  )
}

/** Whether something is still to be found out or done. An incident that nobody keeps in memory was done with before. */
export function isUnfinished({ known, off, supersededBy }: WatchedReturn, incident: Incident | undefined): boolean {
  if (incident === undefined) return false
  const now = offAfterReturn(incident).length
  return now > 0 || (supersededBy === null && (!known || off !== now))
}

/** Of an instance that is off, but no longer because its host went down. */
export const ranSince = 'someone started it since, and it went off by itself'

/** The rule that stands in the plans of such instances, where a workflow's would. */
export const afterReturnRule = 'after-return'
/** The recipe that starts them. */
export const startRecipe = 'start-where-it-is'

/** Codes that no workflow has. Each with what it means. */
export const afterReturnCodes = {
  OFF_AFTER_RETURN: 'It ran when its host went down. The host came back by itself, and the instance is off',
  [inDoubtEarlier]:
    'It is off, and an earlier incident could not tell whether its guest runs elsewhere: Lifeboat does not start it',
  STARTED_AFTER_RETURN: 'Lifeboat started it after its host had come back by itself',
  STARTED_BY_OTHERS: 'Someone else started it after its host had come back by itself',
  STOPPED_BY_OWNER: 'Its owner stopped it after all: it stays off',
  MOVED_BY_OTHERS: 'Someone else moved it to another host after its own had come back',
  HOST_FAILED_AGAIN: 'Its host failed again before it was started: the next incident is about it',
} as const
