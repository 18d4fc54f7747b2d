/** The cookie of a session, written and read. Strict, for this host only, out of reach of scripts. Pure. */

/** A browser takes a __Host- cookie only from this very host, over TLS, for all paths: no neighbour can set one. */
export function cookieName(secure: boolean): string {
  return secure ? '__Host-lifeboat' : 'lifeboat'
}

/** The Set-Cookie header. `lengthMs` 0 takes the cookie back. */
export function sessionCookie(name: string, lengthMs: number, secure: boolean): string {
  const parts = [
    `${cookieName(secure)}=${name}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Strict',
    `Max-Age=${Math.floor(lengthMs / 1000)}`,
  ]
  return [...parts, ...(secure ? ['Secure'] : [])].join('; ')
}

/** The session's name in a Cookie header, or null. Of several with our name none counts: one of them is someone else's. */
export function sessionIn(header: string | undefined, secure: boolean): string | null {
  const own = (header ?? '')
    .split(';')
    .map((pair) => pair.trim().split('='))
    .filter(([name]) => name === cookieName(secure))
  const [only] = own
  return own.length === 1 ? (only?.[1] ?? null) : null
}
