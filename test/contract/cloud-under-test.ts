/**
 * What the contract suite needs of a cloud: raw HTTP with a microversion, and a driver that breaks hosts and mends them.
 * Implemented for the simulator (simulated-cloud.ts) and for real Nova (test/nova/lab.ts).
 */

export interface Reply {
  status: number
  headers: Headers
  /** Parsed JSON; undefined when the body was empty. */
  body: any
  text: string
}

export interface CloudUnderTest {
  name: string
  /** Root of the compute service as the catalogue says, e.g. "http://…/v2.1". */
  computeUrl: string
  identityUrl: string
  credentials: { username: string; password: string; project: string }
  /** A user without the admin role, in its own project. */
  plainCredentials: { username: string; password: string; project: string }
  maxMinor: number
  /** Three hosts that the tests may kill, in this order. */
  hosts: [string, string, string]
  /** A host that no test kills: its nova-compute's first power sync, within a minute of its start, is long over. */
  quietHost: string
  pace: { pollMs: number; limitMs: number; rpcTimeoutMs: number; lifecycleDelayMs: number }
  /** Adds a unique part so that a shared cloud's other servers are left alone. */
  prefix: string
  crash(host: string): Promise<void>
  isolate(host: string): Promise<void>
  start(host: string): Promise<void>
  /** The guest's process dies on a host that lives; unheard: its nova-compute hears nothing of it. */
  crashGuest(id: string, how?: 'unheard'): Promise<void>
  /** The hypervisor pauses the guest by itself. */
  pauseGuest(id: string): Promise<void>
  /** `slow`: each spawn lasts, and `slowMove`: each landed instance moves late, until that is taken back (in the simulator: for a while). */
  fault(
    host: string,
    fault: { fail?: boolean; stopFail?: boolean; slow?: boolean; slowMove?: boolean } | null,
  ): Promise<void>
  truth(): Promise<{
    running: Record<string, string[]>
    doubles: { uuid: string }[]
    starts: Record<string, unknown[]>
  }>
  /** Leaves no servers and no forced-down or disabled host behind. */
  tidy(): Promise<void>
}

const tokens = new Map<string, string>()

/** A token for these credentials, kept for the run. */
export async function tokenFor(cloud: CloudUnderTest, who = cloud.credentials): Promise<string> {
  const key = `${cloud.identityUrl} ${who.username} ${who.project}`
  const known = tokens.get(key)
  if (known !== undefined) return known
  const reply = await authenticate(cloud, who.username, who.password, who.project)
  const token = reply.headers.get('x-subject-token')
  if (token === null) throw new Error(`no token for ${who.username}: ${reply.status} ${reply.text}`)
  tokens.set(key, token)
  return token
}

export function authenticate(
  cloud: CloudUnderTest,
  username: string,
  password: string,
  project: string,
): Promise<Reply> {
  const user = { name: username, password, domain: { id: 'default' } }
  return identify(cloud, { methods: ['password'], password: { user } }, project)
}

/** POST /auth/tokens with an `identity` of the caller's making. */
export function identify(cloud: CloudUnderTest, identity: unknown, project?: string): Promise<Reply> {
  const scope = project === undefined ? undefined : { project: { name: project, domain: { id: 'default' } } }
  const body = { auth: { identity, scope } }
  return send('POST', `${cloud.identityUrl}/auth/tokens`, { 'Content-Type': 'application/json' }, body)
}

/** One compute request. `minor` null sends no version header; `token` null sends none. */
export async function nova(
  cloud: CloudUnderTest,
  method: string,
  path: string,
  body?: unknown,
  options: { minor?: number | string | null; token?: string | null } = {},
): Promise<Reply> {
  const headers: Record<string, string> = { Accept: 'application/json' }
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  const minor = options.minor === undefined ? 90 : options.minor
  if (minor !== null) headers['OpenStack-API-Version'] = `compute ${typeof minor === 'number' ? `2.${minor}` : minor}`
  const token = options.token === undefined ? await tokenFor(cloud) : options.token
  if (token !== null) headers['X-Auth-Token'] = token
  return send(method, cloud.computeUrl + path, headers, body)
}

/** One Placement request, at the address that the catalogue gives. */
export async function placement(cloud: CloudUnderTest, path: string): Promise<Reply> {
  const { username, password, project } = cloud.credentials
  const login = await authenticate(cloud, username, password, project)
  const { endpoints } = login.body.token.catalog.find((at: any) => at.type === 'placement')
  const { url } = endpoints.find((at: any) => at.interface === 'public')
  const token = login.headers.get('x-subject-token') ?? ''
  return send('GET', url + path, { 'X-Auth-Token': token, 'OpenStack-API-Version': 'placement 1.6' }, undefined)
}

async function send(method: string, url: string, headers: Record<string, string>, body: unknown): Promise<Reply> {
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  const text = await response.text()
  let parsed: unknown
  try {
    parsed = text === '' ? undefined : JSON.parse(text)
  } catch {
    parsed = undefined
  }
  return { status: response.status, headers: response.headers, body: parsed, text }
}
