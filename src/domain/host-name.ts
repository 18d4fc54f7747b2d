/**
 * Names of hosts as other programs write them. A monitor says what its machine calls itself (`hostname`), and Nova what `[DEFAULT] host`
 * says: one may be the other's short name, or in another case.
 *
 * Pure: which host a name means.
 */
import type { HostName } from './service.ts'

/**
 * The hosts that `name` may mean: the one of exactly that name, else all that have it in another case, or that have it as their short name or
 * as their full one. None: Nova lists no such host; several: the name does not say which.
 */
export function hostsMeant(name: string, known: readonly HostName[]): HostName[] {
  if (known.includes(name)) return [name]
  return known.filter((host) => isSameHost(host.toLowerCase(), name.toLowerCase()))
}

/** Domain names of several labels that only begin alike are different hosts. */
function isSameHost(one: string, other: string): boolean {
  const isShort = !one.includes('.') || !other.includes('.')
  return one === other || (isShort && (one.startsWith(`${other}.`) || other.startsWith(`${one}.`)))
}
