/**
 * Puts instances into the simulated cloud directly in any state, with the action history, migrations, allocations and
 * guests that real Nova would have left. For setting the scene; nothing here is reachable over HTTP.
 */
import type { SimInstance } from './model.ts'
import { flavors, type World } from './world.ts'

export type StartState =
  | 'active'
  | 'stopped'
  /** Stopped by nova-compute's power sync, not by a person: the stop has no user. */
  | 'stopped-by-power-sync'
  | 'resized-running'
  | 'resized-stopped'
  | 'migrated-running'
  | 'paused'
  | 'suspended'
  | 'rescued'
  | 'error'
  | 'error-never-launched'
  | 'shelved'
  | 'shelved-offloaded'
  | 'soft-deleted'
  | 'building'
  | 'deleting'
  | 'live-migrating'
  /** Its destination was only being prepared: no guest is there. */
  | 'live-migration-preparing'
  | 'resize-prep'
  | 'resize-migrating'
  /** On the resize's destination, where its guest is being defined. */
  | 'resize-finishing'
  | 'rebuilding'
  | 'powering-off'

export interface NewInstance {
  host: string
  name?: string
  state?: StartState
  project?: string
  user?: string
  /** Where a resized, migrated or live-migrating instance came from or goes to. */
  otherHost?: string
  metadata?: Record<string, string>
  tags?: string[]
  flavor?: string
  /** Laid over those of its flavor. */
  extraSpecs?: Record<string, string>
  volumeBacked?: boolean
  /** Boot volume, encrypted. Implies volumeBacked. */
  encrypted?: boolean
  locked?: boolean
  lockedReason?: string
  vtpm?: boolean
  uuid?: string
  /** How long ago it was created, in ms: orders the lists. */
  ageMs?: number
}

interface Look {
  vm: string
  task?: string
  power: number
  running: boolean
  action?: { name: string; user: boolean }
}

const looks: Record<StartState, Look> = {
  active: { vm: 'active', power: 1, running: true },
  stopped: { vm: 'stopped', power: 4, running: false, action: { name: 'stop', user: true } },
  'stopped-by-power-sync': { vm: 'stopped', power: 4, running: false, action: { name: 'stop', user: false } },
  'resized-running': { vm: 'resized', power: 1, running: true, action: { name: 'resize', user: true } },
  'resized-stopped': { vm: 'resized', power: 4, running: false, action: { name: 'resize', user: true } },
  'migrated-running': { vm: 'resized', power: 1, running: true, action: { name: 'migrate', user: true } },
  paused: { vm: 'paused', power: 3, running: true, action: { name: 'pause', user: true } },
  suspended: { vm: 'suspended', power: 4, running: false, action: { name: 'suspend', user: true } },
  rescued: { vm: 'rescued', power: 1, running: true, action: { name: 'rescue', user: true } },
  error: { vm: 'error', power: 1, running: true },
  'error-never-launched': { vm: 'error', power: 0, running: false },
  shelved: { vm: 'shelved', power: 4, running: false, action: { name: 'shelve', user: true } },
  'shelved-offloaded': { vm: 'shelved_offloaded', power: 4, running: false, action: { name: 'shelve', user: true } },
  'soft-deleted': { vm: 'soft-delete', power: 4, running: false, action: { name: 'delete', user: true } },
  building: { vm: 'building', task: 'spawning', power: 0, running: false },
  deleting: { vm: 'active', task: 'deleting', power: 1, running: true, action: { name: 'delete', user: true } },
  'live-migrating': {
    vm: 'active',
    task: 'migrating',
    power: 1,
    running: true,
    action: { name: 'live-migration', user: true },
  },
  'live-migration-preparing': {
    vm: 'active',
    task: 'migrating',
    power: 1,
    running: true,
    action: { name: 'live-migration', user: true },
  },
  'resize-prep': {
    vm: 'active',
    task: 'resize_prep',
    power: 1,
    running: true,
    action: { name: 'resize', user: true },
  },
  'resize-finishing': {
    vm: 'active',
    task: 'resize_finish',
    power: 1,
    running: false,
    action: { name: 'resize', user: true },
  },
  'resize-migrating': {
    vm: 'active',
    task: 'resize_migrating',
    power: 1,
    running: false,
    action: { name: 'resize', user: true },
  },
  rebuilding: { vm: 'active', task: 'rebuilding', power: 1, running: false, action: { name: 'rebuild', user: true } },
  'powering-off': { vm: 'active', task: 'powering-off', power: 1, running: true, action: { name: 'stop', user: true } },
}

const neverLaunched: StartState[] = ['error-never-launched', 'building']
/** The image that instances without a boot volume are from. */
export const imageId = '00000000-0000-0000-0000-0000000000a1'

/** Adds an instance to the world and gives its record. */
export function addInstance(world: World, wanted: NewInstance): SimInstance {
  const state = wanted.state ?? 'active'
  const look = looks[state]
  const now = world.wall()
  const created = now - (wanted.ageMs ?? 3_600_000)
  const projectId = wanted.project ?? 'project-tenant'
  const userId = wanted.user ?? 'user-tenant'
  const flavor = flavors.find((at) => at.name === (wanted.flavor ?? 'm1.tiny')) ?? flavors[0]
  if (flavor === undefined) throw new Error('no flavors')
  const extraSpecs = { ...flavor.extraSpecs, ...wanted.extraSpecs }
  const index = world.nextId()
  const instance: SimInstance = {
    uuid: wanted.uuid ?? world.options.ids(),
    index,
    name: wanted.name ?? `vm-${index}`,
    projectId,
    userId,
    host: state === 'shelved-offloaded' ? null : wanted.host,
    vmState: look.vm,
    taskState: look.task ?? null,
    powerState: look.power,
    locked: wanted.locked === true || wanted.lockedReason !== undefined,
    lockedReason: wanted.lockedReason ?? null,
    launchedAt: neverLaunched.includes(state) ? null : created + 1_000,
    createdAt: created,
    updatedAt: created + 1_000,
    deletedAt: null,
    metadata: { ...wanted.metadata },
    tags: [...(wanted.tags ?? [])],
    flavor: { ...flavor, extraSpecs },
    oldFlavor: null,
    imageId: wanted.volumeBacked === true || wanted.encrypted === true ? null : imageId,
    volumeIds: [],
    fault: look.vm === 'error' ? { message: 'Build of instance failed', code: 500, created } : null,
    oldVmState: null,
    vtpm: wanted.vtpm ?? false,
  }
  world.instances.set(instance.uuid, instance)
  if (instance.imageId === null) attachVolume(world, instance, wanted.encrypted === true)
  if (instance.host !== null) {
    world.allocate(instance.uuid, instance.host)
    if (!neverLaunched.includes(state)) world.hypervisors.set(instance.host, instance.uuid, look.running, 'spawn')
    if (state === 'paused') world.hypervisors.pause(instance.host, instance.uuid)
  }
  writeHistory(world, instance, look, created)
  writeMigration(world, instance, state, wanted, created)
  return instance
}

/** A new volume in the instance's project, attached to it. */
export function attachVolume(world: World, instance: SimInstance, encrypted: boolean): string {
  const id = world.options.ids()
  world.volumes.set(id, {
    id,
    name: `${instance.name}-volume`,
    size: 1,
    encrypted,
    attachedTo: instance.uuid,
    projectId: instance.projectId,
  })
  instance.volumeIds.push(id)
  return id
}

function writeHistory(world: World, instance: SimInstance, look: Look, created: number): void {
  const { userId, projectId } = instance
  const write = (action: string, event: string, at: number, user: boolean): void => {
    const who = user ? { userId, projectId } : { userId: null, projectId: null }
    const record = world.addAction(instance, { action, requestId: `req-${world.options.ids()}`, ...who })
    world.openEvent(record, event, instance.host ?? 'controller')(instance.vmState === 'error' ? 'Error' : 'Success')
    Object.assign(record, { start: at, updated: at + 1_000 })
    Object.assign(record.events[0] ?? {}, { start: at, finish: at + 1_000 })
  }
  write('create', 'compute__do_build_and_run_instance', created, true)
  // A resized instance that is off was stopped by its owner before the resize: the history says the same as the power.
  if (look.vm === 'resized' && !look.running) write('stop', 'compute_stop_instance', created + 60_000, true)
  if (look.action !== undefined) {
    const { name, user } = look.action
    write(name, `compute_${name}_instance`, created + 120_000, user)
    instance.updatedAt = created + 121_000
  }
}

function writeMigration(
  world: World,
  instance: SimInstance,
  state: StartState,
  wanted: NewInstance,
  created: number,
): void {
  const other = wanted.otherHost ?? [...world.hosts.keys()].find((name) => name !== wanted.host) ?? wanted.host
  const at = created + 120_000
  const who = { userId: instance.userId, projectId: instance.projectId, createdAt: at }
  const small = Number(instance.flavor.id)
  const base = { instanceUuid: instance.uuid, ...who, oldFlavorId: small, newFlavorId: small }
  if (state === 'live-migrating' || state === 'live-migration-preparing') {
    const migration = world.addMigration({
      ...base,
      type: 'live-migration',
      status: state === 'live-migrating' ? 'running' : 'preparing',
      source: wanted.host,
      dest: other,
    })
    migration.updatedAt = at + 1_000
    world.allocate(migration.uuid, wanted.host)
  } else if (state === 'resize-prep' || state === 'resize-migrating' || state === 'resize-finishing') {
    const [status, source, dest] = (
      {
        'resize-prep': ['pre-migrating', wanted.host, other],
        'resize-migrating': ['migrating', wanted.host, other],
        'resize-finishing': ['post-migrating', other, wanted.host],
      } as const
    )[state]
    const migration = world.addMigration({ ...base, type: 'resize', status, source, dest })
    migration.updatedAt = at + 1_000
    if (state === 'resize-finishing') world.allocate(migration.uuid, other)
  } else if (instance.vmState === 'resized') {
    const type = state === 'migrated-running' ? 'migration' : 'resize'
    const migration = world.addMigration({ ...base, type, status: 'finished', source: other, dest: wanted.host })
    migration.updatedAt = at + 1_000
    migration.oldFlavorId = type === 'resize' ? 1 : small
    migration.newFlavorId = type === 'resize' ? 2 : small
    instance.oldFlavor = instance.flavor
    if (type === 'resize') instance.flavor = flavors[1] ?? instance.flavor
    instance.oldVmState = instance.powerState === 4 ? 'stopped' : 'active'
    world.allocate(migration.uuid, other)
    world.hypervisors.set(other, instance.uuid, false, 'migrate_off')
  }
}
