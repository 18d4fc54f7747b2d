/** Whether a receiver can be reached at all: a connection, its certificate included, and nothing sent over it. */
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { deadline, type Clock } from '../domain/clock.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Target } from './post.ts'
import { certificateRefusal, tlsOptions } from './tls.ts'
import { span } from '../domain/text/span.ts'

/**
 * In TLS 1.3 a receiver looks at our certificate once our side of the handshake is over. Shorter: one that asks for a certificate
 * which we do not have seems well; longer: a check of many receivers takes that much longer.
 */
const refusalMs = 250

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
    if (secure) await kept(socket, clock)
    return `${hostname}:${number}`
  } catch (cause) {
    const why = limit.expired() ? `no answer within ${span(target.limitMs)}` : reasonOf(cause)
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

/** Many a receiver says no more than that. */
function cutOff(): Error {
  return new Error('it ended the connection after the handshake: check the client certificate (cert_file, key_file)')
}

/** Resolves once the receiver has kept the connection for a moment. */
function kept(socket: Socket, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(refusalMs, resolve)
    const over = (cause: Error): void => {
      cancel()
      reject(cause)
    }
    socket.once('error', (cause: NodeJS.ErrnoException) => over(cause.code === 'ECONNRESET' ? cutOff() : cause))
    socket.once('close', () => over(cutOff()))
    // One that nobody reads is never seen to end.
    socket.resume()
  })
}

function tlsSocket(target: Target, host: string, port: number): Socket {
  // An address has no name to ask for; its certificate is checked all the same.
  const name = /^[\d.]+$|:/.test(host) ? {} : { servername: host }
  return connectTls({ host, port, ...tlsOptions(target), ...name })
}

function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const code = String((thrown as { code?: unknown }).code)
  return certificateRefusal(code) ?? (thrown.message || code)
}
