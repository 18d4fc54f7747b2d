/** The cookies of a session and of a login under way, written and read. For this host only, out of reach of scripts. Pure. */

/** A browser takes a __Host- cookie only from this very host, over TLS, for all paths: no neighbour can set one. */
function hostOnly(name: string, secure: boolean): string {
  return secure ? `__Host-${name}` : name
}

/** The Set-Cookie header of a session. `lengthMs` 0 takes the cookie back. No other site's page can use it. */
export function sessionCookie(name: string, lengthMs: number, secure: boolean): string {
  return written(hostOnly('lifeboat', secure), name, lengthMs, 'Strict', secure)
}

/** The session's name in a Cookie header, or null. */
export function sessionIn(header: string | undefined, secure: boolean): string | null {
  return valueIn(header, hostOnly('lifeboat', secure))
}

/**
 * The Set-Cookie header of a login by single sign-on. Keystone's page sends it back with a post from another site, so it must be
 * SameSite=None, which browsers take with Secure alone. (Those of this machine's own addresses they take without TLS as well.)
 */
export function signOnCookie(name: string, lengthMs: number, secure: boolean): string {
  return written(hostOnly('lifeboat-sso', secure), name, lengthMs, 'None', true)
}

export function signOnIn(header: string | undefined, secure: boolean): string | null {
  return valueIn(header, hostOnly('lifeboat-sso', secure))
}

function written(
  cookie: string,
  value: string,
  lengthMs: number,
  sameSite: 'Strict' | 'None',
  secure: boolean,
): string {
  const seconds = Math.floor(lengthMs / 1000)
  const parts = [`${cookie}=${value}`, 'Path=/', 'HttpOnly', `SameSite=${sameSite}`, `Max-Age=${seconds}`]
  return [...parts, ...(secure ? ['Secure'] : [])].join('; ')
}

/** Of several with our name none counts: one of them is someone else's. */
function valueIn(header: string | undefined, cookie: string): string | null {
  const own = (header ?? '')
    .split(';')
    .map((pair) => pair.trim().split('='))
    .filter(([name]) => name === cookie)
  const [only] = own
  return own.length === 1 ? (only?.[1] ?? null) : null
}
