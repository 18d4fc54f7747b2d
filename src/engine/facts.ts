/**
 * Facts: what a workflow's conditions may ask about one instance. Pure; computed from the survey and the segment.
 *
 * What the survey could not read is taken in the careful way: unread volumes count as encrypted, an unread history as a
 * disagreement. `declarations` and the values below must name the same facts; the type checks that.
 */
import type { Instance, Migration } from '../domain/instance.ts'
import type { Segment } from '../domain/segment.ts'
import { memoryStateBefore } from '../domain/power-history.ts'
import type { InitialState, Survey } from '../domain/survey.ts'
import type { Declarations } from './conditions.ts'
import { finishedResizes, hostUp } from './initial-state.ts'
import type { OwnerPolicy } from './owner-policy.ts'

/** Of an instance, whatever failed. */
export const instanceDeclarations = {
  id: 'string',
  name: 'string',
  project: 'string',
  flavor: 'string',
  availability_zone: 'string',
  vm_state: 'string',
  task_state: 'string',
  power_state: 'int',
  locked: 'bool',
  launched: 'bool',
  volume_backed: 'bool',
  volumes: 'int',
  metadata: 'map<string, string>',
  tags: 'list<string>',
  extra_specs: 'map<string, string>',
  fault: 'string',
} as const satisfies Declarations[string]

/** Group -> fact -> CEL type. recovery-workflows/README.md says what each means; a test compares the two. */
export const declarations = {
  instance: {
    ...instanceDeclarations,
    local_disk: 'bool',
    local_extra: 'bool',
    encrypted: 'bool',
    encryption_unknown: 'bool',
    encrypted_key_available: 'bool',
    vtpm: 'bool',
    accelerators: 'bool',
    user_rebuild: 'bool',
    group_policy: 'string',
  },
  original: { wanted: 'string', because: 'string', flagged: 'bool', locked: 'bool', memory_lost: 'string' },
  resize: {
    pending: 'bool',
    known: 'bool',
    source: 'string',
    source_up: 'bool',
    same_host: 'bool',
    type: 'string',
    stale_records: 'int',
  },
  migration: {
    live: 'bool',
    status: 'string',
    destination: 'string',
    destination_up: 'bool',
    leftover_accepted: 'bool',
  },
  evacuation: { under_way: 'bool', destination: 'string' },
  /** The owner policy, by the name that workflows were written with. */
  wish: { value: 'string', from: 'string', priority: 'int' },
  policy: { stopped: 'string', error_before: 'string', memory_lost: 'string', unasked: 'string' },
  segment: { name: 'string', storage: 'string' },
  cloud: { lands_stopped: 'bool' },
} as const satisfies Declarations

type ValueOf<T> = T extends 'string'
  ? string
  : T extends 'bool'
    ? boolean
    : T extends 'int'
      ? number
      : T extends 'list<string>'
        ? string[]
        : Record<string, string>

/** The facts that are declared so. */
export type FactsOf<D extends Declarations> = { [G in keyof D]: { [F in keyof D[G]]: ValueOf<D[G][F]> } }

export type Facts = FactsOf<typeof declarations>

/** Live migrations that are not at their end. */
const liveUnderWay = new Set(['accepted', 'queued', 'preparing', 'running', 'running (post-copy)', 'post-migrating'])

/** Moves whose instance is where they took it. */
const arrived = new Set(['done', 'completed', 'finished', 'confirmed'])

/** The facts of one instance. */
export function factsOf(
  instance: Instance,
  original: InitialState,
  ownerPolicy: OwnerPolicy,
  survey: Survey,
  segment: Segment,
): Facts {
  const { policy } = segment
  return {
    instance: instanceFacts(instance, survey, segment),
    original: {
      wanted: original.wanted,
      because: original.wantedBecause,
      flagged: original.flagged,
      locked: original.locked,
      memory_lost: memoryLost(instance, survey),
    },
    resize: resizeFacts(instance, original, survey),
    ...migrationFacts(instance, survey),
    wish: { value: ownerPolicy.value, from: ownerPolicy.from, priority: ownerPolicy.priority },
    policy: {
      stopped: policy.stopped,
      error_before: policy.errorBefore,
      memory_lost: policy.memoryLost,
      unasked: policy.unasked,
    },
    segment: { name: segment.name, storage: segment.storage },
    cloud: { lands_stopped: survey.capabilities.landsStopped },
  }
}

/** Only of what is off: what Nova still shows paused says so itself. */
function memoryLost({ vmState, id }: Instance, { actions }: Survey): string {
  if (vmState !== 'stopped' || !Object.hasOwn(actions, id)) return ''
  return memoryStateBefore(actions[id] ?? []) ?? ''
}

function instanceFacts(instance: Instance, survey: Survey, segment: Segment): Facts['instance'] {
  const { flavor } = instance
  const volumeBacked = instance.imageId === null
  const unread = instance.volumeIds.some((id) => !Object.hasOwn(survey.volumes, id))
  const encrypted = instance.volumeIds.some((id) => Object.hasOwn(survey.volumes, id) && survey.volumes[id]?.encrypted)
  const specs = Object.entries(flavor.extraSpecs)
  return {
    ...plainInstanceFacts(instance),
    local_disk: !volumeBacked && segment.storage !== 'shared',
    local_extra: segment.storage !== 'shared' && (flavor.ephemeralGb > 0 || flavor.swapMb > 0),
    encrypted: encrypted || unread,
    encryption_unknown: unread && !encrypted,
    encrypted_key_available:
      Object.hasOwn(survey.mayActFor, instance.projectId) && survey.mayActFor[instance.projectId] === true,
    vtpm: specs.some(([key, value]) => key.startsWith('hw:tpm_version') && value !== ''),
    accelerators: specs.some(([key]) => key === 'accel:device_profile'),
    user_rebuild: isUserRebuild(instance, survey),
    group_policy: groupOf(instance, survey)?.policy ?? '',
  }
}

/** What Nova's own record of an instance says. */
export function plainInstanceFacts(instance: Instance): FactsOf<{ instance: typeof instanceDeclarations }>['instance'] {
  return {
    id: instance.id,
    name: instance.name,
    project: instance.projectId,
    flavor: instance.flavor.name,
    availability_zone: instance.availabilityZone ?? '',
    vm_state: instance.vmState,
    task_state: instance.taskState ?? '',
    power_state: instance.powerState,
    locked: instance.locked,
    launched: instance.launchedAt !== null,
    volume_backed: instance.imageId === null,
    volumes: instance.volumeIds.length,
    metadata: instance.metadata,
    tags: instance.tags,
    extra_specs: instance.flavor.extraSpecs,
    fault: instance.fault ?? '',
  }
}

/** The server group of the instance, or null. An instance is in one at most. */
export function groupOf(instance: Instance, survey: Survey): Survey['serverGroups'][number] | null {
  return survey.serverGroups.find((group) => group.members.includes(instance.id)) ?? null
}

/** A rebuild that a user asked for. Unread history: not said to be one, so that a disk is never called unwanted by guess. */
function isUserRebuild(instance: Instance, survey: Survey): boolean {
  if (!isRebuilding(instance)) return false
  const actions = Object.hasOwn(survey.actions, instance.id) ? (survey.actions[instance.id] ?? []) : []
  const newest = actions.find(({ action }) => action === 'rebuild' || action === 'evacuate')
  return newest?.action === 'rebuild'
}

function isRebuilding({ taskState }: Instance): boolean {
  return taskState === 'rebuilding' || taskState?.startsWith('rebuild_') === true
}

function resizeFacts(instance: Instance, original: InitialState, survey: Survey): Facts['resize'] {
  const { resize } = original
  const record = survey.migrations.find(({ uuid }) => uuid === resize?.migrationUuid)
  const waiting = finishedResizes(instance, survey).length
  return {
    pending: instance.vmState === 'resized',
    known: resize !== null,
    source: resize?.sourceHost ?? '',
    source_up: resize?.sourceUp ?? false,
    same_host: resize !== null && resize.sourceHost === survey.host,
    type: record?.type ?? '',
    stale_records: resize === null ? waiting : waiting - 1,
  }
}

/**
 * Whether a live migration ended although Nova never closed its record: without its task, one that had not begun, or had arrived, or that a later
 * move has followed. One that runs is taken at its word: someone may have reset the state of its instance.
 */
function isLeftBehind(live: Migration, instance: Instance, own: readonly Migration[]): boolean {
  if (instance.taskState === 'migrating') return false
  if (live.status === 'queued' || live.status === 'preparing' || live.destHost === instance.host) return true
  return own.some(({ id, status }) => id > live.id && arrived.has(status))
}

function migrationFacts(instance: Instance, survey: Survey): Pick<Facts, 'migration' | 'evacuation'> {
  const own = survey.migrations
    .filter(({ instanceId }) => instanceId === instance.id)
    .toSorted((a: Migration, b: Migration) => b.id - a.id)
  const live = own.find(
    (one) => one.type === 'live-migration' && liveUnderWay.has(one.status) && !isLeftBehind(one, instance, own),
  )
  const evacuation = own.find(
    ({ type, status }) => type === 'evacuation' && (status === 'accepted' || status === 'pre-migrating'),
  )
  // A record left at pre-migrating by a destination that died long ago stays for ever: it means something only while
  // the instance is being rebuilt, or its destination is alive and may still finish.
  const underWay =
    evacuation !== undefined &&
    (evacuation.status === 'accepted' || isRebuilding(instance) || hostUp(survey, evacuation.destHost))
  return {
    migration: {
      live: live !== undefined,
      status: live?.status ?? '',
      destination: live?.destHost ?? '',
      destination_up: hostUp(survey, live?.destHost ?? null),
      leftover_accepted: own.some(({ type, status }) => type !== 'evacuation' && status === 'accepted'),
    },
    evacuation: { under_way: underWay, destination: underWay ? (evacuation.destHost ?? '') : '' },
  }
}
