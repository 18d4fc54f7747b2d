/** Tenants and other administrators of the simulated cloud: what they order goes through its API like everything else. */
import type { Wire, WireAnswer } from '../../domain/wire.ts'
import type { Simulator } from '../../simulator/index.ts'

export class People {
  readonly #simulator: Simulator
  readonly #wire: Wire
  readonly #idOf: (name: string) => string

  constructor(simulator: Simulator, idOf: (name: string) => string) {
    this.#simulator = simulator
    this.#wire = simulator.wire()
    this.#idOf = idOf
  }

  /** Throws when Nova refuses: the script is wrong then. */
  async server(order: { instance: string; action: string; body?: unknown; as: 'tenant' | 'admin' }): Promise<void> {
    const [user, project] = order.as === 'tenant' ? ['tenant', 'tenant'] : ['operator', 'admin']
    const path = `/compute/v2.1/servers/${this.#idOf(order.instance)}`
    if (order.action === 'delete') await this.#call(user, project, 'DELETE', path)
    else await this.#call(user, project, 'POST', `${path}/action`, { [order.action]: order.body ?? null })
  }

  /** Throws when Nova refuses: the script is wrong then. */
  async service(order: {
    host: string
    forcedDown?: boolean | undefined
    status?: string | undefined
    disabledReason?: string | undefined
    deleted?: true | undefined
  }): Promise<void> {
    const { uuid } = this.#simulator.world.host(order.host).service
    const path = `/compute/v2.1/os-services/${uuid}`
    if (order.deleted === true) return this.#call('operator', 'admin', 'DELETE', path)
    await this.#call('operator', 'admin', 'PUT', path, {
      ...(order.forcedDown !== undefined && { forced_down: order.forcedDown }),
      ...(order.status !== undefined && { status: order.status }),
      ...(order.disabledReason !== undefined && { disabled_reason: order.disabledReason }),
    })
  }

  async #call(user: string, project: string, method: string, path: string, body?: unknown): Promise<void> {
    const answer = await this.#send(method, path, { 'x-auth-token': await this.#token(user, project) }, body)
    if (answer.status >= 300) throw new Error(`the script orders what Nova refuses: ${answer.status} ${answer.data}`)
  }

  async #token(user: string, project: string): Promise<string> {
    const access = this.#simulator.cloud(user, project)
    const auth = {
      identity: {
        methods: ['password'],
        password: { user: { name: user, password: access.password, domain: { name: 'Default' } } },
      },
      scope: { project: { name: project, domain: { name: 'Default' } } },
    }
    const answer = await this.#send('POST', '/identity/v3/auth/tokens', {}, { auth })
    return answer.headers['x-subject-token'] ?? ''
  }

  #send(method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<WireAnswer> {
    const version = { 'openstack-api-version': 'compute 2.90' }
    const data = body === undefined ? undefined : JSON.stringify(body)
    return this.#wire({ method, url: `${this.#simulator.url}${path}`, headers: { ...version, ...headers }, data })
  }
}
