/**
 * Whether someone else's evacuation was carried out beside ours. Nova takes both, and the record of the later one may name as its source the
 * host that the earlier one has brought the instance to (docs/nova.md §8): no listing of the dead host's evacuations shows that one. The
 * instance's history shows both, and which hosts took them. Reads only.
 */
import { LifeboatError } from '../../domain/errors.ts'
import type { StepRecord } from '../../domain/incident.ts'
import type { InstanceAction } from '../../domain/instance.ts'
import type { HostName } from '../../domain/service.ts'
import { orderedSince } from '../power-order.ts'
import { pause, retryRead } from '../retry.ts'
import type { StepScene } from '../step-driver.ts'
import { beforeOf } from './evacuation-records.ts'
import { isRebuilding, mayHaveLeft } from './recheck.ts'

/**
 * How long both orders may take to come to their end once one has. Shorter names no host where a slow conductor is about to choose one; longer
 * delays the word that its guest may run twice.
 */
const mustEndWithinMs = 60_000

/**
 * The evacuations that are none of ours, since the last look before our first one.
 * @param others what of the instance's history has none of the request ids that we know as ours
 */
export function evacuationsOfOthers(
  { recovery }: Pick<StepScene, 'recovery'>,
  since: string,
  others: readonly InstanceAction[],
): InstanceAction[] {
  const found = orderedSince(since, others).filter(({ action }) => action === 'evacuate')
  // An order whose answer was lost has no id on record: as many of these may be ours.
  const unknown = mayHaveLeft(recovery).filter(({ requestId }) => requestId === null).length
  return found.length > unknown ? found : []
}

/**
 * @param others evacuations by others, from the history that was read once a host had taken ours
 * @throws LifeboatError GUEST_ON_DESTINATION where a host that may live has taken one of them, or ours, and the instance is on another by now
 */
export async function refuseTwo(
  scene: StepScene,
  record: StepRecord<'evacuate'>,
  others: readonly InstanceAction[],
): Promise<void> {
  if (others.length === 0) return
  const { run } = scene
  const requests = [record, ...others].flatMap(({ requestId }) => requestId ?? [])
  const { hosts: taken, at } = await atTheirEnd(scene, requests)
  const elsewhere = taken.filter(
    (host) => host === null || (host !== at && host !== run.host && !run.permissions.isFenced(host)),
  )
  if (elsewhere.length === 0) return
  const destinations = [at, ...elsewhere].filter((host) => host !== null)
  const hosts = [at, ...elsewhere].map((host) => host ?? 'an unknown host')
  throw new LifeboatError(
    'GUEST_ON_DESTINATION',
    `someone else ordered an evacuation of it right before ours reached Nova, which took both: the guest may be running on ${hosts.join(' and on ')}`,
    {
      certainty: 'unknown',
      details: {
        migrations: scene.watch
          .evacuations(scene.plan.instanceId)
          .map(({ uuid }) => uuid)
          .filter((uuid) => !beforeOf(record).spentEvacuations.includes(uuid)),
        destinations,
      },
    },
  )
}

/** Which hosts took these orders, null for one that Nova does not show, and where the instance is once both have ended. */
async function atTheirEnd(
  { run, watch, plan, signal }: StepScene,
  requests: readonly string[],
): Promise<{ hosts: (HostName | null)[]; at: HostName | null }> {
  const until = run.clock.now() + mustEndWithinMs
  for (;;) {
    const hosts: (HostName | null)[] = []
    for (const requestId of requests) hosts.push(...(await hostsOf({ run, plan, signal }, requestId)))
    const instance = await retryRead(run.clock, signal, () => watch.read(plan.instanceId))
    const haveEnded = !hosts.includes(null) && !isRebuilding(instance)
    if (haveEnded || run.clock.now() >= until) return { hosts: [...new Set(hosts)], at: instance.host }
    await pause(run.clock, run.settings.tickMs, signal)
  }
}

/** The hosts that took an order. None where it failed before any did; null where that is still to be seen. */
async function hostsOf(
  { run, plan, signal }: Pick<StepScene, 'run' | 'plan' | 'signal'>,
  requestId: string,
): Promise<(HostName | null)[]> {
  const { events } = await retryRead(run.clock, signal, () =>
    run.cloud.getAction(plan.instanceId, requestId, { signal }),
  )
  const taken = events.flatMap(({ event, host }) => (event === 'compute_rebuild_instance' ? [host] : []))
  if (taken.length > 0) return taken
  return events.some(({ event, result }) => event === 'rebuild_server' && result === 'Error') ? [] : [null]
}
