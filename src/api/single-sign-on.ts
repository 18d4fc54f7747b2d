/**
 * Login by the cloud's own single sign-on: Keystone's WebSSO, as Horizon uses it. The browser goes to Keystone, from there to the
 * identity provider and back, and a page of Keystone's posts a token, for no project yet, to our address (`origin`).
 *
 * Anyone's page could post a token of its owner's here: who sits at the browser would then act under a stranger's name. No nonce
 * can come back with the token, for Keystone compares `origin` whole with its trusted_dashboard and passes on nothing else. So:
 *  - The button on our own page sets a cookie, and only with that, once and for a few minutes, is a token taken. Another site
 *    cannot press it: the request needs our header. The cookie must be SameSite=None to come along with a post from another site,
 *    which browsers take with Secure alone; hence HTTPS.
 *  - The post must come from Keystone itself. Browsers name its origin, and no page can make that up. Where Keystone's web server
 *    forbids them to, the login is refused: to take a hidden origin would be to take everyone's.
 *  - Where the browser goes afterwards was said by our page beforehand, stays here, and is on our own address.
 * The session itself is that of any other login. Its cookie is Strict, though it is set after a post from another site: browsers
 * take it so, and leave it out of the navigation that follows, which asks for a page without data; what that asks for is ours.
 */
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../domain/clock.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Observer } from '../domain/observer.ts'
import type { SsoOffer, SsoWay } from '../domain/token-holder.ts'
import { BrieflyKept } from './briefly-kept.ts'
import type { Logins } from './logins.ts'
import { sessionCookie, signOnCookie, signOnIn } from './session-cookie.ts'

/** Horizon's path, which administrators know; with our origin before it, it is what trusted_dashboard must have. */
export const callbackPath = '/auth/websso/'

/** From the button to the token: passwords, second factors, a consent. Shorter: people start over; longer: a forgotten tab stays open to a post. */
const signOnLimitMs = 10 * 60_000
/** The login page asks as soon as it is loaded. Longer: it tells an old story to who opens it again. */
const refusalShownMs = 60_000

/** What the browser's cookie stands for. */
type Kept =
  | {
      kind: 'begun'
      /** Where the browser goes then, on our own address. */
      to: URL
      /** The origin that the token must come from. */
      keystone: string
      /** The session that this browser had before. */
      earlier: string | null
    }
  | { kind: 'refused'; why: string }

interface NextPlace {
  location: string
  cookies: string[]
}

export class SingleSignOn {
  readonly #logins: Logins
  readonly #ways: () => readonly SsoWay[]
  readonly #observer: Observer
  readonly #kept: BrieflyKept<Kept>

  /** @param ways asked for each request: a reload may change them */
  constructor(logins: Logins, clock: Clock, observer: Observer, ways: () => readonly SsoWay[]) {
    this.#logins = logins
    this.#ways = ways
    this.#observer = observer
    this.#kept = new BrieflyKept(clock)
  }

  offer(request: FastifyRequest): SsoOffer {
    const name = cookieOf(request)
    const kept = name === null ? null : this.#kept.look(name)
    return {
      ways: this.#ways().map((way) => ({ name: way.name })),
      refused: kept?.kind === 'refused' ? kept.why : null,
    }
  }

  /**
   * The button was pressed: where the browser goes. Throws NOT_FOUND for a login that there is not, USAGE without HTTPS,
   * API_UNAVAILABLE while Keystone cannot be asked.
   *
   * @param to path of the page that is wanted afterwards
   */
  async begin(
    request: FastifyRequest,
    { name, to }: { name: string; to: string },
  ): Promise<{ location: string; cookie: string }> {
    const ways = this.#ways()
    const way = ways.find((known) => known.name === name)
    if (way === undefined) {
      const known = ways.map((other) => other.name).join(', ')
      throw new LifeboatError('NOT_FOUND', `There is no login called ${name} (there is: ${known || 'none'})`)
    }
    const own = ownOrigin(request)
    const keystone = await this.#logins.keystoneUrl()
    const kept = this.#kept.keep(
      {
        kind: 'begun',
        to: ownAddress(to, own),
        keystone: new URL(keystone).origin,
        earlier: this.#logins.shown(request),
      },
      signOnLimitMs,
    )
    return {
      location: webssoUrl(keystone, way, own + callbackPath),
      cookie: signOnCookie(kept, signOnLimitMs, isSecure(request)),
    }
  }

  /** Keystone's page has posted: a session, or the login page with the reason why not. */
  async finish(request: FastifyRequest, form: unknown): Promise<NextPlace> {
    const name = cookieOf(request)
    const kept = name === null ? null : this.#kept.take(name)
    const begun = kept?.kind === 'begun' ? kept : null
    const secure = isSecure(request)
    try {
      if (begun === null) throw new LifeboatError('AUTH_FORBIDDEN', notBegun)
      refuseStrangers(request, begun.keystone)
      const session = await this.#logins.beginUnscoped(tokenIn(form))
      this.#logins.end(begun.earlier)
      const { name: who } = session.caller
      this.#observer.log?.('info', 'web.sso', { message: `${who} logged in by single sign-on`, who })
      return {
        location: begun.to.href,
        cookies: [sessionCookie(session.name, session.lengthMs, secure), signOnCookie('', 0, secure)],
      }
    } catch (thrown) {
      if (!(thrown instanceof LifeboatError)) throw thrown
      const { code, message: why } = thrown
      this.#observer.log?.('warn', 'web.sso', { message: `A login by single sign-on was refused: ${why}`, code })
      const refused = this.#kept.keep({ kind: 'refused', why }, refusalShownMs)
      return {
        location: loginPage(begun?.to ?? null),
        cookies: [signOnCookie(refused, refusalShownMs, secure)],
      }
    }
  }
}

const notBegun = `This login did not begin on this page, or took longer than ${signOnLimitMs / 60_000} minutes. Try again`

/** Keystone's own address for a browser that wants to log in. Pure. */
export function webssoUrl(keystone: string, { protocol, identityProvider }: SsoWay, origin: string): string {
  const by = encodeURIComponent(protocol)
  const path =
    identityProvider === null
      ? `websso/${by}`
      : `identity_providers/${encodeURIComponent(identityProvider)}/protocols/${by}/websso`
  return `${keystone}/auth/OS-FEDERATION/${path}?origin=${encodeURIComponent(origin)}`
}

function isSecure({ protocol }: FastifyRequest): boolean {
  return protocol === 'https'
}

function cookieOf(request: FastifyRequest): string | null {
  return signOnIn(request.headers.cookie, isSecure(request))
}

/** Addresses of the own machine, of which browsers keep Secure cookies also without TLS. */
const ownMachine = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Our origin as this browser reaches it, in the form in which browsers and Keystone compare origins. Throws USAGE. */
function ownOrigin({ protocol, host }: FastifyRequest): string {
  const own = URL.parse(`${protocol}://${host}`)
  if (own === null) throw new LifeboatError('USAGE', 'The request is not valid: its header Host is no address')
  if (own.protocol !== 'https:' && !ownMachine.test(own.hostname)) {
    const how = 'Open them with https, or log in with a password or a token (web.tls, web.trusted_proxies)'
    throw new LifeboatError('USAGE', `Single sign-on needs HTTPS, and the pages are at ${own.origin}. ${how}`)
  }
  return own.origin
}

/** Never another site, however its address is dressed up. */
function ownAddress(to: string, own: string): URL {
  const wanted = URL.parse(to, own)
  return wanted?.origin === own ? wanted : new URL('/', own)
}

function loginPage(to: URL | null): string {
  return to === null ? '/login' : `/login?to=${encodeURIComponent(to.pathname + to.search + to.hash)}`
}

function refuseStrangers({ headers: { origin } }: FastifyRequest, keystone: string): void {
  if (origin === keystone) return
  const why =
    origin === undefined || origin === 'null'
      ? 'its page hides where it comes from (a Referrer-Policy no-referrer or same-origin of Keystone’s web server does that)'
      : `it came from ${origin.slice(0, 255)}, and Keystone is at ${keystone}`
  throw new LifeboatError('AUTH_FORBIDDEN', `This login did not come from Keystone: ${why}`)
}

/** Throws USAGE, and repeats nothing of what was sent. */
function tokenIn(form: unknown): string {
  const [token = '', ...more] = new URLSearchParams(typeof form === 'string' ? form : '').getAll('token')
  if (token === '' || more.length > 0) throw new LifeboatError('USAGE', 'Keystone’s page must send one token')
  return token
}
