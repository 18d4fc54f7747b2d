/** What the acts of an incident depend on beside its own record: how its host and the brake stand now. */
import type { BrakeScope } from '../../../domain/brake.ts'
import { failureOf } from '../../../domain/incident.ts'
import type { DaemonStatus, HostDetail } from '../../../domain/operations.ts'
import type { IncidentReview } from '../../../domain/review.ts'
import { paths } from '../../api/paths.ts'
import { useEvery, useResource } from '../../api/resource.ts'

/** Its host moves on without an entry of this incident. Shorter asks more often for what seldom changes. */
const besideMs = 5_000

export interface Beside {
  /** Its host; null: not needed, or not read yet. */
  detail: HostDetail | null
  /** The brake holds it, whatever else it waits for: the daemon takes an override then. */
  brakeHolds: boolean
  /** Of the daemon, which may have changed since the incident began; undefined: not needed, or not read yet. */
  mode: DaemonStatus['mode'] | undefined
}

export function useBeside(review: IncidentReview): Beside {
  const { ended, host, process, held, hostReturn } = review
  // A host that may beat: no word of its death is taken then.
  const mayBeat = process !== null || held?.code === 'HOST_ALIVE'
  const asksOfHost = ended === null ? mayBeat : hostReturn !== null
  const detail = useResource<HostDetail>(asksOfHost ? paths.host(host) : null)
  useEvery(besideMs, detail.reload)
  // An incident names one thing that holds it at most: not the brake while it is fenced, nor under a pause or a freeze.
  const asksOfBrake = isBeforeProof(review) && held?.code !== 'BRAKE'
  const asksOfMode = ended === null && process !== null
  const status = useResource<DaemonStatus>(asksOfBrake || asksOfMode ? paths.status : null)
  useEvery(besideMs, status.reload)
  const isTripped = status.value?.brake.some((scope) => trips(scope, review)) === true
  return { detail: detail.value, brakeHolds: held?.code === 'BRAKE' || isTripped, mode: status.value?.mode }
}

/** From the proof of death on the brake holds nothing, and one that a person let past is held no more. */
function isBeforeProof(review: IncidentReview): boolean {
  return failureOf(review) === 'host' && review.ended === null && review.proof === null && review.override === null
}

function trips({ scope, kind, hosts, trippedSince }: BrakeScope, { host, segment }: IncidentReview): boolean {
  if (trippedSince === null) return false
  return kind === 'cloud' || scope === `segment:${segment}` || hosts.includes(host)
}
