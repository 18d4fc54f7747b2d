/** Where several daemons share a journal: that this one stands by, and which one acts, or that none does. Nothing on a daemon that acts. */
import { useCallback } from 'preact/hooks'
import type { DaemonStatus } from '../../domain/operations.ts'
import { paths } from '../api/paths.ts'
import { useEvery, useResource } from '../api/resource.ts'

const lookEveryMs = 5_000

export function StandbyBar() {
  const { value, reload } = useResource<DaemonStatus>(paths.status)
  const tenure = value?.tenure ?? null
  const isShared = tenure !== null
  useEvery(
    lookEveryMs,
    useCallback(() => {
      if (isShared) reload()
    }, [isShared, reload]),
  )
  if (tenure === null || tenure.state === 'active') return null
  const { name, active, state } = tenure
  const waits = state === 'suspended' ? 'the shared journal does not confirm what it records' : tenure.waits
  if (active === null || active.name === name)
    return (
      <div class="notice bad" role="status">
        <strong>No daemon is active: nothing is recovered now</strong>
        <p>
          {name} does not act{waits !== null && `: ${waits}`}.
        </p>
      </div>
    )
  return (
    <div class="notice plain" role="status">
      <strong>{name} stands by</strong>
      <p>
        These pages only read. {active.address === '' ? active.name : <a href={active.address}>{active.name}</a>} is
        active: act there.
      </p>
    </div>
  )
}
