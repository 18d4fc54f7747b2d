/** Servers of the simulated Nova: lists with their filters and pages, single shows, creation and deletion. */
import type { Clock } from '../domain/clock.ts'
import { sleep } from '../domain/clock.ts'
import { isAdmin, type Caller } from './caller.ts'
import { asRecord, type Exchange } from './exchange.ts'
import { addInstance } from './instance-builder.ts'
import type { Minor } from './microversion.ts'
import type { SimInstance } from './model.ts'
import { badRequest, conflict, notFound, NovaError } from './nova-errors.ts'
import { pickDestination } from './scheduler.ts'
import { serverLinks, serverView, statusOf, type ServerViewContext } from './nova-views.ts'
import { columnSeconds } from './wire-time.ts'
import { flavors, type World } from './world.ts'

/** Nova's [api]max_limit. */
const maxLimit = 1000
const knownFilters = new Set(
  (
    'user_id project_id tenant_id image host node hostname name display_name flavor uuid status vm_state task_state power_state ' +
    'changes-since changes-before all_tenants soft_deleted deleted limit marker sort_key sort_dir locked tags tags-any not-tags ' +
    'not-tags-any availability_zone launched_at created_at ip ip6 reservation_id key_name config_drive'
  ).split(' '),
)
const joinedTables = [
  'system_metadata',
  'metadata',
  'services',
  'block_device_mapping',
  'info_cache',
  'security_groups',
  'extra',
]

export function findInstance(world: World, uuid: string, caller: Caller, readDeleted = false): SimInstance {
  const instance = world.instances.get(uuid)
  const hidden = instance === undefined || (instance.deletedAt !== null && !readDeleted)
  if (hidden || (!isAdmin(caller) && instance.projectId !== caller.projectId)) {
    throw notFound(`Instance ${uuid} could not be found.`)
  }
  return instance
}

export function listServers(world: World, exchange: Exchange, minor: Minor, caller: Caller, detail: boolean): unknown {
  const { query, base } = exchange
  checkQuery(query, minor)
  const context: ServerViewContext = { world, minor, base, admin: isAdmin(caller), single: false }
  const matching = [...world.instances.values()].filter((instance) => matches(instance, query, caller))
  // created_at descending, then id descending, as the default sort of Nova.
  matching.sort((a, b) => b.createdAt - a.createdAt || b.index - a.index)
  const marker = query.get('marker')
  let from = 0
  if (marker !== null) {
    const at = world.instances.get(marker)
    if (at === undefined) throw badRequest(`marker [${marker}] not found`)
    const found = matching.indexOf(at)
    from = found >= 0 ? found + 1 : matching.filter((other) => other.createdAt > at.createdAt).length
  }
  const limit = pageLimit(query)
  const page = matching.slice(from, from + limit)
  const reachable = page.filter((instance) => !world.isLost(instance.uuid))
  const unfiltered = [...query.keys()].every((key) => key === 'all_tenants')
  const shown = reachable.map((instance) =>
    detail
      ? serverView(instance, context)
      : { id: instance.uuid, name: instance.name, links: serverLinks(base, instance.uuid) },
  )
  if (minor >= 69 && unfiltered)
    shown.push(...page.filter((at) => !reachable.includes(at)).map((at) => unknownServer(at, base)))
  // The link comes whenever a page is exactly full, so the last page may be empty.
  const full = page.length === limit && limit > 0 && (query.has('limit') || page.length === maxLimit)
  return { servers: shown, ...(full && { servers_links: [nextLink(exchange, page.at(-1)?.uuid ?? '')] }) }
}

export function showServer(
  world: World,
  instance: SimInstance,
  exchange: Exchange,
  minor: Minor,
  caller: Caller,
): unknown {
  const { base } = exchange
  if (world.isLost(instance.uuid)) {
    if (minor < 69)
      throw new NovaError(
        500,
        'Unexpected API Error. Please report this at http://bugs.launchpad.net/nova/ and attach the Nova API log if possible.',
      )
    return { server: unknownServer(instance, base) }
  }
  return { server: serverView(instance, { world, minor, base, admin: isAdmin(caller), single: true }) }
}

/**
 * POST /servers on a named host (2.74), or where the scheduler has room; a server that finds none is refused here, which Nova does later. The host is the server's own once nova-compute there has taken the
 * boot; with the broker dead the request is never answered (docs/nova.md §2.2, §3.6).
 */
export async function createServer(world: World, clock: Clock, exchange: Exchange, caller: Caller): Promise<unknown> {
  const wanted = asRecord(asRecord(exchange.body)?.server)
  const host = wanted?.host ?? pickDestination(world, { uuid: 'not made yet' }, 'no host')?.name
  if (wanted === null || typeof host !== 'string' || !world.hosts.has(host)) {
    throw badRequest(`Host ${String(wanted?.host)} is not found`)
  }
  const flavor = flavors.find((at) => at.id === wanted.flavorRef) ?? flavors[0]
  const instance = addInstance(world, {
    host,
    name: String(wanted.name),
    state: 'building',
    project: caller.projectId,
    user: caller.userId,
    metadata: (asRecord(wanted.metadata) ?? {}) as Record<string, string>,
    flavor: flavor?.name ?? 'm1.tiny',
    ageMs: 0,
  })
  const taker = world.host(host)
  const build = async (): Promise<void> => {
    if (!taker.agent) {
      taker.queue.push(() => void build())
      return
    }
    world.save(instance, { host })
    await sleep(clock, world.options.timings.spawnMs)
    if (instance.deletedAt !== null) return
    if (taker.faults.spawnFails || !world.host(host).agent) {
      const fault = { message: 'Build of instance aborted', code: 500, created: world.wall() }
      world.save(instance, { vmState: 'error', taskState: null, fault })
      return
    }
    world.hypervisors.set(host, instance.uuid, true, 'spawn')
    world.save(instance, { vmState: 'active', taskState: null, powerState: 1, launchedAt: world.wall() })
  }
  if (!taker.agent || world.down.has('conductor') || world.down.has('rabbitmq')) world.save(instance, { host: null })
  if (world.down.has('rabbitmq')) return new Promise(() => undefined)
  if (world.down.has('conductor')) world.conductorQueue.push(() => void build())
  else void build()
  return {
    server: {
      id: instance.uuid,
      links: serverLinks(exchange.base, instance.uuid),
      'OS-DCF:diskConfig': 'MANUAL',
      security_groups: [{ name: 'default' }],
      adminPass: 'x',
    },
  }
}

/** With the host down Nova deletes in its database alone; the guest is reaped when the host returns. */
export function deleteServer(world: World, instance: SimInstance, caller: Caller): void {
  if (instance.locked && !isAdmin(caller)) throw conflict(`Instance ${instance.uuid} is locked`)
  world.addAction(instance, {
    action: 'delete',
    requestId: caller.requestId,
    userId: caller.userId,
    projectId: caller.projectId,
  })
  if (instance.host !== null && world.host(instance.host).agent) world.hypervisors.destroy(instance.host, instance.uuid)
  world.releaseAll(instance.uuid)
  world.save(instance, { vmState: 'deleted', taskState: null, deletedAt: world.wall() })
}

function checkQuery(query: URLSearchParams, minor: Minor): void {
  for (const key of query.keys()) {
    if (joinedTables.includes(key)) throw badRequest(`Invalid filter field: ${key}.`)
    if (minor >= 75 && !knownFilters.has(key)) throw badRequest(`'${key}' does not match any of the regexes: '^_'`)
  }
}

function matches(instance: SimInstance, query: URLSearchParams, caller: Caller): boolean {
  const everyProject = isAdmin(caller) && ['1', 'true', 'True', ''].includes(query.get('all_tenants') ?? 'no')
  if (!everyProject && instance.projectId !== caller.projectId) return false
  const since = query.get('changes-since')
  const before = query.get('changes-before')
  if (since !== null && columnSeconds(instance.updatedAt) < Date.parse(since)) return false
  if (before !== null && columnSeconds(instance.updatedAt) > Date.parse(before)) return false
  const wantsDeleted = since !== null || before !== null || ['1', 'true', 'True'].includes(query.get('deleted') ?? '')
  if (instance.deletedAt !== null && !wantsDeleted) return false
  if (
    instance.vmState === 'soft-delete' &&
    !['1', 'true', 'True'].includes(query.get('soft_deleted') ?? '') &&
    since === null
  )
    return false
  const equal: [string, unknown][] = [
    ['host', instance.host],
    ['node', instance.host],
    ['vm_state', instance.vmState],
    ['task_state', instance.taskState],
    ['power_state', String(instance.powerState)],
    ['uuid', instance.uuid],
    ['project_id', instance.projectId],
    ['tenant_id', instance.projectId],
    ['user_id', instance.userId],
    ['status', statusOf(instance)],
  ]
  for (const [key, value] of equal) {
    const wanted = query.getAll(key)
    if (wanted.length > 0 && !wanted.includes(String(value))) return false
  }
  const name = query.get('name') ?? query.get('display_name')
  if (name !== null && !new RegExp(name).test(instance.name)) return false
  const locked = query.get('locked')
  return locked === null || instance.locked === ['1', 'true', 'True'].includes(locked)
}

/** The caller's limit, capped silently. Throws NovaError 400 on nonsense. */
export function pageLimit(query: URLSearchParams): number {
  const asked = query.get('limit')
  if (asked === null) return maxLimit
  if (!/^\d+$/.test(asked)) throw badRequest(`Invalid input for query parameters limit. Value: ${asked}.`)
  return Math.min(Number(asked), maxLimit)
}

export function nextLink(exchange: Exchange, marker: string, keepLimit = true): { rel: string; href: string } {
  const query = new URLSearchParams(exchange.query)
  if (keepLimit && !query.has('limit')) query.set('limit', String(maxLimit))
  query.set('marker', marker)
  query.sort()
  return { rel: 'next', href: `${exchange.base}${exchange.path}?${query.toString()}` }
}

function unknownServer(instance: SimInstance, base: string): Record<string, unknown> {
  return {
    id: instance.uuid,
    tenant_id: instance.projectId,
    created: new Date(instance.createdAt).toISOString().replace(/\.\d+Z/, 'Z'),
    status: 'UNKNOWN',
    links: serverLinks(base, instance.uuid),
  }
}
