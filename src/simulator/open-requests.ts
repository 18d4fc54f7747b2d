/**
 * The HTTP requests of this process that have not ended, whoever sent them, seen through node's diagnostics channels.
 * The process is watched once, however many clocks ask: a watch of its own for each clock would put a listener of each
 * on every request, those of clocks that nobody uses any more too.
 */
import { subscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'

/** Each open request with its place in the order in which they began. */
const open = new Map<object, number>()
let begun = 0
let watching = false

/** Counts the open requests among those that begin from now on. */
export function requestsFromNowOn(): () => number {
  watch()
  const before = begun
  return () => {
    let count = 0
    for (const place of open.values()) if (place > before) count++
    return count
  }
}

function watch(): void {
  if (watching) return
  watching = true
  subscribe('http.client.request.start', (message) => {
    const { request } = message as { request: ClientRequest }
    began(request)
    // `close` comes in every case: answered, refused, reset, aborted.
    request.once('close', () => open.delete(request))
  })
  subscribe('undici:request:create', (message) => began(requestOf(message)))
  subscribe('undici:request:trailers', (message) => open.delete(requestOf(message)))
  subscribe('undici:request:error', (message) => open.delete(requestOf(message)))
}

function began(request: object): void {
  open.set(request, ++begun)
}

function requestOf(message: unknown): object {
  return (message as { request: object }).request
}
