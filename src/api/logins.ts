/**
 * Who asks on TCP: a token of the cloud, or the session that a page was given for one. Nobody is let in on a guess: what cannot be
 * asked of Keystone is refused.
 */
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../domain/clock.ts'
import { LifeboatError } from '../domain/errors.ts'
import { requestHeader, type Role } from '../domain/review.ts'
import type { Login, SsoWay, TokenCheck, TokenHolder } from '../domain/token-holder.ts'
import { mayDo } from './access.ts'
import { identified, nameOf, projectsText, type CallerRules, type ProjectRule } from './caller-rules.ts'
import type { Identified } from './rest.ts'
import { sessionIn } from './session-cookie.ts'
import { Sessions } from './sessions.ts'
import { keystoneMissing, TokenCache } from './token-cache.ts'

export interface LoginRules {
  roles: CallerRules['roles']
  /** Empty: the daemon's own project. */
  projects: readonly ProjectRule[]
  sessionMs: number
  /** Logins by single sign-on that are offered. */
  sso: readonly SsoWay[]
}

interface Known {
  identified: Identified
  leftMs: number
}

type Begun = { name: string; lengthMs: number } & Identified

export class Logins {
  readonly #check: TokenCheck
  readonly #rules: () => LoginRules
  readonly #tokens: TokenCache
  readonly #sessions: Sessions

  /** @param rules asked for each request: a reload may change who may do what */
  constructor(check: TokenCheck, clock: Clock, rules: () => LoginRules) {
    this.#check = check
    this.#rules = rules
    this.#tokens = new TokenCache(check, clock)
    this.#sessions = new Sessions(clock, () => rules().sessionMs)
  }

  /** Throws AUTH_FAILED, AUTH_FORBIDDEN, or API_UNAVAILABLE while Keystone cannot be asked. */
  readonly identify = async (request: FastifyRequest): Promise<Identified> => {
    const writes = request.method !== 'GET' && request.method !== 'HEAD'
    const shown = tokenIn(request)
    if (shown !== null) return (await this.#known(shown, writes, 'token')).identified
    const name = this.shown(request)
    const token = name === null ? null : this.#sessions.token(name)
    if (name === null || token === null)
      throw new LifeboatError('AUTH_FAILED', 'Log in: show a token (X-Auth-Token), or begin a session')
    if (writes) refuseForeign(request)
    try {
      return (await this.#known(token, writes, 'session')).identified
    } catch (thrown) {
      if (thrown instanceof LifeboatError && thrown.code === 'AUTH_FAILED') this.#sessions.end(name)
      throw thrown
    }
  }

  /** Begins a session for a token, or for a name and a password. */
  async begin(given: { token: string } | Login): Promise<Begun> {
    const token = 'token' in given ? given.token : await this.#logIn(given)
    const known = await this.#known(token, true, 'session')
    return this.#open(token, known)
  }

  /**
   * Begins a session for a token that is for no project yet, as single sign-on gives it: in the project where its holder may do
   * most, of those in which roles count. Not for the system: a federated token for that has no form in Keystone, which fails over
   * the question (500, or a broken connection).
   */
  async beginUnscoped(token: string): Promise<Begun> {
    const { user } = await this.#holder(token, true)
    const projects = await this.#projects()
    let best: { token: string; known: Known } | null = null
    let refused: LifeboatError | null = null
    for (const project of projects) {
      const rescoped = await asked(this.#check.rescope(token, project))
      if (rescoped === null) continue
      try {
        const known = await this.#known(rescoped, true, 'session')
        if (best === null || !mayDo(roleOf(best.known), roleOf(known))) best = { token: rescoped, known }
      } catch (thrown) {
        if (!(thrown instanceof LifeboatError) || thrown.code !== 'AUTH_FORBIDDEN') throw thrown
        refused ??= thrown
      }
      // Nothing beyond it could be found, and each project without a role is a refusal in Keystone's log.
      if (best !== null && roleOf(best.known) === 'admin') break
    }
    if (best !== null) return this.#open(best.token, best.known)
    const none = `${nameOf(user)} has no role in ${projectsText(projects)}, where roles count`
    throw refused ?? new LifeboatError('AUTH_FORBIDDEN', none)
  }

  /** Where browsers reach Keystone. Throws API_UNAVAILABLE while that cannot be asked. */
  keystoneUrl(): Promise<string> {
    return asked(this.#check.publicUrl())
  }

  /** The session that a request shows, or null. */
  shown(request: FastifyRequest): string | null {
    return sessionIn(request.headers.cookie, request.protocol === 'https')
  }

  /** @param name null: there was none */
  end(name: string | null): void {
    if (name !== null) this.#sessions.end(name)
  }

  #open(token: string, { identified: who, leftMs }: Known): Begun {
    return { ...this.#sessions.begin(token, leftMs), ...who }
  }

  async #logIn(login: Login): Promise<string> {
    const done = await asked(this.#check.login(login))
    if (done === null)
      throw new LifeboatError('AUTH_FAILED', 'Keystone refused: wrong name or password, or no role in that project')
    return done.token
  }

  async #known(token: string, fresh: boolean, by: 'token' | 'session'): Promise<Known> {
    const holder = await this.#holder(token, fresh)
    const rules = { roles: this.#rules().roles, projects: await this.#projects() }
    return { identified: identified(holder, rules, by), leftMs: holder.leftMs }
  }

  async #holder(token: string, fresh: boolean): Promise<TokenHolder> {
    const holder = await this.#tokens.holder(token, { fresh })
    if (holder === null)
      throw new LifeboatError('AUTH_FAILED', 'Keystone does not know this token: it ended, or is not of this cloud')
    return holder
  }

  async #projects(): Promise<readonly ProjectRule[]> {
    const { projects } = this.#rules()
    if (projects.length > 0) return projects
    // Asked each time: a reload may give the daemon a credential of another project.
    const { id } = await asked(this.#check.ownProject())
    return [{ id }]
  }
}

/** An answer of Keystone's, or in words that there is none. */
function asked<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((thrown: unknown) => {
    throw keystoneMissing(thrown)
  })
}

function roleOf({ identified: { caller } }: Known): Role {
  return caller.role
}

/** X-Auth-Token, or Authorization: Bearer. Null when neither is given. Throws USAGE when both are. */
function tokenIn({ headers }: FastifyRequest): string | null {
  const own = headers['x-auth-token']
  const bearer = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1]
  if (own !== undefined && bearer !== undefined)
    throw new LifeboatError('USAGE', 'Show one token: X-Auth-Token or Authorization')
  if (headers.authorization !== undefined && bearer === undefined)
    throw new LifeboatError('AUTH_FAILED', 'Authorization must be: Bearer TOKEN')
  return bearer ?? (typeof own === 'string' ? own : null)
}

/** A browser sends the cookie with requests that other sites make it send; it does not let them set our header. */
export function refuseForeign({ headers, protocol, host }: FastifyRequest): void {
  const foreign = (why: string): never => {
    throw new LifeboatError('AUTH_FORBIDDEN', `This write did not come from our own pages: ${why}`)
  }
  if (headers[requestHeader] === undefined) foreign(`the header ${requestHeader} is missing`)
  if (headers.origin !== undefined && headers.origin !== `${protocol}://${host}`) foreign('it has another origin')
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') foreign(`it is ${site}`)
}
