/**
 * What an incident that is over did not bring back and a new one on the same host would, and whether a person may order that now. Reads
 * the journal and the monitor, changes nothing; what Nova shows by then is the new incident's survey's to find out.
 */
import { inDoubtEarlier } from '../domain/earlier-recovery.ts'
import type { IncidentId } from '../domain/entry.ts'
import type { Incident, InstanceRecovery } from '../domain/incident.ts'
import type { TryAgain } from '../domain/operations.ts'
import type { EarlierRecovery } from '../domain/survey.ts'
import type { IncidentLine } from '../journal/listing.ts'
import type { Monitor } from '../monitor/monitor.ts'
import type { IncidentStore } from '../control/incident-store.ts'
import type { ReviewedJournal } from '../review/incident-listing.ts'
import type { Verdict } from '../domain/verdict.ts'
import { refusalOfLiving, whyOld } from './living-host.ts'
import { namedDestinations, unknownEvacuation, unsettled } from '../engine/recall.ts'

/** What is known beside the incident itself. */
export interface AgainFacts {
  /** The newest incident of the host that is open or says what became of its instances. */
  newest: { id: IncidentId; isOpen: boolean } | null
  verdict: Verdict | undefined
  /** Why that may be old, or null. */
  old: string | null
  /** What Lifeboat set on the host still stands. */
  hasOurFlags: boolean
  /** Methods by which the host's segment fences. */
  fencing: readonly string[]
  mode: 'observe' | 'armed'
  /** The last recovery of an instance that was begun. */
  earlier: (instance: string) => EarlierRecovery | null
}

export interface AgainParts {
  journal: Pick<ReviewedJournal, 'incidents'>
  store: Pick<IncidentStore, 'hasOurFlags'>
  monitor: Pick<Monitor, 'verdict' | 'segment' | 'frozen' | 'lastPoll'>
  mode: () => 'observe' | 'armed'
  earlier: (instance: string, except: IncidentId | null) => EarlierRecovery | null
}

/** As it stands now. */
export function againFacts(host: string, { journal, store, monitor, mode, earlier }: AgainParts): AgainFacts {
  const newest = journal.incidents({ host, limit: lookedThrough }).find(isAboutInstances)
  return {
    newest: newest === undefined ? null : { id: newest.id, isOpen: newest.closedAt === null },
    verdict: monitor.verdict(host),
    old: whyOld(monitor),
    hasOurFlags: store.hasOurFlags(host),
    fencing: monitor.segment(host).fencing,
    mode: mode(),
    earlier: (instance) => earlier(instance, null),
  }
}

/** Incidents of a host that are looked through. Fewer than those that a person cancelled in a row: what could be tried is not offered. */
const lookedThrough = 20

/** One that ended before anything was planned says nothing of what the one before it left. */
function isAboutInstances({ closedAt, outcome, instances }: IncidentLine): boolean {
  if (closedAt === null || outcome === 'done') return true
  return outcome !== 'observed' && Object.values(instances).some((count) => count > 0)
}

/** Null while the incident is open, and where nothing is left to try. Pure but for `earlier`. */
export function tryAgainOf(incident: Incident, facts: AgainFacts): TryAgain | null {
  if (incident.closed === null || incident.mode === 'observe') return null
  const instances: string[] = []
  const unsure: string[] = []
  for (const [id, recovery] of incident.instances) {
    const end = endOf(incident, recovery, facts)
    if (end !== null) (end === 'again' ? instances : unsure).push(id)
  }
  if (instances.length + unsure.length === 0) return null
  const { newest } = facts
  return {
    instances,
    unsure,
    needsStatement: needsStatement(incident, facts),
    later: newest === null || newest.id === incident.id ? null : newest.id,
    refused: refusalOf(incident, facts),
  }
}

function endOf(incident: Incident, recovery: InstanceRecovery, { earlier }: AgainFacts): 'again' | 'unsure' | null {
  const { plan, outcome } = recovery
  if (outcome === null || outcome.outcome === 'recovered') return null
  // It arrived somewhere, whatever was not right with it there: nothing of it is on this host.
  const host = outcome.after?.host ?? incident.host
  if (host !== incident.host) return null
  const mayRun = unknownEvacuation({ outcome, steps: [...recovery.steps.values()] }) !== null
  // One that is off after its host's return is left: an incident would evacuate a host that lives.
  const isHeldFor = plan.decision === 'hold' && plan.reason === inDoubtEarlier
  if (mayRun || isHeldFor) return isKnown(incident, earlier(plan.instanceId)) ? 'again' : 'unsure'
  // By its rule it is left or held: it would be again.
  if (plan.decision !== 'recover') return null
  return outcome.outcome !== 'left' || outcome.code === 'CANCELLED' ? 'again' : null
}

/** Each host to which it may have gone is the one that is dead, or was proven dead since. Nova may know more. */
function isKnown({ host }: Incident, earlier: EarlierRecovery | null): boolean {
  if (earlier === null || earlier.endedAt === null) return false
  const error = unknownEvacuation(earlier)
  if (error === null) return true
  const named = namedDestinations(error)
  const { migrations } = error.details
  // Of a crossing order Nova had not named the host.
  const isOneUnknown = Array.isArray(migrations) && migrations.length > named.length
  return named.length > 0 && !isOneUnknown && unsettled(named, host, earlier).length === 0
}

/** What a machine proved, a machine can prove again, as long as what was set then still stands. A person's word is of its time. */
function needsStatement({ proof }: Incident, { hasOurFlags, fencing }: AgainFacts): boolean {
  return proof === null || proof.strength === 'statement' || !hasOurFlags || fencing.length === 0
}

function refusalOf({ id, host }: Incident, { newest, verdict, old, mode }: AgainFacts): TryAgain['refused'] {
  if (newest !== null && newest.isOpen) return { code: 'INCIDENT_OPEN', message: isOpenSentence(newest.id, host) }
  if (newest !== null && newest.id !== id)
    return { code: 'NOTHING_TO_TRY', message: `Incident ${newest.id} of ${host} came later: try again from there` }
  if (verdict === undefined) return { code: 'NOT_FOUND', message: `Nova shows no nova-compute on ${host}` }
  const living = refusalOfLiving(host, verdict, old)
  if (living !== null) return living
  if (mode === 'observe') return { code: 'OBSERVING', message: 'The daemon only observes: nothing would be sent' }
  return null
}

export function isOpenSentence(id: IncidentId, host: string): string {
  return `Incident ${id} of ${host} is open; wait until it is over`
}
