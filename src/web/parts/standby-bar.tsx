/**
 * Where several daemons share a journal: that this one stands by, and which one acts, or that none does; and that another one has its name. Nothing
 * else on a daemon that acts.
 */
import { useCallback } from 'preact/hooks'
import type { DaemonStatus } from '../../domain/operations.ts'
import { actsElsewhere, nameTaken, type TenureView } from '../../domain/tenure.ts'
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
  if (tenure === null) return null
  const { namesake } = tenure
  return (
    <>
      {namesake !== null && (
        <div class="notice bad" role="status">
          <strong>Two daemons are called {namesake.name}</strong>
          <p>{nameTaken(namesake)}.</p>
        </div>
      )}
      <WhoActs tenure={tenure} />
    </>
  )
}

function WhoActs({ tenure }: { tenure: TenureView }) {
  const { name, state } = tenure
  if (state === 'active') return null
  const waits = state === 'suspended' ? 'the shared journal does not confirm what it records' : tenure.waits
  const other = actsElsewhere(tenure)
  if (other === null)
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
        These pages only read. {other.address === '' ? other.name : <a href={other.address}>{other.name}</a>} is active:
        act there.
      </p>
    </div>
  )
}
