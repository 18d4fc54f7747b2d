/** The web listener as configured, resolved. Refuses what would send people's passwords over a network unencrypted. */
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import type { Role } from '../domain/review.ts'
import type { SsoWay } from '../domain/token-holder.ts'
import type { ConfigFile } from './schema.ts'
import type { Report } from './secrets.ts'

export interface WebConfig {
  host: string
  port: number
  tls: { certificate: string; key: string } | null
  trustedProxies: string[]
}

/** What a reload changes under a listener that runs: who may do what must not have to wait for a restart. */
export interface WebRules {
  roles: Record<string, Role>
  projects: ({ id: string } | { name: string; domain: string })[]
  sessionMs: number
  requestsAMinute: number
  sso: SsoWay[]
}

export function webRules(file: ConfigFile['web'], report: Report): WebRules {
  const { roles, projects, session, requestsPerMinute } = file
  const names = file.sso.map(({ name }) => name)
  for (const [index, name] of names.entries())
    if (names.indexOf(name) < index)
      report(['web', 'sso', index, 'name'], `there are two logins called "${name}" (each name once)`)
  const sso = file.sso.map(({ name, protocol, identityProvider = null }) => ({ name, protocol, identityProvider }))
  return { roles, projects, sessionMs: session, requestsAMinute: requestsPerMinute, sso }
}

/** @param listen the address as resolved, or null: no listener */
export function webConfig(
  file: ConfigFile['web'],
  listen: { host: string; port: number } | null,
  baseDir: (path: string[]) => string,
  report: Report,
): WebConfig | null {
  return listen === null ? null : loginListener('web', file, listen, baseDir, report)
}

/** A listener that people and their programs log in to, by the options that all of them have. */
export function loginListener(
  option: 'web' | 'masakari_api',
  file: Pick<ConfigFile['web'], 'trustedProxies' | 'tls' | 'insecurePlaintext'>,
  listen: { host: string; port: number },
  baseDir: (path: string[]) => string,
  report: Report,
): WebConfig {
  for (const [index, proxy] of file.trustedProxies.entries()) {
    const [address = '', bits] = proxy.split('/')
    const family = isIP(address)
    const fits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32))
    if (family === 0 || !fits)
      report([option, 'trusted_proxies', index], `"${proxy}" is no address (e.g. 192.0.2.7 or 192.0.2.0/24)`)
  }
  if (file.tls === undefined && !file.insecurePlaintext && !isLoopback(listen.host))
    report(
      [option, 'listen'],
      `${listen.host} can be reached from elsewhere, and without ${option}.tls tokens and passwords would pass unencrypted (give ${option}.tls, listen on 127.0.0.1 behind a proxy, or say insecure_plaintext: true)`,
    )
  return {
    ...listen,
    tls:
      file.tls === undefined
        ? null
        : {
            certificate: resolve(baseDir([option, 'tls', 'certificate']), file.tls.certificate),
            key: resolve(baseDir([option, 'tls', 'key']), file.tls.key),
          },
    trustedProxies: file.trustedProxies,
  }
}

/** Only what cannot be anything else: a name is looked up by the machine, and may be anybody's. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
