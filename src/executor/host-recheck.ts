/**
 * What one more look at a host says, right before something is done to it. Pure: the one place that decides whether what was seen lets an
 * incident go on towards fencing, has it wait, or ends it because the host is back.
 */
import type { HoldCode, IncidentPhase } from '../domain/incident-phases.ts'
import { isUnread, type Verdict, type VerdictKind } from '../domain/verdict.ts'
import { serviceGone } from './survey.ts'

export interface RecheckFacts {
  verdict: Verdict
  /** Why verdicts are frozen, or null. */
  frozen: string | null
  /** Why a silent nova-compute on a living host proves nothing yet, or null. */
  quiet: string | null
  phase: IncidentPhase
  /** The heartbeat stamp of the verdict that opened the incident, or null. */
  recordedStamp: string | null
  /** A person attested that the host is dead. */
  stated: boolean
  /** They did so since it is held because someone keeps the host out. */
  statedSince: boolean
  /** The segment recovers hosts that someone else forced down. */
  recoversDeclared: boolean
  /** The segment fences hosts that live but whose nova-compute is silent. */
  fencesIsolated: boolean
}

export type Seen =
  /** Nothing speaks for life: a proof may be made, a person's word included. */
  | { seen: 'dead' }
  /** It lives and is cut off: only a fence that is verified proves anything. */
  | { seen: 'isolated' }
  /** It is back: nothing is to be done. */
  | { seen: 'returned'; message: string }
  /** Look again. */
  | {
      seen: 'unclear'
      /** Null: wait without a hold. */
      hold: HoldCode | null
      message: string
    }

/** `recovering` is our own forced_down. */
const dead = new Set<VerdictKind>(['host-down', 'declared-down', 'recovering'])

/**
 * After a restart the monitor has not watched long enough to say "dead" itself: then the heartbeat stamp of the recorded
 * verdict, unmoved, says it. It does so even while the control plane is in doubt: doubt only blocks new conclusions, and this death was
 * concluded before. A person's attestation weighs no more than a stamp that moved after it: the host may have been
 * repaired while the daemon was down.
 */
export function judgeRecheck(facts: RecheckFacts): Seen {
  const { verdict, frozen } = facts
  if (frozen !== null) return { seen: 'unclear', hold: 'FROZEN', message: frozen }
  // What is known of it is what was read before: it may live by now, and no stamp would show it.
  if (isUnread(verdict)) return unread(verdict)
  if (verdict.kind === 'healthy') return { seen: 'returned', message: verdict.message }
  const witness = verdict.evidence.probes.some((reading) => reading.answer === 'alive')
  // Anyone who forced it down while we had done nothing yet may be at work on it: the segment says whose it is.
  if (verdict.kind === 'declared-down' && !facts.recoversDeclared && !facts.stated)
    return { seen: 'unclear', hold: 'MAINTENANCE', message: verdict.message }
  // Someone's forced_down says nothing about the host itself: a witness that finds it alive weighs as much as without it.
  if (dead.has(verdict.kind) && !witness) return { seen: 'dead' }
  // A beating nova-compute is never fenced, whatever the segment says.
  if (verdict.kind === 'contradiction') return { seen: 'unclear', hold: 'HOST_ALIVE', message: verdict.message }
  if (verdict.kind === 'service-down' || dead.has(verdict.kind)) {
    if (!facts.fencesIsolated || verdict.evidence.state !== 'down')
      return { seen: 'unclear', hold: 'HOST_ALIVE', message: verdict.message }
    return facts.quiet === null ? { seen: 'isolated' } : { seen: 'unclear', hold: 'FROZEN', message: facts.quiet }
  }
  // Disabled by a person since, and silent: their PUT moved the stamp, so it says nothing. Only a person goes on from here.
  if (verdict.kind === 'maintenance')
    return facts.stated && !witness
      ? { seen: 'dead' }
      : { seen: 'unclear', hold: 'MAINTENANCE', message: verdict.message }
  // Without a recorded stamp nothing speaks against what a person stated, or what was confirmed before.
  const unmoved =
    facts.recordedStamp === null
      ? facts.stated || facts.phase === 'fencing'
      : facts.recordedStamp === verdict.evidence.updatedAt
  if (unmoved && !witness) return { seen: 'dead' }
  // Forced down by a person before this run, while the incident waited: their PUT moved the stamp, and it stays so until they take that back. An
  // older word does not count: the host may have been repaired meanwhile.
  if (verdict.kind === 'forced-down-before')
    return facts.statedSince && !witness
      ? { seen: 'dead' }
      : { seen: 'unclear', hold: 'MAINTENANCE', message: verdict.message }
  return { seen: 'unclear', hold: null, message: verdict.message }
}

/** A cell that cannot be reached comes back by itself; a service that is gone was taken away by someone. */
function unread({ reason, message }: Verdict): Seen {
  if (reason === 'CELL_UNREACHABLE') return { seen: 'unclear', hold: 'CLOUD_UNAVAILABLE', message }
  return {
    seen: 'unclear',
    hold: 'NOVA_REFUSED',
    message: `${message}: nothing can be recovered from it. ${serviceGone}`,
  }
}
