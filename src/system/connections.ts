/**
 * Connections of HTTP that can be cut off. Owns the moment in which one stands, before any byte of the request leaves, and its reset: that throws
 * away what the kernel has not delivered, where an orderly end would have it delivered after a partition heals.
 */
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import type { Duplex } from 'node:stream'
import { ensureError } from '../domain/errors.ts'

/** The TCP connection beneath each TLS connection. */
const beneath = new WeakMap<Duplex, net.Socket>()

/**
 * How long a TCP connection may take. Shorter gives up where packets are lost, for they are sent again after 1, 3, 7 and 15 s; longer keeps what
 * nobody waits for any more.
 */
const connectLimitMs = 30_000

/** As https.Agent, whose connections can be reset: Node resets TCP alone, and shows nobody what is beneath a TLS connection that it made. */
export class ResettableAgent extends https.Agent {
  /**
   * TLS begins once the TCP connection stands. Begun before, it is given the handle of the first address that the name has; Node puts another
   * one in its place for the next address, and the process dies of a segmentation fault.
   */
  override createConnection(
    options: https.RequestOptions,
    callback: (error: Error | null, stream?: Duplex) => void,
  ): undefined {
    const plain = net.connect(options as net.NetConnectOpts)
    const { givenUp } = options as Cancellable
    const giveUp = (): void => void plain.destroy(notConnected(options))
    if (givenUp?.aborted === true) giveUp()
    // The request itself has nothing yet that it could destroy.
    givenUp?.addEventListener('abort', giveUp, { once: true })
    plain.once('close', () => givenUp?.removeEventListener('abort', giveUp))
    plain.once('error', callback)
    plain.setTimeout(connectLimitMs, giveUp)
    plain.once('connect', () => {
      plain.setTimeout(0)
      plain.off('error', callback)
      givenUp?.removeEventListener('abort', giveUp)
      try {
        const secure = super.createConnection({ ...options, socket: plain } as https.RequestOptions)
        if (!secure) throw new Error('TLS did not begin')
        plain.on('error', (error) => secure.destroy(error))
        beneath.set(secure, plain)
        callback(null, secure)
      } catch (thrown) {
        plain.destroy()
        callback(ensureError(thrown))
      }
    })
  }
}

/** As the kernel says it. */
function notConnected({ host, port }: https.RequestOptions): NodeJS.ErrnoException {
  return Object.assign(new Error(`connect ETIMEDOUT ${host}:${port}`), { code: 'ETIMEDOUT', syscall: 'connect' })
}

/** At once: nothing of the connection is delivered any more, also if the process exits right after. One that is over stays so. */
export function resetConnection(socket: net.Socket): void {
  void (beneath.get(socket) ?? socket).resetAndDestroy()
}

/** What an HTTP library takes for Node's own `request`. */
export interface RequestTransport {
  request: (options: https.RequestOptions, onResponse: (response: http.IncomingMessage) => void) => http.ClientRequest
}

/** A request whose connection is given up while it is made. */
interface Cancellable {
  givenUp?: AbortSignal | undefined
}

/**
 * Node's own requests; `leaves` is called in the tick in which the connection of one stands, and may destroy it.
 * @param givenUp a connection that does not stand by then is not made any more
 */
export function watchedTransport(leaves: (socket: net.Socket) => void, givenUp?: AbortSignal): RequestTransport {
  const watch = (request: http.ClientRequest): http.ClientRequest =>
    request.once('socket', (socket) => {
      const encrypted = 'encrypted' in socket
      if (!socket.connecting && !('secureConnecting' in socket && socket.secureConnecting)) leaves(socket)
      else socket.once(encrypted ? 'secureConnect' : 'connect', () => leaves(socket))
    })
  return {
    request: (options, onResponse) => {
      const own: https.RequestOptions & Cancellable = { ...options, givenUp }
      return watch(options.protocol === 'https:' ? https.request(own, onResponse) : http.request(own, onResponse))
    },
  }
}
