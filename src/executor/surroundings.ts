/**
 * What the plan needs besides the instances' own rows and seldom changes: volumes, histories, groups, leftover migrations. It is
 * read ahead while the host is being fenced, and used for each row that has not changed since. Reads only.
 */
import type { CallOptions, Cloud } from '../domain/cloud.ts'
import { errorRecord } from '../domain/errors.ts'
import type { Instance, InstanceAction, InstanceId, Migration, Volume } from '../domain/instance.ts'
import type { Survey } from '../domain/survey.ts'

/** Instance histories read at once. More would crowd out the evacuations of another host. */
const parallelReads = 8

export interface Surroundings extends Pick<
  Survey,
  'capabilities' | 'serverGroups' | 'aggregates' | 'volumes' | 'actions' | 'mayActFor' | 'missing'
> {
  /** The rows that the rest was read for. */
  rows: ReadonlyMap<InstanceId, Instance>
  /** Migrations of the whole cloud that wait for a confirmation, or never got further than `accepted`. */
  leftovers: Migration[]
}

/**
 * Throws when capabilities, instances or migrations cannot be read. Everything else that cannot be read is named in `missing`.
 *
 * @param ahead what was read before; whatever it lacks, or has of a row that changed since, is read again
 */
export async function readSurroundings(
  cloud: Cloud,
  listing: Promise<Instance[]>,
  options: CallOptions,
  ahead: Surroundings | null,
): Promise<Surroundings> {
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
  // Something could not be read then: all of it is read again, as if nothing had been.
  const known = ahead !== null && Object.keys(ahead.missing).length === 0 ? ahead : null
  const [capabilities, instances, early, serverGroups, aggregates] = await Promise.all([
    known?.capabilities ?? cloud.capabilities(options),
    listing,
    known?.leftovers ?? readLeftovers(cloud, listing, options),
    known?.serverGroups ?? optional('serverGroups', cloud.listServerGroups(options), []),
    known?.aggregates ?? optional('aggregates', cloud.listAggregates(options), []),
  ])
  const same = new Set(
    instances.filter((instance) => isSame(known?.rows.get(instance.id), instance)).map(({ id }) => id),
  )
  const changed = instances.filter(({ id }) => !same.has(id))
  const histories = instances.filter(needsHistory)
  // What could not be read of one volume may be told now.
  const isKnown = (id: string): boolean => known !== null && Object.hasOwn(known.volumes, id)
  const volumeIds = [
    ...new Set(instances.flatMap((one) => one.volumeIds.filter((id) => !same.has(one.id) || !isKnown(id)))),
  ]
  const [leftovers, volumes, actions] = await Promise.all([
    known !== null && changed.length > 0 ? readLeftovers(cloud, listing, options) : early,
    volumeIds.length === 0
      ? new Map<string, Volume>()
      : optional('volumes', cloud.getVolumes(volumeIds, options), new Map<string, Volume>()),
    optional(
      'actions',
      readActions(
        cloud,
        histories.filter(({ id }) => !same.has(id)),
        options,
      ),
      {},
    ),
  ])
  const found: Surroundings = {
    rows: new Map(instances.map((instance) => [instance.id, instance])),
    capabilities,
    leftovers,
    serverGroups,
    aggregates,
    volumes: { ...known?.volumes, ...Object.fromEntries(volumes) },
    actions: { ...actionsOf(histories, same, known), ...actions },
    mayActFor: {},
    missing,
  }
  for (const project of encryptedProjects(instances, found.volumes))
    found.mayActFor[project] =
      known?.mayActFor[project] ?? (await optional(`mayActFor ${project}`, cloud.mayActFor(project, options), false))
  return found
}

/** Whether the row still says what it said: nobody has ordered or changed anything that the rest would tell of. */
function isSame(before: Instance | undefined, now: Instance): boolean {
  if (before === undefined) return false
  return (
    before.updatedAt === now.updatedAt &&
    before.taskState === now.taskState &&
    before.vmState === now.vmState &&
    before.powerState === now.powerState &&
    before.volumeIds.join() === now.volumeIds.join()
  )
}

/** Leftovers between other hosts mislead Nova as much as those of this one (docs/nova.md facts 8 and §2.2). */
async function readLeftovers(cloud: Cloud, listing: Promise<Instance[]>, options: CallOptions): Promise<Migration[]> {
  const finished = async (): Promise<Migration[]> => {
    // They mislead a confirmation, and only what is resized is confirmed.
    const isAsked = (await listing).some(({ vmState }) => vmState === 'resized')
    return isAsked ? cloud.listMigrations({ status: 'finished' }, options) : []
  }
  const read = await Promise.all([finished(), cloud.listMigrations({ status: 'accepted' }, options)])
  return read.flat()
}

/** Projects with encrypted volumes here. A volume that could not be read may be encrypted too. */
function encryptedProjects(instances: Instance[], volumes: Record<string, Volume>): Set<string> {
  const encrypted = instances.filter(({ volumeIds }) => volumeIds.some((id) => volumes[id]?.encrypted !== false))
  return new Set(encrypted.map(({ projectId }) => projectId))
}

/** Whether what the owner wants can only be told from the history: who stopped it, and what it was before a resize. */
function needsHistory(instance: Instance): boolean {
  return instance.vmState !== 'active' || instance.taskState !== null
}

function actionsOf(
  instances: Instance[],
  same: ReadonlySet<InstanceId>,
  known: Surroundings | null,
): Record<InstanceId, InstanceAction[]> {
  return Object.fromEntries(
    instances.flatMap(({ id }) => {
      const actions = same.has(id) ? known?.actions[id] : undefined
      return actions === undefined ? [] : [[id, actions]]
    }),
  )
}

/** The histories of these instances. Throws when one of them cannot be read. */
export async function readActions(
  cloud: Pick<Cloud, 'listActions'>,
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
