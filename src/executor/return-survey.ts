/**
 * What is read of the cloud for a returning host: evacuations that are not complete, Placement's trait, and what stays behind.
 * Reads only.
 */
import type { CallOptions, Cloud } from '../domain/cloud.ts'
import { ensureError } from '../domain/errors.ts'
import type { EvacuationLeft, Leftover, ReturnFacts } from '../domain/host-return.ts'
import type { InstanceRecovery } from '../domain/incident.ts'
import type { Instance, InstanceId, Migration } from '../domain/instance.ts'
import type { HostName } from '../domain/service.ts'

type Evacuations = NonNullable<ReturnFacts['evacuations']>
/** What is needed of an instance of an incident that is over; of the incident, its instances alone. */
export type EndedInstance = Pick<InstanceRecovery, 'outcome' | 'leftovers'> & { plan: { name: string } }
export type EndedIncident = { instances: ReadonlyMap<InstanceId, EndedInstance> }

type NameOf = (id: InstanceId) => string

/** Set by Nova on a disabled host's nodes: the scheduler avoids them whatever the service reads. */
const disabledTrait = 'COMPUTE_STATUS_DISABLED'

/** Statuses of an evacuation that has not ended. */
const flying = ['accepted', 'pre-migrating']

/**
 * The evacuations from a host that Nova has not completed. One that never ended is left out when a later one of the same
 * instance was done: its destination died, and it moves no more (docs/nova.md §2.5).
 */
export async function readEvacuations(
  cloud: Pick<Cloud, 'listMigrations'>,
  host: HostName,
  nameOf: NameOf,
  options?: CallOptions,
): Promise<Evacuations> {
  const listed = (status: string): Promise<Migration[]> =>
    cloud.listMigrations({ sourceHost: host, type: 'evacuation', status }, options)
  // In the order of their life: a record that moves on between two readings is seen twice rather than never.
  const open: Migration[] = []
  for (const status of flying) open.push(...(await listed(status)))
  const done = await listed('done')
  // If a destination died over an evacuation, the next one of that instance started from there.
  const sources = open.length === 0 ? [] : new Set([host, ...open.flatMap(({ destHost }) => destHost ?? [])])
  const ended = new Map<InstanceId, number>()
  for (const sourceHost of sources)
    for (const { instanceId, id, status } of await cloud.listMigrations({ sourceHost, type: 'evacuation' }, options))
      if (status === 'done' || status === 'completed') ended.set(instanceId, Math.max(id, ended.get(instanceId) ?? 0))
  const inFlight = open.filter(({ id, instanceId }) => id > (ended.get(instanceId) ?? 0))
  const left = ({ uuid, instanceId, status }: Migration): EvacuationLeft => ({
    migration: uuid,
    instance: instanceId,
    name: nameOf(instanceId),
    status,
  })
  return { inFlight: inFlight.map(left), done: done.map(left) }
}

/** Whether Placement keeps instances off the host. Null: it could not be read; `onError` is told why. */
export async function readTrait(
  cloud: Pick<Cloud, 'hostTraits'>,
  host: HostName,
  onError: (error: unknown) => void,
  options?: CallOptions,
): Promise<ReturnFacts['trait']> {
  try {
    return (await cloud.hostTraits(host, options)).has(disabledTrait) ? 'set' : 'gone'
  } catch (thrown) {
    onError(thrown)
    return null
  }
}

/**
 * What stays behind when a host returns: leftovers of its incidents, resizes that nobody can confirm any more, and instances that
 * were not recovered and are still there.
 */
export async function readLeftovers(
  cloud: Pick<Cloud, 'listInstances' | 'listMigrations' | 'getInstance'>,
  host: HostName,
  incidents: readonly EndedIncident[],
  options?: CallOptions,
): Promise<Leftover[]> {
  return [
    ...incidents.flatMap(leftoversOf),
    ...(await lostResizes(cloud, host, options)),
    ...stillThere(await cloud.listInstances(host, options), incidents),
  ]
}

function leftoversOf({ instances }: EndedIncident): Leftover[] {
  return [...instances].flatMap(([instance, { leftovers, plan }]) =>
    leftovers.map(({ code, message }) => ({ code, message: `${plan.name}: ${message}`, instance })),
  )
}

/** A `finished` resize whose instance is no longer resized: the next confirm would pick it (docs/nova.md fact 8). */
async function lostResizes(
  cloud: Pick<Cloud, 'listMigrations' | 'getInstance'>,
  host: HostName,
  options?: CallOptions,
): Promise<Leftover[]> {
  const records = await cloud.listMigrations({ host, status: 'finished' }, options)
  const lost: Leftover[] = []
  for (const { type, uuid, instanceId } of records) {
    if (type !== 'resize' && type !== 'migration') continue
    const instance = await findInstance(cloud, instanceId, options)
    if (instance === null || instance.vmState === 'resized') continue
    const message = `${instance.name}: ${type} ${uuid} is still finished, though the instance is ${instance.vmState}; its next resize may be confirmed on the wrong host`
    lost.push({ code: 'LEFTOVER_RESIZE', message, instance: instanceId })
  }
  return lost
}

async function findInstance(
  cloud: Pick<Cloud, 'getInstance'>,
  id: InstanceId,
  options?: CallOptions,
): Promise<Instance | null> {
  try {
    return await cloud.getInstance(id, options)
  } catch (thrown) {
    if (ensureError(thrown).code === 'INSTANCE_GONE') return null
    throw thrown
  }
}

function stillThere(instances: readonly Instance[], incidents: readonly EndedIncident[]): Leftover[] {
  return instances.flatMap(({ id, name, vmState }) => {
    const outcome = incidents
      .map((incident) => incident.instances.get(id)?.outcome)
      .findLast((at) => at !== null && at !== undefined)
    if (outcome === undefined || outcome.outcome === 'recovered') return []
    const message = `${name}: ${vmState}, still here, ${outcome.outcome} (${outcome.code}): ${outcome.message}`
    return [{ code: `INSTANCE_${outcome.outcome.toUpperCase()}`, message, instance: id }]
  })
}
