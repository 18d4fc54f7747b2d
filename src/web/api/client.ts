/** Asks the daemon. One shape for every failure; what is shown of it is the daemon's own sentence. */
import { after, setByDaemon } from '../browser-clock.ts'
import { readLimitMs, requestOf } from './request.ts'

export class ApiFailure extends Error {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number
  /** The daemon's stable code. */
  readonly code: string
  /** Of an act: the order may have been carried out, and only its answer was lost. */
  readonly unknown: boolean
  /** One by one, such as what a name may mean. */
  readonly problems: readonly string[]

  constructor(status: number, code: string, message: string, unknown = false, problems: readonly string[] = []) {
    super(message)
    this.name = 'ApiFailure'
    this.status = status
    this.code = code
    this.unknown = unknown
    // What is told in the sentence already is not told again.
    this.problems = problems.filter((problem) => !message.includes(problem))
  }

  /** Whether asking again in a while can help: nothing is wrong with the question. */
  get passing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500
  }
}

/** An act waits for Keystone, Nova or a reload of the configuration. Shorter takes an act for lost that is still under way. */
const actLimitMs = 120_000

const onRefusal = new Set<() => void>()

/** Told when the daemon does not know us (any more): the frame shows the login. */
export function onLoginNeeded(listen: () => void): () => void {
  onRefusal.add(listen)
  return () => onRefusal.delete(listen)
}

export interface Asking {
  signal?: AbortSignal
  /** How long the answer may take. */
  limitMs?: number
  /** What the answer means, where it is not the value itself. */
  read?: (answer: object) => object
  /** The page has asked for it already, as it began (index.html). */
  preloaded?: boolean
  /** It changes something, so that one whose answer is lost may have been carried out. Default: whatever is no GET. */
  orders?: boolean
}

export function get<T>(path: string, asking: Asking = {}): Promise<T> {
  return ask<T>('GET', path, undefined, { limitMs: readLimitMs, ...asking })
}

/** Of an act: a body, and perhaps an answer. */
export function post<T>(path: string, body: unknown): Promise<T> {
  return ask<T>('POST', path, body, { limitMs: actLimitMs })
}

/** A POST that changes nothing, such as a login or a plan: if its answer is lost, it is safe to send again. */
export function postQuestion<T>(path: string, body: unknown, limitMs = actLimitMs): Promise<T> {
  return ask<T>('POST', path, body, { limitMs, orders: false })
}

export function remove(path: string): Promise<unknown> {
  return ask('DELETE', path, undefined, { limitMs: readLimitMs })
}

/** Throws ApiFailure and nothing else, but for the caller's own abort. */
async function ask<T>(method: string, path: string, body: unknown, asking: Asking): Promise<T> {
  const { signal, limitMs = 0, orders = method !== 'GET', preloaded = false } = asking
  const limit = new AbortController()
  const cancel = after(limitMs, () => limit.abort())
  const given = (): void => limit.abort()
  signal?.addEventListener('abort', given)
  try {
    const asked = requestOf(method, body)
    // A browser hands out a preloaded answer only if the request allows its cache; it stores no answer of the daemon.
    const response = await fetch(path, { ...asked, ...(preloaded && { cache: 'default' }), signal: limit.signal })
    setByDaemon(response.headers.get('date'))
    const text = await response.text()
    if (!response.ok) throw refused(orders, response, text)
    return valueIn(text, asking) as T
  } catch (thrown) {
    if (thrown instanceof ApiFailure || signal?.aborted === true) throw thrown
    throw thrown instanceof SyntaxError ? strangeAnswer(orders) : noAnswer(orders)
  } finally {
    cancel()
    signal?.removeEventListener('abort', given)
  }
}

/** Throws SyntaxError for what is no answer of the daemon. */
function valueIn(text: string, { read }: Asking): unknown {
  const value: unknown = text === '' ? undefined : JSON.parse(text)
  if (read === undefined) return value
  if (typeof value !== 'object' || value === null) throw new SyntaxError('the answer is no object')
  return read(value)
}

function refused(orders: boolean, { status, statusText }: Response, text: string): ApiFailure {
  if (status === 401) for (const listen of onRefusal) listen()
  const error = errorIn(text)
  // Without the daemon's own words it is a proxy that speaks, and the daemon may have got the order all the same.
  if (error === null && orders && status >= 500) return noAnswer(orders)
  const message = error?.message ?? `The answer was ${status} ${statusText}`
  return new ApiFailure(
    status,
    error?.code ?? String(status),
    message,
    error?.certainty === 'unknown',
    error?.details?.problems,
  )
}

interface Refusal {
  code?: string
  message?: string
  certainty?: string
  details?: { problems?: string[] }
}

function errorIn(text: string): Refusal | null {
  try {
    return (JSON.parse(text) as { error?: Refusal }).error ?? null
  } catch {
    // Not ours: a proxy's own page. Its status says enough.
    return null
  }
}

function noAnswer(orders: boolean): ApiFailure {
  const why = 'Lifeboat does not answer: it is stopped, restarting or unreachable'
  if (!orders) return new ApiFailure(0, 'NO_ANSWER', why)
  const message =
    'No answer came, but the order may have been taken. Check the page or the journal before you repeat it'
  return new ApiFailure(0, 'NO_ANSWER', message, true)
}

function strangeAnswer(orders: boolean): ApiFailure {
  const message = 'The answer is not from Lifeboat, perhaps from a proxy or a login page'
  return new ApiFailure(0, 'NOT_LIFEBOAT', message, orders)
}
