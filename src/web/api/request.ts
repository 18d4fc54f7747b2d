/** How the pages ask: the headers of every request. */
import { requestHeader } from '../../domain/review.ts'

/**
 * How long an answer may take. Without a limit a dead line that nobody reports (a laptop that slept) keeps a page waiting for
 * minutes with old news on it. Shorter gives up on a daemon that is only busy.
 */
export const readLimitMs = 30_000

export function requestOf(method: string, body: unknown): RequestInit {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (body !== undefined) headers['content-type'] = 'application/json'
  // A page of another site cannot set it: that is how the daemon knows that a write comes from its own pages.
  if (method !== 'GET') headers[requestHeader] = 'pages'
  return {
    method,
    headers,
    credentials: 'same-origin',
    cache: 'no-store',
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }
}
