/** Asks the daemon. One shape for every failure; what is shown of it is the daemon's own sentence. */

import { requestHeader } from '../../domain/review.ts'

export class ApiFailure extends Error {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number
  /** The daemon's stable code. */
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.name = 'ApiFailure'
    this.status = status
    this.code = code
  }
}

const onRefusal = new Set<() => void>()

/** Told when the daemon does not know us (any more): the frame shows the login. */
export function onLoginNeeded(listen: () => void): () => void {
  onRefusal.add(listen)
  return () => onRefusal.delete(listen)
}

export function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return ask<T>('GET', path, undefined, signal)
}

/** Of an act or a login: a body, and perhaps an answer. */
export function post<T>(path: string, body: unknown): Promise<T> {
  return ask<T>('POST', path, body)
}

export function remove(path: string): Promise<unknown> {
  return ask('DELETE', path, undefined)
}

async function ask<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (body !== undefined) headers['content-type'] = 'application/json'
  // A page of another site cannot set it: that is how the daemon knows that a write comes from its own pages.
  if (method !== 'GET') headers[requestHeader] = 'pages'
  let response: Response
  try {
    response = await fetch(path, {
      method,
      headers,
      credentials: 'same-origin',
      cache: 'no-store',
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    })
  } catch (thrown) {
    if (signal?.aborted === true) throw thrown
    throw new ApiFailure(0, 'NO_ANSWER', 'Lifeboat does not answer: it is stopped, restarting, or the network is gone')
  }
  if (!response.ok) throw await failureOf(response)
  const text = await response.text()
  return (text === '' ? undefined : JSON.parse(text)) as T
}

async function failureOf(response: Response): Promise<ApiFailure> {
  const text = await response.text().catch(() => '')
  let error: { code?: string; message?: string } = {}
  try {
    error = (JSON.parse(text) as { error?: typeof error }).error ?? {}
  } catch {
    // Not ours: a proxy's own page. Its status says enough.
  }
  if (response.status === 401) for (const listen of onRefusal) listen()
  const message = error.message ?? `The answer was ${response.status} ${response.statusText}`
  return new ApiFailure(response.status, error.code ?? String(response.status), message)
}
