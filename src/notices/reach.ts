/** Whether a receiver can be reached at all: a connection, its certificate included, and nothing sent over it. */
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { deadline, type Clock } from '../domain/clock.ts'
import { LifeboatError } from '../domain/errors.ts'
import { readNamedFile } from '../system/regular-file.ts'
import type { Target } from './post.ts'

/** Gives where it connected to, as HOST:PORT. Throws API_UNAVAILABLE, CONFIG_INVALID. */
export async function reach(target: Target, clock: Clock): Promise<string> {
  const { protocol, hostname, port } = new URL(target.url)
  const secure = protocol === 'https:'
  const host = hostname.replace(/^\[|\]$/g, '')
  const number = port === '' ? (secure ? 443 : 80) : Number(port)
  const socket = secure ? tlsSocket(target, host, number) : connectPlain({ host, port: number })
  const limit = deadline(clock, target.limitMs)
  try {
    await connected(socket, secure ? 'secureConnect' : 'connect', limit.signal)
    return `${hostname}:${number}`
  } catch (cause) {
    const why = limit.expired() ? `no answer within ${target.limitMs} ms` : reasonOf(cause)
    throw new LifeboatError('API_UNAVAILABLE', `${hostname}:${number} cannot be reached: ${why}`, { cause })
  } finally {
    limit.release()
    socket.destroy()
  }
}

function connected(socket: Socket, event: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, () => resolve())
    socket.once('error', reject)
    signal.addEventListener('abort', () => reject(new Error('cut off')), { once: true })
  })
}

function tlsSocket({ caFile, verify }: Target, host: string, port: number): Socket {
  const ca = caFile === null ? {} : { ca: readNamedFile('The CA file of a notice receiver', caFile) }
  // An address has no name to ask for; its certificate is checked all the same.
  const name = /^[\d.]+$|:/.test(host) ? {} : { servername: host }
  return connectTls({ host, port, rejectUnauthorized: verify, ...ca, ...name })
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message || String((thrown as { code?: unknown }).code) : String(thrown)
}
