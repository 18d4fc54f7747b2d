/** A Keystone of a test's own making, and the web server over a daemon to which nothing happened. */
import type { FastifyInstance } from 'fastify'
import { webServer, type WebOptions, type WebRules } from '../../src/api/web-listener.ts'
import type { Operations } from '../../src/domain/operations.ts'
import type { Login, TokenCheck, TokenHolder, TokenScope } from '../../src/domain/token-holder.ts'
import { VirtualClock } from '../../src/simulator/index.ts'
import { fakeOperations } from './fake-operations.ts'
import { fakeReview } from './fake-review.ts'

export const ownProject = { kind: 'project', id: 'p-admin', name: 'admin', domain: 'Default' } as const

export function person(name: string, roles: string[], change: Partial<TokenHolder> = {}): TokenHolder {
  return { user: { id: `u-${name}`, name, domain: 'Default' }, scope: ownProject, roles, leftMs: 3_600_000, ...change }
}

export class People implements TokenCheck {
  readonly tokens = new Map<string, TokenHolder>()
  asked = 0
  /** Thrown instead of an answer. */
  trouble: Error | null = null

  async holder(token: string): Promise<TokenHolder | null> {
    this.asked += 1
    if (this.trouble !== null) throw this.trouble
    return this.tokens.get(token) ?? null
  }

  async login({ user, password }: Login): Promise<{ token: string; holder: TokenHolder } | null> {
    if (this.trouble !== null) throw this.trouble
    const holder = this.tokens.get(`token-of-${user}`)
    return password === 'right' && holder !== undefined ? { token: `token-of-${user}`, holder } : null
  }

  /** Tokens of single sign-on, by what each becomes in the scopes in which its holder has a role. */
  readonly scoped = new Map<string, (scope: TokenScope) => string | null>()

  async rescope(token: string, scope: TokenScope): Promise<string | null> {
    if (this.trouble !== null) throw this.trouble
    return this.scoped.get(token)?.(scope) ?? null
  }

  async publicUrl(): Promise<string> {
    if (this.trouble !== null) throw this.trouble
    return 'https://keystone.example:5000/v3'
  }

  async ownProject(): Promise<{ id: string; name: string }> {
    return ownProject
  }
}

export const usual: WebRules = {
  roles: { admin: 'admin', 'ha-operator': 'operator', reader: 'reader' },
  projects: [],
  sessionMs: 8 * 3_600_000,
  requestsAMinute: 600,
  sso: [],
}

/** On a free port of this machine, without TLS and without pages. */
export const listening: WebOptions = {
  host: '127.0.0.1',
  port: 0,
  tls: null,
  trustedProxies: [],
  rules: () => usual,
  pages: '/nowhere',
}

export interface Front {
  server: FastifyInstance
  people: People
  clock: VirtualClock
  asked: unknown[][]
  logged: Record<string, unknown>[]
}

/** Ann may do everything, Olaf gives orders, Rita reads, and Ted is an admin of his own tenant's project only. */
export async function front(
  change: Partial<WebOptions> = {},
  operations: Partial<Operations> = {},
  recorded?: () => Promise<void>,
): Promise<Front> {
  const people = new People()
  people.tokens.set('token-of-ann', person('ann', ['admin', 'member']))
  people.tokens.set('token-of-olaf', person('olaf', ['member', 'ha-operator']))
  people.tokens.set('token-of-rita', person('rita', ['reader']))
  const tenant = { kind: 'project', id: 'p-ted', name: 'admin', domain: 'Tenants' } as const
  people.tokens.set('token-of-ted', person('ted', ['admin'], { scope: tenant }))
  const clock = new VirtualClock()
  const { operations: own, asked } = fakeOperations(operations)
  const logged: Record<string, unknown>[] = []
  const observer = {
    log: (level: string, event: string, fields: Record<string, unknown>) =>
      void logged.push({ level, event, ...fields }),
  }
  const server = await webServer(
    { operations: own, review: fakeReview(asked), clock, people, observer, recorded },
    { ...listening, ...change },
  )
  return { server, people, clock, asked, logged }
}

export const as = (name: string) => ({ 'x-auth-token': `token-of-${name}` })
