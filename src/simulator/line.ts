/** The way back to a client: over a socket, or straight to a caller in this process. */
import type { IncomingHttpHeaders } from 'node:http'
import type { WireAnswer, WireRequest } from '../domain/wire.ts'

export interface Line {
  /** The client waits no longer. */
  gone(): boolean
  send(status: number, headers: Record<string, string | number | string[]>, body: string): void
  /** The connection breaks. */
  cut(): void
  /** Nothing will be sent before the clock moves: anyone who waits for idleness need not wait for this answer. */
  hold(): void
}

/** A caller in this process. `done` is called once, when nothing more will happen before the clock moves. */
export class InProcessLine implements Line {
  readonly answer: Promise<WireAnswer>
  readonly headers: IncomingHttpHeaders
  #over = false
  #forget: () => void = () => undefined
  #resolve: (answer: WireAnswer) => void = () => undefined
  #reject: (error: Error) => void = () => undefined
  readonly #request: WireRequest
  readonly #done: () => void

  constructor(request: WireRequest, done: () => void) {
    this.#request = request
    this.#done = done
    this.headers = headersOf(request)
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    const { signal } = request
    if (!(signal instanceof AbortSignal)) return
    const leave = (): void => this.#end(() => this.#reject(new Error('canceled')))
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    this.#forget = () => signal.removeEventListener('abort', leave)
  }

  gone(): boolean {
    return this.#over
  }

  send(status: number, headers: Record<string, string | number | string[]>, body: string): void {
    const plain = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), String(value)]))
    const answer = { status, statusText: '', headers: plain, data: body, config: this.#request }
    this.#end(() => this.#resolve(answer))
  }

  cut(): void {
    this.#end(() => this.#reject(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })))
  }

  hold(): void {
    this.#done()
  }

  #end(settle: () => void): void {
    if (this.#over) return
    this.#over = true
    this.#forget()
    settle()
    this.#done()
  }
}

function headersOf({ headers, auth }: WireRequest): IncomingHttpHeaders {
  const plain: IncomingHttpHeaders = {}
  for (const [key, value] of Object.entries((headers ?? {}) as Record<string, unknown>))
    if (typeof value === 'string' || typeof value === 'number') plain[key.toLowerCase()] = String(value)
  if (auth !== undefined)
    plain.authorization = `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`
  return plain
}
