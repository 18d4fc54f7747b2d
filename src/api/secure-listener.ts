/**
 * A listener on TCP that people and their programs log in to: TLS, certificates that are renewed while it runs, and limits against
 * clients that collect connections. What it serves is its caller's.
 */
import { X509Certificate } from 'node:crypto'
import type { Server } from 'node:https'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../domain/clock.ts'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import type { Observer } from '../domain/observer.ts'
import { readNamedFile } from '../system/regular-file.ts'
import type { ServerExtras } from './server.ts'

export interface ListenerOptions {
  host: string
  port: number
  /** Paths, or null: plain HTTP. */
  tls: { certificate: string; key: string } | null
  /** Addresses of proxies whose word on the caller's address and scheme counts. */
  trustedProxies: string[]
}

/** How messages name the listener: its section of the configuration, and what it serves. */
export interface ListenerPlace {
  option: string
  name: string
}

export interface SecureListener {
  address: string
  /** Reads certificate and key again; the old ones stay when the new ones cannot be used. */
  reloadTls(): void
  close(): Promise<void>
}

interface ListenerParts {
  clock: Clock
  observer: Observer
}

/** How often certificates are looked at. A renewed one is taken up this late at the most. */
const certificateLookMs = 60_000

/** Connections at once. More would be someone who collects them: each costs memory and a file. */
const mostConnections = 1_000

/**
 * A client that does not finish its TLS handshake in this time is cut off. Longer (node's own is two minutes), and a thousand
 * silent connections shut everybody out for as long; shorter, and a slow line never gets in.
 */
const handshakeLimitMs = 10_000

/** Between two looks for connections that are too slow with their request. */
const slowLookMs = 2_000

/** What the server is made with. Throws CONFIG_INVALID when certificate or key cannot be read. */
export function secureExtras({ tls, trustedProxies }: ListenerOptions, place: ListenerPlace): ServerExtras {
  return {
    ...(tls !== null && {
      https: { ...readTls(tls, place), minVersion: 'TLSv1.2', handshakeTimeout: handshakeLimitMs },
    }),
    http: { connectionsCheckingInterval: slowLookMs },
    ...(trustedProxies.length > 0 && { trustProxy: trustedProxies }),
  }
}

/**
 * Listens; port 0 takes a free one. Throws API_UNAVAILABLE when the address is taken.
 *
 * @param server made with `secureExtras`; closed when it cannot listen
 */
export async function listenSecurely(
  server: FastifyInstance,
  parts: ListenerParts,
  options: ListenerOptions,
  place: ListenerPlace,
): Promise<SecureListener> {
  try {
    const address = await server.listen({ host: options.host, port: options.port })
    server.server.maxConnections = mostConnections
    const reloadTls = reloader(server, parts, options, place)
    const stopLooking = watchCertificates(parts.clock, options, place, reloadTls)
    return {
      address,
      reloadTls,
      close: async () => {
        stopLooking()
        await server.close()
      },
    }
  } catch (thrown) {
    await server.close()
    const where = `${options.host}:${options.port}`
    const message = `Cannot listen on ${where} (another program has it, or the address is not ours; see ${place.option}.listen)`
    throw new LifeboatError('API_UNAVAILABLE', message, { cause: thrown })
  }
}

type Tls = NonNullable<ListenerOptions['tls']>

function readTls({ certificate, key }: Tls, { option, name }: ListenerPlace): { cert: Buffer; key: Buffer } {
  return {
    cert: readNamedFile(`The certificate of ${name} (${option}.tls.certificate)`, certificate),
    key: readNamedFile(`The key of ${name} (${option}.tls.key)`, key),
  }
}

/** No browser takes it, and of a host that it knows (HSTS) it lets nobody pass over that. Throws CONFIG_INVALID. */
function refuseExpired(cert: Buffer, clock: Clock, { option }: ListenerPlace): void {
  const { validTo } = new X509Certificate(cert)
  if (Date.parse(validTo) <= clock.wall())
    throw new LifeboatError('CONFIG_INVALID', `It was valid until ${validTo} (${option}.tls.certificate)`)
}

function reloader(
  server: FastifyInstance,
  { observer, clock }: ListenerParts,
  { tls }: ListenerOptions,
  place: ListenerPlace,
): () => void {
  return () => {
    if (tls === null) return
    try {
      const read = readTls(tls, place)
      refuseExpired(read.cert, clock, place)
      ;(server.server as unknown as Server).setSecureContext({ ...read, minVersion: 'TLSv1.2' })
      observer.log?.('info', 'web.certificate', { message: `The certificate of ${place.name} was read again` })
    } catch (thrown) {
      const message = `The new certificate of ${place.name} cannot be used; the old one stays`
      observer.log?.('error', 'web.certificate', { message }, ensureError(thrown))
    }
  }
}

/** Reads them again when either file's content is another; by content, because tools that renew them swap links. */
function watchCertificates(
  clock: Clock,
  { tls }: ListenerOptions,
  place: ListenerPlace,
  reload: () => void,
): () => void {
  if (tls === null) return () => undefined
  const look = (): string => {
    try {
      const { cert, key } = readTls(tls, place)
      return `${cert.toString('base64')} ${key.toString('base64')}`
    } catch {
      // Being replaced at this moment: the next look sees the new one.
      return known
    }
  }
  let known = ''
  known = look()
  let cancel = (): void => undefined
  const wait = (): void => {
    cancel = clock.after(certificateLookMs, () => {
      const now = look()
      if (now !== known) reload()
      known = now
      wait()
    })
  }
  wait()
  return () => cancel()
}
