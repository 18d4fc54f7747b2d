/**
 * What a Masakari knows, read for the import from it: failover segments, their hosts, notifications that are not finished.
 * The only module that speaks its API (v1). It never writes there.
 *
 * Seen on Masakari 19: a page goes on after the marker's numeric `id` (a uuid is answered 400), the newest come first unless
 * sorted, and a version that is too high is a 406. `enabled` exists since 1.2; without it a segment counts as enabled.
 */
import { z } from 'zod'
import type { CallOptions } from '../domain/cloud.ts'
import { ensureError } from '../domain/errors.ts'
import type { ApiCall } from './call-table.ts'
import { openSession, type CloudOptions } from './cloud-client.ts'
import { allPages, pageSize } from './paging.ts'
import type { Session } from './session.ts'

export interface MasakariSegment {
  uuid: string
  name: string
  description: string | null
  recoveryMethod: string
  serviceType: string
  enabled: boolean
  hosts: MasakariHost[]
}

export interface MasakariHost {
  uuid: string
  /** Nova's name of it. */
  name: string
  type: string
  controlAttributes: string
  reserved: boolean
  onMaintenance: boolean
}

/** Work that Masakari has not finished. */
export interface MasakariNotification {
  uuid: string
  /** COMPUTE_HOST, VM or PROCESS. */
  type: string
  /** new, running or error. */
  status: string
  hostUuid: string
  generatedAt: string
}

export interface MasakariInventory {
  /** The oldest first, as is all below. */
  segments: MasakariSegment[]
  notifications: MasakariNotification[]
}

export interface MasakariClient {
  /** @throws LifeboatError CATALOG_MISSING when the cloud has no Masakari; AUTH_FORBIDDEN without its admin role */
  inventory(options?: CallOptions): Promise<MasakariInventory>
  close(): void
}

const unfinished = ['new', 'running', 'error'] as const
/** `enabled` came with it; a Masakari before 2021.1 is asked at the lowest. */
const versions = ['1.2', '1.0'] as const

const segmentPage = z.object({
  segments: z.array(
    z.object({
      id: z.number(),
      uuid: z.string(),
      name: z.string(),
      description: z.string().nullable().default(null),
      recovery_method: z.string(),
      service_type: z.string(),
      enabled: z.boolean().default(true),
    }),
  ),
})
const hostPage = z.object({
  hosts: z.array(
    z.object({
      id: z.number(),
      uuid: z.string(),
      name: z.string(),
      type: z.string(),
      control_attributes: z.string(),
      reserved: z.boolean().default(false),
      on_maintenance: z.boolean().default(false),
    }),
  ),
})
const notificationPage = z.object({
  notifications: z.array(
    z.object({
      id: z.number(),
      notification_uuid: z.string(),
      type: z.string(),
      status: z.string(),
      source_host_uuid: z.string(),
      generated_time: z.string(),
    }),
  ),
})

/** Nothing is sent when it is made. */
export function masakariClient(options: CloudOptions): MasakariClient {
  const { session, transport } = openSession(options)
  return {
    inventory: async (callOptions) => {
      for (const version of versions) {
        try {
          return await inventoryAt(session, version, callOptions)
        } catch (thrown) {
          if (ensureError(thrown).code !== 'MICROVERSION_UNSUPPORTED' || version === versions.at(-1)) throw thrown
        }
      }
      throw new Error('unreachable: the last version either answers or throws')
    },
    close: () => transport.close(),
  }
}

async function inventoryAt(session: Session, version: string, options?: CallOptions): Promise<MasakariInventory> {
  const rows = await pages(session, route('/segments', version), {}, {}, segmentPage, (page) => page.segments, options)
  const segments: MasakariSegment[] = []
  for (const row of rows) {
    const found = await pages(
      session,
      route('/segments/{id}/hosts', version),
      { id: row.uuid },
      {},
      hostPage,
      (page) => page.hosts,
      options,
    )
    segments.push({
      uuid: row.uuid,
      name: row.name,
      description: row.description,
      recoveryMethod: row.recovery_method,
      serviceType: row.service_type,
      enabled: row.enabled,
      hosts: found.map((host) => ({
        uuid: host.uuid,
        name: host.name,
        type: host.type,
        controlAttributes: host.control_attributes,
        reserved: host.reserved,
        onMaintenance: host.on_maintenance,
      })),
    })
  }
  const notifications: MasakariNotification[] = []
  for (const status of unfinished) {
    const found = await pages(
      session,
      route('/notifications', version),
      {},
      { status },
      notificationPage,
      (page) => page.notifications,
      options,
    )
    notifications.push(
      ...found.map((row) => ({
        uuid: row.notification_uuid,
        type: row.type,
        status: row.status,
        hostUuid: row.source_host_uuid,
        generatedAt: row.generated_time,
      })),
    )
  }
  return { segments, notifications }
}

function route(path: string, microversion: string): ApiCall {
  return {
    service: 'instance-ha',
    method: 'GET',
    route: path,
    microversion,
    why: 'What Masakari protects, for the import from it',
    policy: null,
    write: false,
  }
}

async function pages<P, T extends { id: number }>(
  session: Session,
  call: ApiCall,
  ids: Record<string, string>,
  query: Record<string, string>,
  schema: z.ZodType<P>,
  itemsOf: (page: P) => T[],
  options?: CallOptions,
): Promise<T[]> {
  return allPages(
    call.route,
    async (marker) => {
      const paged = {
        ...query,
        sort_key: 'id',
        sort_dir: 'asc',
        limit: String(pageSize),
        ...(marker !== undefined && { marker }),
      }
      const { data } = await session.read({ call, ids, query: paged }, schema, options)
      const items = itemsOf(data)
      // No link tells of a next page, and the service's own limit may be lower: only an empty page ends it.
      return { items, linked: null, marker: items.at(-1)?.id.toString() }
    },
    (item) => String(item.id),
  )
}
