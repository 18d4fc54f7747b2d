/**
 * Takes the survey of a dead host: every instance, and what decides about it. Reads only; runs while the host is still
 * being fenced, so that the first evacuation need not wait for it.
 */
import type { CallOptions, Cloud } from '../domain/cloud.ts'
import { errorRecord, LifeboatError } from '../domain/errors.ts'
import type { Instance, InstanceAction, InstanceId, Volume } from '../domain/instance.ts'
import type { HostName, ServiceRecord, ServicesReading } from '../domain/service.ts'
import type { Survey } from '../domain/survey.ts'

/** What a person does about a host whose nova-compute Nova lists no more. */
export const serviceGone =
  'If its service was deleted for good (openstack compute service list does not show it), cancel the incident'

/** Instance histories read at once. More would crowd out the evacuations of another host. */
const parallelReads = 8

export interface SurveyTaken {
  survey: Survey
  /** The API's own clock, ms since the epoch. */
  cloudTimeMs: number
}

/**
 * Surveys `host`. Throws when instances, migrations or services cannot be read: without them nothing can be decided.
 * Everything else that cannot be read is named in `missing`.
 */
export async function takeSurvey(
  cloud: Cloud,
  host: string,
  wall: () => number,
  options: CallOptions = {},
): Promise<SurveyTaken> {
  const missing: Record<string, string> = {}
  const optional = async <T>(part: string, read: Promise<T>, none: T): Promise<T> => {
    try {
      return await read
    } catch (error) {
      // Cut off by a stop: it is no fact about the cloud, and a plan that is made of it would be in force after the restart.
      if (options.signal?.aborted === true) throw error
      missing[part] = errorRecord(error).message
      return none
    }
  }
  const [capabilities, instances, here, finished, accepted, services, serverGroups, aggregates] = await Promise.all([
    cloud.capabilities(options),
    cloud.listInstances(host, options),
    cloud.listMigrations({ host }, options),
    // Leftovers between other hosts mislead Nova as much as those of this one (docs/nova.md facts 8 and §2.2).
    cloud.listMigrations({ status: 'finished' }, options),
    cloud.listMigrations({ status: 'accepted' }, options),
    cloud.listServices(options),
    optional('serverGroups', cloud.listServerGroups(options), []),
    optional('aggregates', cloud.listAggregates(options), []),
  ])
  const own = new Set(instances.map(({ id }) => id))
  const elsewhere = [...finished, ...accepted].filter(({ instanceId }) => own.has(instanceId))
  const migrations = [...new Map([...elsewhere, ...here].map((record) => [record.uuid, record])).values()]
  const volumeIds = [...new Set(instances.flatMap((instance) => instance.volumeIds))]
  const [volumes, actions] = await Promise.all([
    optional('volumes', cloud.getVolumes(volumeIds, options), new Map<string, Volume>()),
    optional('actions', readActions(cloud, instances.filter(needsHistory), options), {}),
  ])
  const encryptedProjects = new Set(
    instances
      // A volume that could not be read may be encrypted too.
      .filter((instance) => instance.volumeIds.some((id) => volumes.get(id)?.encrypted !== false))
      .map((instance) => instance.projectId),
  )
  const mayActFor: Record<string, boolean> = {}
  for (const project of encryptedProjects)
    mayActFor[project] = await optional(`mayActFor ${project}`, cloud.mayActFor(project, options), false)
  const survey: Survey = {
    host,
    takenAt: new Date(wall()).toISOString(),
    capabilities,
    instances,
    migrations,
    services: services.services,
    serverGroups,
    aggregates,
    volumes: Object.fromEntries(volumes),
    actions,
    mayActFor,
    missing,
  }
  return { survey, cloudTimeMs: services.serverTimeMs ?? wall() }
}

/**
 * Of a cell that it cannot reach Nova lists nothing, without a word (docs/nova.md §1.3): an instance that is missing there for
 * this reason would end without a line (law L9).
 *
 * @throws LifeboatError API_UNAVAILABLE while the host's cell cannot be reached; NOT_FOUND where its nova-compute is not listed,
 *   which older Novas do with such a cell
 */
export function requireCell(services: readonly ServiceRecord[], host: HostName): void {
  const row = services.find((service) => service.binary === 'nova-compute' && service.host === host)
  if (row === undefined)
    throw new LifeboatError(
      'NOT_FOUND',
      `Nova lists no nova-compute on ${host} any more, so nobody knows whether it lists all instances there. ${serviceGone}`,
    )
  if (row.status === 'unknown')
    throw new LifeboatError('API_UNAVAILABLE', `the cell of ${host} does not answer: Nova lists no instance of it`, {
      retry: 'after',
    })
}

/**
 * Somebody deleted the record of the host's nova-compute. Nova allows that only while no instance is on the host and no move
 * of one is under way (docs/nova.md §1.2): whatever is not listed there is not there. Never so while the row may be missing
 * for another reason: some cell does not answer, or Nova is too old to say so.
 */
export function isRemoved({ services, showsLostCells }: ServicesReading, host: HostName): boolean {
  const computes = services.filter(({ binary }) => binary === 'nova-compute')
  return showsLostCells && computes.length > 0 && computes.every((row) => row.host !== host && row.status !== 'unknown')
}

/** Whether the owner's wish can only be told from the history: who stopped it, and what it was before a resize. */
function needsHistory(instance: Instance): boolean {
  return instance.vmState !== 'active' || instance.taskState !== null
}

async function readActions(
  cloud: Cloud,
  instances: Instance[],
  options: CallOptions,
): Promise<Record<InstanceId, InstanceAction[]>> {
  const actions: Record<InstanceId, InstanceAction[]> = {}
  const waiting = [...instances]
  const reader = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
      actions[next.id] = await cloud.listActions(next.id, options)
  }
  await Promise.all(Array.from({ length: parallelReads }, reader))
  return actions
}
