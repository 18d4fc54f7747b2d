/**
 * COMPUTE_STATUS_DISABLED in Placement. Nova's PUT of a status asks a living nova-compute to set or remove it at once; for
 * one that is down the call is skipped, and the trait follows with the next periodic of a nova-compute that runs
 * (docs/nova.md §1.2). Until then the scheduler avoids a host that reads enabled.
 */
import type { SimHost } from './model.ts'
import type { World } from './world.ts'

/** nova-compute's update_available_resource. Longer would only make a freshly enabled host unused for longer. */
const periodicMs = 60_000

/** After a PUT: with the host up the trait follows at once. */
export function followStatus(world: World, host: SimHost): void {
  if (host.agent && world.isUp(host.service)) host.disabledTrait = host.service.status === 'disabled'
}

/** Whether the trait is set now; a periodic that was due has run. */
export function hasDisabledTrait(world: World, host: SimHost): boolean {
  const since = Math.max(host.service.lastWrite, host.service.beatingSince ?? Infinity)
  if (host.agent && world.wall() - since >= periodicMs) host.disabledTrait = host.service.status === 'disabled'
  return host.disabledTrait
}
