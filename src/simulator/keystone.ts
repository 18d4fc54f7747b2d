/**
 * The simulated Keystone v3: tokens by password, by application credential and by another token (rescoping), with expiry
 * and revocation, and the service catalogue.
 */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../domain/clock.ts'
import { asRecord, type Answer, type Exchange, type Service } from './exchange.ts'
import { isAdmin, type Caller } from './caller.ts'
import type { ApplicationCredential, Federation, SimulatedUser } from './model.ts'
import { failure } from './keystone-failure.ts'
import { federationAnswer, websso } from './websso.ts'

export interface Project {
  id: string
  name: string
}

export interface KeystoneState {
  clock: Clock
  users: SimulatedUser[]
  projects: Project[]
  applicationCredentials: ApplicationCredential[]
  federation: Federation
  /** Lifetime of a token in milliseconds. */
  tokenLifeMs: number
  region: string
  /** Service type and its URL for a project. */
  catalogue: (projectId: string) => { type: string; name: string; url: string }[]
}

interface Token {
  user: SimulatedUser
  /** Null: for none yet, as single sign-on gives them. */
  project: Project | null
  issuedAt: number
  expiresAt: number
  methods: string[]
}

interface Identified {
  user: SimulatedUser
  project?: Project
  boundTo?: Project
  expiresAt?: number
  methods?: string[]
}

export class Keystone {
  private readonly state: KeystoneState
  private readonly tokens = new Map<string, Token>()

  constructor(state: KeystoneState) {
    this.state = state
  }

  /** Who a token belongs to, or null when it is unknown, expired or revoked. */
  authenticate(tokenId: string | undefined, requestId: string): Caller | null {
    const token = tokenId === undefined ? undefined : this.tokens.get(tokenId)
    if (token === undefined || token.expiresAt <= this.state.clock.wall()) return null
    const { user, project } = token
    if (project === null) return null
    return {
      userId: user.id,
      userName: user.name,
      projectId: project.id,
      roles: user.roles[project.name] ?? [],
      requestId,
    }
  }

  /** Every token given so far stops working, as after a password change or a rotation of keys. */
  revokeAll(): void {
    this.tokens.clear()
  }

  readonly serve: Service = (exchange) => {
    const { method, path } = exchange
    if (path === '' || path === '/') return { status: 300, body: { versions: { values: [this.version(exchange)] } } }
    if (path === '/v3' || path === '/v3/') return { status: 200, body: { version: this.version(exchange) } }
    if (path === '/v3/auth/tokens' && method === 'POST') return this.issue(exchange.body)
    if (path === '/v3/auth/tokens' && method === 'GET') return this.show(exchange)
    if (path === '/v3/auth/projects' && method === 'GET') return this.ownProjects(exchange)
    const { federation } = this.state
    const page = websso(exchange, federation, (user) => this.signedOn(user))
    if (page !== null) return page
    if (path.startsWith('/v3/OS-FEDERATION/')) return this.ownFederation(exchange)
    return failure(404, 'Not Found', 'The resource could not be found.')
  }

  private version(exchange: Exchange): unknown {
    return {
      id: 'v3.14',
      status: 'stable',
      updated: '2020-04-07T00:00:00Z',
      links: [{ rel: 'self', href: `${exchange.base}/v3/` }],
      'media-types': [{ base: 'application/json', type: 'application/vnd.openstack.identity-v3+json' }],
    }
  }

  private issue(body: unknown): Answer {
    const auth = asRecord(asRecord(body)?.auth)
    const identity = asRecord(auth?.identity)
    const methods = Array.isArray(identity?.methods) ? identity.methods.map(String) : []
    if (auth === null || identity === null || methods.length === 0) {
      return failure(400, 'Bad Request', "'auth' is a required property")
    }
    const found = this.identify(identity, methods)
    if (found === 'no such token') return failure(404, 'Not Found', 'Could not recognize Fernet token')
    if (found === 'no such credential') return failure(404, 'Not Found', 'Could not find Application Credential.')
    if (found === null) return failure(401, 'Unauthorized', 'The request you have made requires authentication.')
    const project = found.project ?? this.scoped(asRecord(auth.scope))
    const elsewhere = found.boundTo !== undefined && found.boundTo !== project
    if (project === null || elsewhere || (found.user.roles[project.name] ?? []).length === 0) {
      return failure(401, 'Unauthorized', 'The request you have made requires authentication.')
    }
    const { user, expiresAt } = found
    const { id, token } = this.made(user, project, [...methods, ...(found.methods ?? [])], expiresAt)
    return { status: 201, body: { token: this.view(token) }, headers: { 'X-Subject-Token': id } }
  }

  /** @param limit a rescoped token lives no longer than the one it came from */
  private made(
    user: SimulatedUser,
    project: Project | null,
    methods: string[],
    limit = Infinity,
  ): { id: string; token: Token } {
    const issuedAt = this.state.clock.wall()
    const token: Token = {
      user,
      project,
      issuedAt,
      expiresAt: Math.min(issuedAt + this.state.tokenLifeMs, limit),
      methods,
    }
    const id = `gAAAA${randomBytes(40).toString('base64url')}`
    this.tokens.set(id, token)
    return { id, token }
  }

  /** A token for no project; null for someone whom nobody knows. */
  private signedOn(name: string): string | null {
    const user = this.state.users.find((at) => at.name === name)
    return user === undefined ? null : this.made(user, null, ['mapped']).id
  }

  private identify(
    identity: Record<string, unknown>,
    methods: string[],
  ): Identified | 'no such token' | 'no such credential' | null {
    if (methods.includes('password')) {
      const given = asRecord(asRecord(identity.password)?.user)
      const user = this.state.users.find((at) => at.name === given?.name || at.id === given?.id)
      return user !== undefined && user.password === given?.password ? { user } : null
    }
    if (methods.includes('application_credential')) {
      const given = asRecord(identity.application_credential)
      const credential = this.state.applicationCredentials.find((at) => at.id === given?.id || at.name === given?.name)
      const user = this.state.users.find((at) => at.id === credential?.userId)
      const project = this.state.projects.find((at) => at.name === credential?.project)
      if (credential === undefined || user === undefined || project === undefined) return 'no such credential'
      return credential.secret === given?.secret ? { user, project } : null
    }
    if (methods.includes('token')) {
      const old = this.tokens.get(String(asRecord(identity.token)?.id))
      if (old === undefined || old.expiresAt <= this.state.clock.wall()) return 'no such token'
      // An application credential is bound to its project: its tokens stay there whatever scope is asked for.
      const bound = old.methods.includes('application_credential')
      const boundTo = bound && old.project !== null ? { boundTo: old.project } : {}
      return { user: old.user, expiresAt: old.expiresAt, methods: old.methods, ...boundTo }
    }
    return null
  }

  private scoped(scope: Record<string, unknown> | null): Project | null {
    const wanted = asRecord(scope?.project)
    return this.state.projects.find((at) => at.id === wanted?.id || at.name === wanted?.name) ?? null
  }

  private show(exchange: Exchange): Answer {
    const asked = exchange.headers['x-subject-token']
    if (this.authenticate(first(exchange.headers['x-auth-token']), '') === null) {
      return failure(401, 'Unauthorized', 'The request you have made requires authentication.')
    }
    const token = this.tokens.get(first(asked) ?? '')
    if (token === undefined || token.expiresAt <= this.state.clock.wall()) {
      return failure(404, 'Not Found', 'Could not find token.')
    }
    return { status: 200, body: { token: this.view(token) } }
  }

  private ownProjects(exchange: Exchange): Answer {
    const caller = this.authenticate(first(exchange.headers['x-auth-token']), '')
    if (caller === null) return failure(401, 'Unauthorized', 'The request you have made requires authentication.')
    const user = this.state.users.find((at) => at.id === caller.userId)
    const mine = this.state.projects.filter((project) => (user?.roles[project.name] ?? []).length > 0)
    return {
      status: 200,
      body: { projects: mine.map((project) => ({ ...project, domain_id: 'default', enabled: true })), links: {} },
    }
  }

  private ownFederation(exchange: Exchange): Answer {
    const caller = this.authenticate(first(exchange.headers['x-auth-token']), '')
    if (caller === null) return failure(401, 'Unauthorized', 'The request you have made requires authentication.')
    if (!isAdmin(caller)) return failure(403, 'Forbidden', 'You are not authorized to perform the requested action.')
    return federationAnswer(exchange, this.state.federation)
  }

  private view(token: Token): unknown {
    const { user, project } = token
    const domain = { id: 'default', name: 'Default' }
    return {
      methods: token.methods,
      user: { domain, id: user.id, name: user.name, password_expires_at: null },
      audit_ids: [randomBytes(12).toString('base64url')],
      expires_at: new Date(token.expiresAt).toISOString().replace('Z', '000Z'),
      issued_at: new Date(token.issuedAt).toISOString().replace('Z', '000Z'),
      ...(project !== null && {
        project: { domain, id: project.id, name: project.name },
        is_domain: false,
        roles: (user.roles[project.name] ?? []).map((name) => ({ id: `role-${name}`, name })),
        catalog: this.catalogue(project.id),
      }),
    }
  }

  private catalogue(projectId: string): unknown[] {
    return this.state.catalogue(projectId).map((service) => ({
      id: `service-${service.type}`,
      type: service.type,
      name: service.name,
      endpoints: ['internal', 'public', 'admin'].map((kind) => ({
        id: `${service.type}-${kind}`,
        interface: kind,
        region_id: this.state.region,
        region: this.state.region,
        url: service.url,
      })),
    }))
  }
}

/** One value of a header that may have been sent several times. */
export function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
