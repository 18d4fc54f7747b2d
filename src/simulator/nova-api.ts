/** The simulated Nova API: version discovery, microversion headers, authentication and the table of routes. */
import { isAdmin, type Caller } from './caller.ts'
import { Evacuations, type EvacuateBody } from './evacuation.ts'
import { asRecord, type Answer, type Exchange, type Service } from './exchange.ts'
import type { HostLife } from './host-life.ts'
import { InstanceActions } from './instance-actions.ts'
import { requestedMinor, type Minor } from './microversion.ts'
import type { SimInstance } from './model.ts'
import { badRequest, NovaError } from './nova-errors.ts'
import { showDiagnostics } from './nova-diagnostics.ts'
import {
  listActions,
  listAggregates,
  listHypervisors,
  listMigrations,
  listServerGroups,
  showAction,
} from './nova-listings.ts'
import { createServer, deleteServer, findInstance, listServers, showServer } from './nova-servers.ts'
import { deleteService, listServices, updateService } from './nova-services.ts'
import { changeMetadata, changeTag } from './owner-words.ts'
import { pythonString, pythonText } from './python-text.ts'
import type { World } from './world.ts'

const adminRoutes = /^\/v2\.1\/(os-services|os-migrations|os-aggregates|os-hypervisors)/
const adminActions = ['evacuate', 'os-resetState', 'migrate']

export class NovaApi {
  private readonly world: World
  private readonly authenticate: (exchange: Exchange) => Caller | null
  private readonly evacuations: Evacuations
  private readonly actions: InstanceActions

  constructor(world: World, life: HostLife, authenticate: (exchange: Exchange) => Caller | null) {
    this.world = world
    this.authenticate = authenticate
    this.evacuations = new Evacuations(world, life)
    this.actions = new InstanceActions(world)
  }

  readonly serve: Service = async (exchange) => {
    const { path } = exchange
    const ids = { 'x-openstack-request-id': exchange.requestId, 'x-compute-request-id': exchange.requestId }
    if (path === '' || path === '/') return { status: 200, body: { versions: [this.versionEntry(exchange)] } }
    if (path === '/v2.1' || path === '/v2.1/') {
      return { status: 200, body: { version: this.versionEntry(exchange) }, headers: { ...versionHeaders(1), ...ids } }
    }
    const caller = this.authenticate(exchange)
    if (caller === null) return unauthorized(exchange, ids)
    let minor: Minor | null = null
    try {
      minor = requestedMinor(exchange.headers, this.world.options.maxMicroversion)
      if (adminRoutes.test(path) && !isAdmin(caller)) throw forbidden(path)
      const answer = await this.route(exchange, minor, caller)
      return { ...answer, headers: { ...versionHeaders(minor), ...ids, ...answer.headers } }
    } catch (thrown) {
      if (!(thrown instanceof NovaError)) throw thrown
      const asked = minor === null ? {} : versionHeaders(minor)
      return { status: thrown.status, body: thrown.body(), headers: { ...asked, ...ids } }
    }
  }

  private async route(exchange: Exchange, minor: Minor, caller: Caller): Promise<Answer> {
    const { world } = this
    const { method } = exchange
    const [, first, second, third, fourth] = exchange.path.slice('/v2.1'.length).split('/')
    const get = method === 'GET'
    if (first === 'os-services' && get && second === undefined) return ok(listServices(world, exchange.query, minor))
    if (first === 'os-services' && method === 'PUT' && second !== undefined) {
      return ok(await updateService(world, second, exchange.body, minor))
    }
    if (first === 'os-services' && method === 'DELETE' && second !== undefined) {
      deleteService(world, second)
      return { status: 204 }
    }
    if (first === 'os-migrations' && get) return ok(listMigrations(world, exchange, minor))
    if (first === 'os-aggregates' && get) return ok(listAggregates(world, minor))
    if (first === 'os-server-groups' && get) return ok(listServerGroups(world, exchange, minor))
    if (first === 'os-hypervisors' && get) return ok(listHypervisors(world, exchange, minor, second === 'detail'))
    if (first === 'servers') return this.servers(exchange, minor, caller, second, third, fourth)
    return notRouted()
  }

  private async servers(
    exchange: Exchange,
    minor: Minor,
    caller: Caller,
    id: string | undefined,
    sub: string | undefined,
    item: string | undefined,
  ): Promise<Answer> {
    const { world } = this
    const { method } = exchange
    if (world.down.has('neutron') && method === 'GET' && sub !== 'diagnostics')
      throw new NovaError(500, 'Unexpected API Error. <class neutronclient.common.exceptions.ConnectionFailed>')
    if (method === 'GET' && (id === undefined || id === 'detail')) {
      return ok(listServers(world, exchange, minor, caller, id === 'detail'))
    }
    if (method === 'POST' && id === undefined)
      return { status: 202, body: await createServer(world, world.clock, exchange, caller) }
    if (id === undefined) return notRouted()
    // From 2.21 the history of a deleted server can be read.
    const instance = findInstance(world, id, caller, sub === 'os-instance-actions' && minor >= 21)
    if (sub === undefined && method === 'GET') return ok(showServer(world, instance, exchange, minor, caller))
    if (world.isLost(instance.uuid))
      throw new NovaError(500, 'Cell cell1 is not responding and hence instance info is not available.')
    if (sub === undefined && method === 'DELETE') {
      deleteServer(world, instance, caller)
      return { status: 204 }
    }
    const named = item === undefined ? undefined : decodeURIComponent(item)
    const changed =
      sub === 'metadata'
        ? changeMetadata(instance, exchange, named, caller)
        : sub === 'tags' && minor >= 26
          ? changeTag(instance, exchange, named)
          : null
    if (changed !== null) {
      // Of tags Nova keeps a table of its own, and the server's row stays as it is (docs/nova.md §1.3).
      if (sub === 'metadata') world.save(instance, {})
      return changed
    }
    if (sub === 'action' && method === 'POST') return this.act(exchange, instance, minor, caller)
    if (sub === 'os-instance-actions' && method === 'GET') {
      if (item === undefined) return ok(listActions(world, instance, exchange, minor))
      return ok(showAction(world, instance, item, minor, isAdmin(caller)))
    }
    if (sub === 'diagnostics' && method === 'GET') {
      if (!isAdmin(caller)) throw forbidden('os_compute_api:os-server-diagnostics')
      return ok(await showDiagnostics(world, instance, minor))
    }
    return notRouted()
  }

  private async act(exchange: Exchange, instance: SimInstance, minor: Minor, caller: Caller): Promise<Answer> {
    const entries = Object.entries(asRecord(exchange.body) ?? {})
    const [name, argument] = entries[0] ?? []
    if (name === undefined || entries.length > 1) throw badRequest('Malformed request body')
    if (adminActions.includes(name) && !isAdmin(caller)) throw forbidden(name)
    if (name === 'evacuate') {
      await this.evacuations.accept(instance, evacuateBody(argument, minor), minor, caller)
      return { status: 200 }
    }
    const status = this.actions.perform(name, argument, instance, minor, caller)
    // The one that has something to say: how to get into the rescued guest.
    return name === 'rescue' ? { status: 200, body: { adminPass: 'simulated' } } : { status }
  }

  private versionEntry(exchange: Exchange): unknown {
    const single = exchange.path.startsWith('/v2.1')
    const self = { rel: 'self', href: `${exchange.base}/v2.1/` }
    return {
      id: 'v2.1',
      status: 'CURRENT',
      version: this.world.options.maxMicroversion,
      min_version: '2.1',
      updated: '2013-07-23T11:33:21Z',
      links: single ? [self, { rel: 'describedby', type: 'text/html', href: 'http://docs.openstack.org/' }] : [self],
      ...(single && {
        'media-types': [{ base: 'application/json', type: 'application/vnd.openstack.compute+json;version=2.1' }],
      }),
    }
  }
}

/** Throws NovaError on what the schema of that microversion refuses. */
function evacuateBody(argument: unknown, minor: Minor): EvacuateBody {
  const given = asRecord(argument)
  if (given === null)
    throw badRequest(
      `Invalid input for field/attribute evacuate. Value: ${pythonString(argument)}. ${pythonText(argument)} is not of type 'object'`,
    )
  const allowed = [
    'host',
    'adminPass',
    ...(minor < 14 ? ['onSharedStorage'] : []),
    ...(minor >= 29 && minor < 68 ? ['force'] : []),
  ]
  for (const key of Object.keys(given)) {
    if (!allowed.includes(key)) {
      throw badRequest(
        `Invalid input for field/attribute evacuate. Value: ${pythonText(given)}. Additional properties are not allowed ('${key}' was unexpected)`,
      )
    }
  }
  if (minor < 14 && given.onSharedStorage === undefined) {
    throw badRequest(
      `Invalid input for field/attribute evacuate. Value: ${pythonText(given)}. 'onSharedStorage' is a required property`,
    )
  }
  if ('host' in given && typeof given.host !== 'string') {
    throw badRequest(
      `Invalid input for field/attribute host. Value: ${pythonString(given.host)}. ${pythonText(given.host)} is not of type 'string'`,
    )
  }
  return {
    ...(typeof given.host === 'string' && { host: given.host }),
    ...(typeof given.force === 'boolean' && { force: given.force }),
  }
}

function versionHeaders(minor: Minor): Record<string, string | string[]> {
  return {
    'OpenStack-API-Version': `compute 2.${minor}`,
    'X-OpenStack-Nova-API-Version': `2.${minor}`,
    Vary: ['OpenStack-API-Version', 'X-OpenStack-Nova-API-Version'],
  }
}

function ok(body: unknown): Answer {
  return { status: 200, body }
}

function notRouted(): Answer {
  const message = 'The resource could not be found.<br /><br />\n\n\n'
  return { status: 404, body: { message, code: '404 Not Found', title: 'Not Found' } }
}

function forbidden(what: string): NovaError {
  return new NovaError(403, `Policy doesn't allow ${what} to be performed.`)
}

function unauthorized(exchange: Exchange, ids: Record<string, string>): Answer {
  const message = 'The request you have made requires authentication.'
  return {
    status: 401,
    body: { error: { code: 401, title: 'Unauthorized', message } },
    headers: { ...ids, 'WWW-Authenticate': `Keystone uri="${exchange.base}"` },
  }
}
