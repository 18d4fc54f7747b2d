/** How an HTTP server is shown who asks. Pure. */

/** Basic authentication, or a bearer token. */
export type HttpLogin = { username: string; password: string } | { token: string }

/** The header that carries it; none without a login. A secret. */
export function authorization(login: HttpLogin | null): Record<string, string> {
  if (login === null) return {}
  if ('token' in login) return { authorization: `Bearer ${login.token}` }
  const pair = Buffer.from(`${login.username}:${login.password}`, 'utf8').toString('base64')
  return { authorization: `Basic ${pair}` }
}
