/** What the acts of an incident depend on beside its own record: how its host stands now. */
import type { HostDetail } from '../../../domain/operations.ts'
import type { IncidentReview } from '../../../domain/review.ts'
import { paths } from '../../api/paths.ts'
import { useEvery, useResource } from '../../api/resource.ts'

/** Its host moves on without an entry of this incident. Shorter asks more often for what seldom changes. */
const besideMs = 5_000

export interface Beside {
  /** Its host; null: not needed, or not read yet. */
  detail: HostDetail | null
}

export function useBeside({ ended, host, process, held, hostReturn }: IncidentReview): Beside {
  // A host that may beat: no word of its death is taken then.
  const mayBeat = process !== null || held?.code === 'HOST_ALIVE'
  const asks = ended === null ? mayBeat : hostReturn !== null
  const detail = useResource<HostDetail>(asks ? paths.host(host) : null)
  useEvery(besideMs, detail.reload)
  return { detail: detail.value }
}
