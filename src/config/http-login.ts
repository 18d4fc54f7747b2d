/** The login at an HTTP server, as the file gives it: a name with a password, a bearer token, or none. */
import type { HttpLogin } from '../domain/http-login.ts'
import type { Path } from '../formats/yaml-source.ts'
import type { Report, SecretOptions, Secrets, TokenOptions } from './secrets.ts'

interface LoginFile extends SecretOptions, TokenOptions {
  username?: string | undefined
}

/** Null: many a server asks for nothing. Reports what contradicts itself, and what no header can carry. */
export function httpLogin(file: LoginFile, path: Path, secrets: Secrets, report: Report): HttpLogin | null {
  const given = (...values: (string | undefined)[]): boolean => values.some((value) => value !== undefined)
  const basic = given(file.username, file.password, file.passwordFile, file.passwordEnv)
  const bearer = given(file.token, file.tokenFile, file.tokenEnv)
  if (basic && bearer) report(path, 'has a password and a token (one login: username with a password, or a token)')
  if (bearer) return { token: tokenOf(file, path, secrets, report) }
  if (!basic) return null
  const { username } = file
  if (username === undefined) report(path, 'has a password but no username (give both)')
  // The server takes what follows the first colon for the password.
  if (username?.includes(':') === true) report([...path, 'username'], 'has a colon in it, which ends a username')
  return { username: username ?? '', password: secrets.password(file, path) }
}

function tokenOf(file: LoginFile, path: Path, secrets: Secrets, report: Report): string {
  const token = secrets.token(file, path)
  if (!/^[\x21-\x7e]*$/.test(token)) report(path, 'its token has spaces, line breaks or foreign characters in it')
  return token
}

/** As it may be shown or logged. */
export function hiddenLogin(login: HttpLogin | null): HttpLogin | null {
  if (login === null) return null
  return 'token' in login ? { token: '***' } : { ...login, password: '***' }
}
