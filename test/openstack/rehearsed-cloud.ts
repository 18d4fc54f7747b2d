/**
 * A tiny OpenStack on a local port, for tests of the client: real sockets, real HTTP, answers that a test rehearses.
 * What Nova really does is tested elsewhere (test/contract); here the point is what a network or a broken service can do.
 */
import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../src/domain/clock.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { RequestSeen } from '../../src/domain/observer.ts'
import { createCloud } from '../../src/openstack/cloud-client.ts'
import type { CloudOptions, OpenStackCloud } from '../../src/openstack/cloud-client.ts'
import type { CloudConfig } from '../../src/openstack/cloud-config.ts'

export const password = 'correct-horse-battery'
/** A self-signed certificate for 127.0.0.1, and its key. */
export const loopbackPem = fileURLToPath(new URL('loopback.pem', import.meta.url))
export const ownProject = 'a0000000000000000000000000000001'

export interface Asked {
  method: string
  path: string
  query: URLSearchParams
  microversion: string | null
  token: string | null
  globalRequestId: string | null
  body: unknown
}

export interface Reply {
  status?: number
  headers?: Record<string, string>
  json?: unknown
  text?: string
  /** reset: the connection dies unanswered. hang: no answer at all. */
  instead?: 'reset' | 'hang'
}
export type Handler = (asked: Asked, nth: number) => Reply | Promise<Reply>

/** Time stands still until a test moves it. Short pauses (between tries) pass by themselves, time limits do not. */
export class StillClock implements Clock {
  #now = 1000
  readonly #waiting = new Set<{ atMs: number; fire: () => void }>()
  now = (): number => this.#now
  wall = (): number => 1_700_000_000_000 + this.#now
  after = (delayMs: number, fire: () => void): (() => void) => {
    const entry = { atMs: this.#now + delayMs, fire }
    this.#waiting.add(entry)
    if (delayMs < 5000) {
      setImmediate(() => {
        if (this.#waiting.has(entry)) this.advance(Math.max(0, entry.atMs - this.#now))
      })
    }
    return () => this.#waiting.delete(entry)
  }
  advance(ms: number): void {
    this.#now += ms
    for (const entry of [...this.#waiting]) {
      if (entry.atMs <= this.#now && this.#waiting.delete(entry)) entry.fire()
    }
  }
  get armed(): number {
    return this.#waiting.size
  }
}

export class RehearsedCloud {
  readonly clock = new StillClock()
  readonly asked: Asked[] = []
  readonly seen: RequestSeen[] = []
  /** How connections broke that the client did not end in order. */
  readonly broke: string[] = []
  readonly clouds: OpenStackCloud[] = []
  max = '2.100'
  min = '2.1'
  lifeMs = 3_600_000
  logins = 0
  roles = ['admin']
  readonly #handlers = new Map<string, { handler: Handler; times: number }>()
  readonly #server: http.Server
  readonly #scheme: string
  port = 0

  private constructor(tls: boolean) {
    const serve = (request: http.IncomingMessage, response: http.ServerResponse): void =>
      void this.#serve(request, response)
    const pem = tls ? readFileSync(loopbackPem) : undefined
    this.#server = pem ? https.createServer({ cert: pem, key: pem }, serve) : http.createServer(serve)
    this.#scheme = tls ? 'https' : 'http'
    this.on('POST /v3/auth/tokens', (asked) => this.#login(asked))
    this.on('GET /v2.1/', () => ({ json: { version: { id: 'v2.1', version: this.max, min_version: this.min } } }))
  }

  static async open({ tls = false } = {}): Promise<RehearsedCloud> {
    const cloud = new RehearsedCloud(tls)
    await new Promise<void>((resolve) => cloud.#server.listen(0, '127.0.0.1', resolve))
    cloud.port = (cloud.#server.address() as AddressInfo).port
    return cloud
  }

  async shut(): Promise<void> {
    for (const cloud of this.clouds) cloud.close()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${this.port}`
  }

  /** Rehearses the answer to "METHOD /path". `nth` counts from 1. */
  on(route: string, handler: Handler): void {
    this.#handlers.set(route, { handler, times: 0 })
  }

  requests(route: string): Asked[] {
    return this.asked.filter((asked) => `${asked.method} ${asked.path}` === route)
  }

  config(change: Partial<CloudConfig> = {}): CloudConfig {
    const endpoint = { interfaces: ['public'], region: null, override: null }
    return {
      name: 'rehearsed',
      source: 'test',
      authUrl: `${this.url}/v3`,
      credential: {
        kind: 'password',
        user: { name: 'lifeboat', domain: { id: 'default' } },
        password,
        project: { name: 'service', domain: { id: 'default' } },
      },
      endpoints: { compute: endpoint, volume: endpoint, placement: endpoint },
      tls: { verify: true, cacert: null, cert: null, key: null },
      apiTimeoutMs: null,
      ...change,
    }
  }

  client(change: Partial<CloudConfig> = {}, options: Partial<CloudOptions> = {}): OpenStackCloud {
    const observer = { request: (seen: RequestSeen) => void this.seen.push(seen) }
    const cloud = createCloud({ config: this.config(change), clock: this.clock, observer, ...options })
    this.clouds.push(cloud)
    return cloud
  }

  /** Keystone's answer as it comes; a test may change it. */
  tokenBody(project = ownProject): { token: Record<string, unknown> } {
    const endpoint = (path: string): unknown[] => [
      { interface: 'public', region_id: 'RegionOne', region: 'RegionOne', url: `${this.url}${path}` },
    ]
    return {
      token: {
        issued_at: '2001-01-01T00:00:00.000000Z',
        expires_at: new Date(Date.parse('2001-01-01T00:00:00Z') + this.lifeMs).toISOString(),
        user: { id: 'u1', name: 'lifeboat' },
        project: { id: project, name: 'service' },
        roles: this.roles.map((name) => ({ name })),
        catalog: [
          { type: 'compute', endpoints: endpoint('/v2.1') },
          { type: 'volumev3', endpoints: endpoint(`/volume/v3/${project}`) },
        ],
      },
    }
  }

  #login(asked: Asked): Reply {
    this.logins += 1
    const scope = (asked.body as { auth: { scope?: { project: { id?: string } } } }).auth.scope?.project.id
    return {
      status: 201,
      headers: { 'x-subject-token': `token-number-${this.logins}` },
      json: this.tokenBody(scope),
    }
  }

  async #serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url)
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const header = (name: string): string | null => (request.headers[name] as string | undefined) ?? null
    const asked: Asked = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      microversion: header('openstack-api-version'),
      token: header('x-auth-token'),
      globalRequestId: header('x-openstack-request-id'),
      body: text === '' ? undefined : JSON.parse(text),
    }
    this.asked.push(asked)
    const found = this.#handlers.get(`${asked.method} ${asked.path}`)
    if (found) found.times += 1
    const reply = found ? await found.handler(asked, found.times) : fault(404, 'no such route')
    if (reply.instead === 'reset') return void request.socket.destroy()
    if (reply.instead === 'hang') {
      request.socket.on('error', ({ code }: NodeJS.ErrnoException) => this.broke.push(code ?? ''))
      return
    }
    const headers = { 'content-type': 'application/json', 'x-openstack-request-id': 'req-1', ...reply.headers }
    response.writeHead(reply.status ?? 200, headers)
    response.end(reply.text ?? (reply.json === undefined ? '' : JSON.stringify(reply.json)))
  }
}

/** An error body as Nova writes it. */
export function fault(status: number, message: string): Reply {
  return { status, json: { someFault: { code: status, message } } }
}

/** A server as Nova shows it at 2.90, with changes. */
export function serverJson(id: string, change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id,
    name: `name-${id}`,
    tenant_id: 'p1',
    user_id: 'u1',
    status: 'ACTIVE',
    created: '2026-01-01T00:00:00Z',
    updated: '2026-01-01T00:00:00Z',
    'OS-EXT-SRV-ATTR:host': 'cmp01',
    'OS-EXT-STS:vm_state': 'active',
    'OS-EXT-STS:task_state': null,
    'OS-EXT-STS:power_state': 1,
    'OS-SRV-USG:launched_at': '2026-01-01T00:00:00.000000',
    'OS-EXT-AZ:availability_zone': 'nova',
    locked: false,
    locked_reason: null,
    metadata: {},
    tags: [],
    flavor: { original_name: 'm1', vcpus: 1, ram: 64, disk: 1, ephemeral: 0, swap: 0, extra_specs: {} },
    image: '',
    'os-extended-volumes:volumes_attached': [],
    ...change,
  }
}

/** The error that a call ends with; fails the test when it ends well. */
export async function failure(work: Promise<unknown>): Promise<LifeboatError> {
  try {
    await work
  } catch (thrown) {
    if (thrown instanceof LifeboatError) return thrown
    throw thrown
  }
  throw new Error('the call should have failed')
}
