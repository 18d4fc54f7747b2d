/** Nova's JSON: each record as the API shows it at a microversion. Shapes are those of Nova 31's own answers. */
import type { Minor } from './microversion.ts'
import type {
  SimAction,
  SimActionEvent,
  SimAggregate,
  SimInstance,
  SimMigration,
  SimServerGroup,
  SimService,
} from './model.ts'
import { isUp, updatedAt } from './heartbeats.ts'
import { columnTime, freshTime, serverTime } from './wire-time.ts'
import { hostId, type World } from './world.ts'

const rebuildTasks = ['rebuilding', 'rebuild_block_device_mapping', 'rebuild_spawning']
const resizeTasks = ['resize_prep', 'resize_migrating', 'resize_migrated', 'resize_finish']
const defaultStatus: Record<string, string> = {
  active: 'ACTIVE',
  building: 'BUILD',
  stopped: 'SHUTOFF',
  resized: 'VERIFY_RESIZE',
  paused: 'PAUSED',
  suspended: 'SUSPENDED',
  rescued: 'RESCUE',
  error: 'ERROR',
  deleted: 'DELETED',
  'soft-delete': 'SOFT_DELETED',
  shelved: 'SHELVED',
  shelved_offloaded: 'SHELVED_OFFLOADED',
}

/** Nova's word for vm_state and task_state together. */
export function statusOf(instance: SimInstance): string {
  const { vmState, taskState } = instance
  if (instance.deletedAt !== null) return 'DELETED'
  if (taskState !== null) {
    if (rebuildTasks.includes(taskState) && ['active', 'stopped', 'error'].includes(vmState)) return 'REBUILD'
    if (resizeTasks.includes(taskState) && ['active', 'stopped'].includes(vmState)) return 'RESIZE'
    if (taskState === 'migrating' && ['active', 'paused'].includes(vmState)) return 'MIGRATING'
    if (taskState === 'resize_reverting' && vmState === 'resized') return 'REVERT_RESIZE'
    if (/^reboot.*_hard$|^rebooting_hard$/.test(taskState) && vmState === 'active') return 'HARD_REBOOT'
    if (/^reboot/.test(taskState) && vmState === 'active') return 'REBOOT'
  }
  return defaultStatus[vmState] ?? 'UNKNOWN'
}

/** forced down reads DOWN, disabled MAINTENANCE whether alive or dead, stale UNKNOWN (docs/nova.md §1.3). */
function hostStatus(world: World, instance: SimInstance): string {
  const host = instance.host === null ? undefined : world.hosts.get(instance.host)
  if (host === undefined) return ''
  if (host.service.forcedDown) return 'DOWN'
  if (host.service.status === 'disabled') return 'MAINTENANCE'
  return world.isUp(host.service) ? 'UP' : 'UNKNOWN'
}

export interface ServerViewContext {
  world: World
  minor: Minor
  base: string
  admin: boolean
  /** A single show; lists leave server_groups out. */
  single: boolean
}

export function serverLinks(base: string, uuid: string): { rel: string; href: string }[] {
  return [
    { rel: 'self', href: `${base}/v2.1/servers/${uuid}` },
    { rel: 'bookmark', href: `${base}/servers/${uuid}` },
  ]
}

export function serverView(instance: SimInstance, context: ServerViewContext): Record<string, unknown> {
  const { world, minor, base, admin } = context
  const status = statusOf(instance)
  const host = instance.host
  const image =
    instance.imageId === null
      ? ''
      : {
          id: instance.imageId,
          links: [{ rel: 'bookmark', href: `${base}/images/${instance.imageId}` }],
          ...(minor >= 98 && {
            properties: { min_ram: '0', min_disk: '1', disk_format: 'raw', container_format: 'bare' },
          }),
        }
  return {
    id: instance.uuid,
    name: instance.name,
    status,
    tenant_id: instance.projectId,
    user_id: instance.userId,
    metadata: instance.metadata,
    hostId: hostId(host, instance.projectId),
    image,
    flavor: flavorView(instance, minor, base),
    created: serverTime(instance.createdAt),
    updated: serverTime(instance.updatedAt),
    addresses: {},
    accessIPv4: '',
    accessIPv6: '',
    links: serverLinks(base, instance.uuid),
    'OS-DCF:diskConfig': 'MANUAL',
    ...(['ERROR', 'DELETED'].includes(status) && instance.fault !== null && { fault: faultView(instance) }),
    ...(['ACTIVE', 'BUILD', 'REBUILD', 'RESIZE', 'VERIFY_RESIZE', 'MIGRATING'].includes(status) && { progress: 0 }),
    'OS-EXT-AZ:availability_zone': host === null ? '' : (world.hosts.get(host)?.service.zone ?? ''),
    ...(minor >= 96 && { pinned_availability_zone: null }),
    ...(minor >= 100 && { scheduler_hints: {} }),
    config_drive: '',
    key_name: null,
    'OS-SRV-USG:launched_at': columnTime(instance.launchedAt),
    'OS-SRV-USG:terminated_at': columnTime(instance.deletedAt),
    ...(admin && extendedAttributes(instance, minor)),
    'OS-EXT-STS:task_state': instance.taskState,
    'OS-EXT-STS:vm_state': instance.deletedAt === null ? instance.vmState : 'deleted',
    'OS-EXT-STS:power_state': instance.powerState,
    'os-extended-volumes:volumes_attached': instance.volumeIds.map((id) => ({
      id,
      ...(minor >= 3 && { delete_on_termination: false }),
    })),
    ...(minor >= 16 && admin && { host_status: hostStatus(world, instance) }),
    ...(minor >= 9 && { locked: instance.locked }),
    ...(minor >= 73 && { locked_reason: instance.lockedReason }),
    ...(minor >= 19 && { description: null }),
    ...(minor >= 26 && { tags: instance.tags }),
    ...(minor >= 63 && { trusted_image_certificates: null }),
    ...(minor >= 71 && context.single && { server_groups: groupIds(world, instance) }),
  }
}

function groupIds(world: World, instance: SimInstance): string[] {
  const group = world.groupOf(instance.uuid)
  return group === undefined ? [] : [group.id]
}

function flavorView(instance: SimInstance, minor: Minor, base: string): unknown {
  const { flavor } = instance
  if (minor < 47) return { id: flavor.id, links: [{ rel: 'bookmark', href: `${base}/flavors/${flavor.id}` }] }
  const { vcpus, ram, disk, ephemeral, swap } = flavor
  return { vcpus, ram, disk, ephemeral, swap, original_name: flavor.name, extra_specs: flavor.extraSpecs }
}

function faultView(instance: SimInstance): unknown {
  const { fault } = instance
  return fault === null
    ? null
    : {
        code: fault.code,
        created: serverTime(fault.created),
        message: fault.message,
        ...(fault.details !== undefined && { details: fault.details }),
      }
}

function extendedAttributes(instance: SimInstance, minor: Minor): Record<string, unknown> {
  return {
    'OS-EXT-SRV-ATTR:host': instance.host,
    'OS-EXT-SRV-ATTR:instance_name': `instance-${instance.index.toString(16).padStart(8, '0')}`,
    'OS-EXT-SRV-ATTR:hypervisor_hostname': instance.host,
    ...(minor >= 3 && {
      'OS-EXT-SRV-ATTR:reservation_id': `r-${instance.uuid.slice(0, 8)}`,
      'OS-EXT-SRV-ATTR:launch_index': 0,
      'OS-EXT-SRV-ATTR:hostname': instance.name,
      'OS-EXT-SRV-ATTR:kernel_id': '',
      'OS-EXT-SRV-ATTR:ramdisk_id': '',
      'OS-EXT-SRV-ATTR:root_device_name': '/dev/sda',
      'OS-EXT-SRV-ATTR:user_data': null,
    }),
  }
}

/** `fresh`: just written by this request, so its stamp has not been rounded by the database yet. */
export function serviceView(world: World, service: SimService, minor: Minor, fresh = false): Record<string, unknown> {
  if (world.downCell.has(service.host)) return { binary: service.binary, host: service.host, status: 'UNKNOWN' }
  const rules = world.options.heartbeat
  const stamp = updatedAt(service, rules, world.wall())
  return {
    binary: service.binary,
    host: service.host,
    id: minor >= 53 ? service.uuid : service.rowId,
    zone: service.zone,
    status: service.status,
    state: isUp(service, rules, world.wall()) ? 'up' : 'down',
    updated_at: fresh ? freshTime(stamp) : columnTime(stamp),
    disabled_reason: service.disabledReason,
    ...(minor >= 11 && { forced_down: service.forcedDown }),
  }
}

export function migrationView(migration: SimMigration, minor: Minor): Record<string, unknown> {
  return {
    id: migration.id,
    ...(minor >= 59 && { uuid: migration.uuid }),
    source_compute: migration.source,
    dest_compute: migration.dest,
    source_node: migration.source,
    dest_node: migration.dest,
    dest_host: migration.dest === null ? null : '192.168.0.1',
    old_instance_type_id: migration.oldFlavorId,
    new_instance_type_id: migration.newFlavorId,
    instance_uuid: migration.instanceUuid,
    status: migration.status,
    ...(minor >= 23 && { migration_type: migration.type }),
    ...(minor >= 80 && { user_id: migration.userId, project_id: migration.projectId }),
    created_at: columnTime(migration.createdAt),
    updated_at: columnTime(migration.updatedAt),
  }
}

export function actionView(action: SimAction, minor: Minor): Record<string, unknown> {
  return {
    action: action.action,
    instance_uuid: action.instanceUuid,
    request_id: action.requestId,
    user_id: action.userId,
    project_id: action.projectId,
    start_time: columnTime(action.start),
    message: action.message,
    ...(minor >= 58 && { updated_at: columnTime(action.updated) }),
  }
}

export function eventView(
  event: SimActionEvent,
  projectId: string,
  minor: Minor,
  admin: boolean,
): Record<string, unknown> {
  return {
    event: event.event,
    start_time: columnTime(event.start),
    finish_time: columnTime(event.finish),
    result: event.result,
    ...(admin && { traceback: null }),
    ...(minor >= 62 && { ...(admin && { host: event.host }), hostId: hostId(event.host, projectId) }),
    ...(minor >= 84 && { details: event.details }),
  }
}

export function serverGroupView(group: SimServerGroup, minor: Minor): Record<string, unknown> {
  return {
    id: group.id,
    name: group.name,
    ...(minor >= 64 ? { policy: group.policy, rules: {} } : { policies: [group.policy], metadata: {} }),
    members: group.members,
    ...(minor >= 13 && { project_id: group.projectId, user_id: 'user-tenant' }),
  }
}

export function aggregateView(aggregate: SimAggregate, minor: Minor): Record<string, unknown> {
  const metadata =
    aggregate.zone === null ? aggregate.metadata : { availability_zone: aggregate.zone, ...aggregate.metadata }
  return {
    id: aggregate.id,
    ...(minor >= 41 && { uuid: aggregate.uuid }),
    name: aggregate.name,
    hosts: aggregate.hosts,
    metadata,
    created_at: '2026-01-01T00:00:00.000000',
    updated_at: null,
    deleted_at: null,
    deleted: false,
    availability_zone: aggregate.zone,
  }
}
