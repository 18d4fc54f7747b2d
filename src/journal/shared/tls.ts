/**
 * TLS to a node: that its certificate is trusted, and names the node. The driver checks host names; given an IP address, it would compare the
 * certificate with `localhost`, so addresses are checked here, after the login and before the first statement.
 */
import { isIP } from 'node:net'
import { checkServerIdentity, TLSSocket } from 'node:tls'
import type { Connection, ConnectionOptions } from 'mysql2'

/** `ca` signs the nodes' certificates; without it, a CA that Node.js trusts. */
export interface Tls {
  ca?: string | Buffer
}

/** The driver's options for TLS. */
export function tlsOptions(tls: Tls | null, host: string): Pick<ConnectionOptions, 'ssl'> {
  return tls === null ? {} : { ssl: { ...tls, verifyIdentity: isIP(host) === 0 } }
}

/** Throws when TLS is wanted and the node at an IP address has not shown a certificate for it. */
export function checkAddress(tls: Tls | null, host: string, connection: Connection): void {
  if (tls === null || isIP(host) === 0) return
  const socket: unknown = 'stream' in connection ? connection.stream : null
  if (!(socket instanceof TLSSocket)) throw new Error('The connection is not encrypted')
  const problem = checkServerIdentity(host, socket.getPeerCertificate())
  if (problem !== undefined) throw problem
}
