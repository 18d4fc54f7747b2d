/** What hangs on servers in the simulated Nova: migrations, actions, groups, aggregates, hypervisors. */
import type { Exchange } from './exchange.ts'
import type { Minor } from './microversion.ts'
import type { SimInstance } from './model.ts'
import { badRequest, notFound } from './nova-errors.ts'
import { actionView, aggregateView, eventView, migrationView, serverGroupView } from './nova-views.ts'
import { nextLink, pageLimit } from './nova-servers.ts'
import { columnSeconds } from './wire-time.ts'
import type { World } from './world.ts'

const migrationFilters = ['host', 'source_compute', 'instance_uuid', 'status', 'migration_type', 'hidden']
const migrationPaging = ['limit', 'marker', 'changes-since', 'changes-before', 'user_id', 'project_id']

/** Newest first. Records of deleted instances are gone with them; those of a cell that cannot be reached are left out. */
export function listMigrations(world: World, exchange: Exchange, minor: Minor): unknown {
  const { query } = exchange
  const known = minor >= 59 ? [...migrationFilters, ...migrationPaging] : migrationFilters
  for (const key of query.keys()) {
    if (!known.includes(key) && minor >= 59)
      throw badRequest(`Additional properties are not allowed ('${key}' was unexpected)`)
  }
  const host = query.get('host')
  const since = query.get('changes-since')
  const has = (key: string, value: string | null): boolean => query.get(key) === null || query.get(key) === value
  const matching = world.migrations
    .filter(
      (at) =>
        world.instances.get(at.instanceUuid)?.deletedAt === null &&
        !world.isLost(at.instanceUuid) &&
        (host === null || at.source === host || at.dest === host) &&
        has('source_compute', at.source) &&
        has('instance_uuid', at.instanceUuid) &&
        has('status', at.status) &&
        has('migration_type', at.type) &&
        has('user_id', at.userId) &&
        has('project_id', at.projectId) &&
        // A record that was never updated has no time of change, and is left out.
        (since === null || (at.updatedAt !== null && columnSeconds(at.updatedAt) >= Date.parse(since))),
    )
    .sort((a, b) => b.createdAt - a.createdAt || b.id - a.id)
  if (minor < 59) return { migrations: matching.map((at) => migrationView(at, minor)) }
  const marker = query.get('marker')
  if (marker !== null && !world.migrations.some((at) => at.uuid === marker))
    throw badRequest(`Marker ${marker} could not be found.`)
  const from = marker === null ? 0 : matching.findIndex((at) => at.uuid === marker) + 1
  const limit = pageLimit(query)
  const page = matching.slice(from, from + limit)
  const full = page.length === limit && limit > 0
  return {
    migrations: page.map((at) => migrationView(at, minor)),
    ...(full && { migrations_links: [nextLink(exchange, page.at(-1)?.uuid ?? '')] }),
  }
}

/** Newest first, without events; with limit and marker (a request id) from 2.58. */
export function listActions(world: World, instance: SimInstance, exchange: Exchange, minor: Minor): unknown {
  const { query } = exchange
  const all = [...(world.actions.get(instance.uuid) ?? [])].reverse()
  if (minor < 58) return { instanceActions: all.map((action) => actionView(action, minor)) }
  const marker = query.get('marker')
  const at = all.findIndex((action) => action.requestId === marker)
  if (marker !== null && at < 0) throw badRequest(`Marker ${marker} could not be found.`)
  const since = query.get('changes-since')
  const fresh = all
    .slice(at + 1)
    .filter((action) => since === null || columnSeconds(action.updated) >= Date.parse(since))
  const limit = pageLimit(query)
  const page = fresh.slice(0, limit)
  const full = page.length === limit && limit > 0
  return {
    instanceActions: page.map((action) => actionView(action, minor)),
    ...(full && { links: [nextLink(exchange, page.at(-1)?.requestId ?? '')] }),
  }
}

/** One action by its request id, with its events, newest first. */
export function showAction(
  world: World,
  instance: SimInstance,
  requestId: string,
  minor: Minor,
  admin: boolean,
): unknown {
  const action = world.actions.get(instance.uuid)?.find((at) => at.requestId === requestId)
  if (action === undefined) throw notFound(`Action ${requestId} not found`)
  const events = [...action.events].reverse().map((event) => eventView(event, instance.projectId, minor, admin))
  return { instanceAction: { ...actionView(action, minor), ...((admin || minor >= 51) && { events }) } }
}

/** Paged by limit and offset, without links. */
export function listServerGroups(world: World, exchange: Exchange, minor: Minor): unknown {
  const { query } = exchange
  const offset = Number(query.get('offset') ?? '0')
  const page = world.serverGroups.slice(offset, offset + pageLimit(query))
  return { server_groups: page.map((group) => serverGroupView(group, minor)) }
}

export function listAggregates(world: World, minor: Minor): unknown {
  return { aggregates: world.aggregates.map((aggregate) => aggregateView(aggregate, minor)) }
}

/** The plain list. Ids are UUIDs from 2.53. */
/** `detail` names the host of each service. Throws NovaError: a pattern that fits nothing is a 404. */
export function listHypervisors(world: World, { query }: Exchange, minor: Minor, detail: boolean): unknown {
  const pattern = query.get('hypervisor_hostname_pattern')
  const hosts = [...world.hosts.values()].filter(({ name }) => pattern === null || name.includes(pattern))
  if (pattern !== null && hosts.length === 0) throw notFound(`No hypervisor matching '${pattern}' could be found.`)
  const from = hosts.findIndex(({ service }) => service.uuid === query.get('marker')) + 1
  const hypervisors = hosts.slice(from).map((host) => ({
    id: minor >= 53 ? host.service.uuid : host.service.rowId,
    hypervisor_hostname: host.name,
    state: world.isUp(host.service) ? 'up' : 'down',
    status: host.service.status,
    ...(detail && {
      service: {
        host: host.name,
        id: minor >= 53 ? host.service.uuid : host.service.rowId,
        disabled_reason: host.service.disabledReason,
      },
    }),
  }))
  return { hypervisors }
}
