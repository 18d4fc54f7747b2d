/**
 * Adds to a survey what the journal knows of its instances: what earlier incidents did with them, and which of them another incident
 * still works on. Reads Nova only for instances that an earlier incident touched.
 */
import type { CallOptions, Cloud } from '../domain/cloud.ts'
import { cloudTimeMs } from '../domain/cloud-time.ts'
import { guestOrdersSince } from '../domain/earlier-recovery.ts'
import type { IncidentId } from '../domain/entry.ts'
import type { Instance, InstanceAction, InstanceId } from '../domain/instance.ts'
import type { EarlierRecovery, SeenEarlier, Survey } from '../domain/survey.ts'

/** The last recovery of an instance that was begun, by any incident but `except`; null: there was none. */
export type Earlier = (instance: InstanceId, except: IncidentId | null) => EarlierRecovery | null

export interface RecallParts {
  cloud: Cloud
  permissions: { earlier: Earlier }
  /** The incident that the survey is for; null: none. */
  id: IncidentId | null
  signal?: AbortSignal
  /** Missing: as by default. */
  settings?: { longestRequestMs: number }
  /** Awaited between pieces of a large host. */
  pause?: () => Promise<void>
}

/** Instances looked up in the journal in one go: some milliseconds. */
const pieceSize = 50

/** Instances read at once. More would crowd out the evacuations of another host. */
const parallelReads = 8

/**
 * The survey with what is known from before, and without the instances that an open incident of another host still works on: nothing may
 * be done to them beside it. Throws what the cloud throws: without it nobody knows what may be done.
 */
export async function recall(
  taken: Survey,
  { cloud, permissions, id: incident, signal, settings, pause }: RecallParts,
): Promise<Survey> {
  const options = signal === undefined ? {} : { signal }
  const known = new Map<InstanceId, EarlierRecovery>()
  for (const [place, { id }] of taken.instances.entries()) {
    if (place > 0 && place % pieceSize === 0) await pause?.()
    const before = permissions.earlier(id, incident)
    if (before !== null) known.set(id, before)
  }
  if (known.size === 0) return taken
  const seen: Record<InstanceId, SeenEarlier> = {}
  const actions = { ...taken.actions }
  const waiting = [...known].filter(([, { endedAt }]) => endedAt !== null)
  const reader = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [id, before] = next
      const history = await cloud.listActions(id, options)
      actions[id] = history
      const sight = await lookSince(cloud, id, before, history, options)
      seen[id] = settings === undefined ? sight : { ...sight, requestLastsMs: settings.longestRequestMs }
    }
  }
  await Promise.all(Array.from({ length: parallelReads }, reader))
  const instances = taken.instances.filter(({ id }) => known.get(id)?.endedAt !== null)
  return { ...taken, instances, actions, earlier: seen }
}

/** Names of those that an open incident of another host still works on, each with that incident. */
export function workedOnElsewhere(
  { permissions, id }: Pick<RecallParts, 'permissions' | 'id'>,
  instances: readonly Pick<Instance, 'id' | 'name'>[],
): string[] {
  return instances.flatMap(({ id: instance, name }) => {
    const other = permissions.earlier(instance, id)
    return other?.endedAt === null ? [`${name} (${other.incident})`] : []
  })
}

/** What Nova tells of the time since an earlier incident. Reads where that left a doubt alone. */
export async function lookSince(
  cloud: Cloud,
  id: InstanceId,
  before: EarlierRecovery,
  actions: readonly InstanceAction[],
  options: CallOptions,
): Promise<SeenEarlier> {
  if (before.outcome?.outcome !== 'stuck') return { before, evacuations: [], actedOnGuest: false }
  const evacuations = await cloud.listMigrations({ instanceId: id, type: 'evacuation' }, options)
  // What someone ordered before that incident gave up on it may be what it met.
  const later = guestOrdersSince(before, actions).filter(({ startedAt }) => {
    return cloudTimeMs(startedAt) > Date.parse(before.endedAt ?? '')
  })
  for (const { requestId } of later) {
    const { events } = await cloud.getAction(id, requestId, options)
    if (events.some(({ result }) => result === 'Success')) return { before, evacuations, actedOnGuest: true }
  }
  return { before, evacuations, actedOnGuest: false }
}
