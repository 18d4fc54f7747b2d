/** Where the listeners of the daemon listen, as written and checked. Whether an address is free shows only when it is opened. */
import { isIP } from 'node:net'
import type { Path } from '../formats/yaml-source.ts'
import type { Report } from './secrets.ts'

export interface ListenAddress {
  host: string
  port: number
}

/** Null: no listener. Reports a port or an address that cannot be. */
export function listenAddress(listen: string | false, at: Path, report: Report): ListenAddress | null {
  if (listen === false) return null
  const colon = listen.lastIndexOf(':')
  const written = listen.slice(0, colon)
  const host = written.replace(/^\[|\]$/g, '')
  const port = Number(listen.slice(colon + 1))
  if (port > 65_535) report(at, `port ${port} does not exist (0 to 65535)`)
  const isNumeric = written.startsWith('[') || /^[\d.]+$/.test(written)
  if (isNumeric && isIP(host) === 0)
    report(at, `${written} is no address (e.g. 127.0.0.1, [::1], or the name of this machine)`)
  return { host, port }
}

/** Two listeners of the daemon cannot share an address: the second one would keep it from starting. */
export function checkApart(listeners: Readonly<Record<string, ListenAddress | null>>, report: Report): void {
  const given = Object.entries(listeners).flatMap(([option, address]) =>
    address === null ? [] : [{ option, ...address }],
  )
  for (const [index, { option, host, port }] of given.entries()) {
    const other = given.slice(0, index).find((earlier) => earlier.port === port && overlap(earlier.host, host))
    if (other !== undefined && port !== 0)
      report([option, 'listen'], `${other.option}.listen has port ${port} too (each listener a port of its own)`)
  }
}

/** Everything on an address is also taken by a listener on all addresses. A name is taken for any. */
function overlap(one: string, other: string): boolean {
  const [a, b] = [canonical(one), canonical(other)]
  return a === b || [a, b].some((host) => host === '0.0.0.0' || host === '::' || isIP(host) === 0)
}

function canonical(host: string): string {
  return host === 'localhost' ? '127.0.0.1' : host.toLowerCase()
}
