/** Tenants and other administrators of the simulated cloud: what they order goes through its API like everything else. */
import { deadline } from '../domain/clock.ts'
import type { Wire, WireAnswer } from '../domain/wire.ts'
import type { Simulator } from '../simulator/index.ts'

/** As openstackclient waits for an answer; a person has given up by then. */
const waitLimitMs = 60_000

interface Call {
  method: string
  path: string
  body?: unknown
}

export class People {
  readonly #simulator: Simulator
  readonly #wire: Wire
  readonly #idOf: (name: string) => string

  constructor(simulator: Simulator, idOf: (name: string) => string) {
    this.#simulator = simulator
    this.#wire = simulator.wire()
    this.#idOf = idOf
  }

  /** Throws when Nova refuses and the script does not allow for that: it is wrong then. */
  async server(order: {
    instance: string
    action: string
    body?: unknown
    as: 'tenant' | 'admin'
    mayBeRefused?: true | undefined
  }): Promise<void> {
    const [user, project] = order.as === 'tenant' ? ['tenant', 'tenant'] : ['operator', 'admin']
    const path = `/compute/v2.1/servers/${this.#idOf(order.instance)}`
    const call: Call =
      order.action === 'delete'
        ? { method: 'DELETE', path }
        : { method: 'POST', path: `${path}/action`, body: { [order.action]: order.body ?? null } }
    await this.#order(user, project, call, order.mayBeRefused)
  }

  /** Throws as `server` does. Gives the id of the new server, or null where Nova refused it or does not answer in words. */
  async boot(order: { name: string; host: string; mayBeRefused?: true | undefined }): Promise<string | null> {
    const server = { name: order.name, host: order.host, flavorRef: '1', networks: 'none' }
    const call = { method: 'POST', path: '/compute/v2.1/servers', body: { server } }
    const answer = await this.#order('operator', 'admin', call, order.mayBeRefused)
    return answer === null ? null : idIn(answer.data)
  }

  /** Throws as `server` does. Metadata of null is removed. */
  async words(order: {
    instance: string
    metadata: Record<string, string | null>
    tag?: string | undefined
    untag?: string | undefined
    mayBeRefused?: true | undefined
  }): Promise<void> {
    const path = `/compute/v2.1/servers/${this.#idOf(order.instance)}`
    const set = Object.entries(order.metadata).filter(([, value]) => value !== null)
    const removed = Object.entries(order.metadata).filter(([, value]) => value === null)
    const calls: Call[] = [
      ...(set.length === 0
        ? []
        : [{ method: 'POST', path: `${path}/metadata`, body: { metadata: Object.fromEntries(set) } }]),
      ...removed.map(([key]) => ({ method: 'DELETE', path: `${path}/metadata/${encodeURIComponent(key)}` })),
      ...(order.tag === undefined ? [] : [{ method: 'PUT', path: `${path}/tags/${encodeURIComponent(order.tag)}` }]),
      ...(order.untag === undefined
        ? []
        : [{ method: 'DELETE', path: `${path}/tags/${encodeURIComponent(order.untag)}` }]),
    ]
    for (const call of calls) await this.#order('tenant', 'tenant', call, order.mayBeRefused)
  }

  /** Throws as `server` does. */
  async service(order: {
    host: string
    forcedDown?: boolean | undefined
    status?: string | undefined
    disabledReason?: string | undefined
    deleted?: true | undefined
    mayBeRefused?: true | undefined
  }): Promise<void> {
    const { uuid } = this.#simulator.world.host(order.host).service
    const path = `/compute/v2.1/os-services/${uuid}`
    const body = {
      ...(order.forcedDown !== undefined && { forced_down: order.forcedDown }),
      ...(order.status !== undefined && { status: order.status }),
      ...(order.disabledReason !== undefined && { disabled_reason: order.disabledReason }),
    }
    const call: Call = order.deleted === true ? { method: 'DELETE', path } : { method: 'PUT', path, body }
    await this.#order('operator', 'admin', call, order.mayBeRefused)
  }

  async #order(user: string, project: string, call: Call, mayBeRefused: true | undefined): Promise<WireAnswer | null> {
    const limit = deadline(this.#simulator.world.clock, waitLimitMs)
    try {
      const token = await this.#token(user, project, limit.signal)
      const answer = await this.#send(call, { 'x-auth-token': token }, limit.signal)
      if (answer.status >= 300) throw new Error(`the script orders what Nova refuses: ${answer.status} ${answer.data}`)
      return answer
    } catch (thrown) {
      if (mayBeRefused !== true) throw thrown
      return null
    } finally {
      limit.release()
    }
  }

  async #token(user: string, project: string, signal: AbortSignal): Promise<string> {
    const access = this.#simulator.cloud(user, project)
    const auth = {
      identity: {
        methods: ['password'],
        password: { user: { name: user, password: access.password, domain: { name: 'Default' } } },
      },
      scope: { project: { name: project, domain: { name: 'Default' } } },
    }
    const answer = await this.#send({ method: 'POST', path: '/identity/v3/auth/tokens', body: { auth } }, {}, signal)
    return answer.headers['x-subject-token'] ?? ''
  }

  #send({ method, path, body }: Call, headers: Record<string, string>, signal: AbortSignal): Promise<WireAnswer> {
    const version = { 'openstack-api-version': 'compute 2.90' }
    const data = body === undefined ? undefined : JSON.stringify(body)
    const url = `${this.#simulator.url}${path}`
    return this.#wire({ method, url, headers: { ...version, ...headers }, data, signal })
  }
}

/** Null where the answer says nothing: it was garbled on its way, and whoever ordered does not learn what became of it. */
function idIn(text: string): string | null {
  try {
    return (JSON.parse(text) as { server?: { id: string } }).server?.id ?? null
  } catch {
    return null
  }
}
