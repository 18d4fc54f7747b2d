/** A simulated cloud on a virtual clock, and raw requests to it. */
import { startSimulator, VirtualClock, type Simulator, type SimulatorOptions } from '../../src/simulator/index.ts'

export interface Stage {
  clock: VirtualClock
  simulator: Simulator
  /** One compute request as the daemon's user, at 2.95. Rejects when the connection breaks. */
  nova(
    method: string,
    path: string,
    body?: unknown,
    signal?: AbortSignal,
  ): Promise<{ status: number; body: any; requestId: string | null }>
  close(): Promise<void>
}

export async function stage(options: Partial<SimulatorOptions> = {}): Promise<Stage> {
  const clock = new VirtualClock()
  const simulator = await startSimulator({ clock, ...options })
  let token: string | null = null
  const nova: Stage['nova'] = async (method, path, body, signal) => {
    token ??= await login(simulator)
    const response = await fetch(`${simulator.url}/compute/v2.1${path}`, {
      method,
      headers: { 'X-Auth-Token': token, 'OpenStack-API-Version': 'compute 2.95', 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    })
    const text = await response.text()
    const parsed: unknown = text === '' ? undefined : JSON.parse(text)
    return { status: response.status, body: parsed, requestId: response.headers.get('x-openstack-request-id') }
  }
  return {
    clock,
    simulator,
    nova,
    close: () => simulator.close(),
  }
}

export async function login(simulator: Simulator, user = 'lifeboat', project = 'service'): Promise<string> {
  const access = simulator.cloud(user, project)
  const domain = { id: 'default' }
  const reply = await tokens(simulator, {
    identity: { methods: ['password'], password: { user: { name: user, password: access.password, domain } } },
    scope: { project: { name: project, domain } },
  })
  const token = reply.headers.get('x-subject-token')
  if (token === null) throw new Error(`no token: ${reply.status}`)
  return token
}

export function tokens(simulator: Simulator, auth: unknown): Promise<Response> {
  return fetch(`${simulator.url}/identity/v3/auth/tokens`, { method: 'POST', body: JSON.stringify({ auth }) })
}
