/**
 * HTTP as a function: for clouds that live in the same process (the simulator, rehearsals, scenario tests). Without
 * sockets the order of events is the same in every run. Shaped so that the HTTP library takes it as its adapter.
 */

export interface WireRequest {
  method?: string | undefined
  url?: string | undefined
  headers?: unknown
  data?: unknown
  /** Basic authentication that the caller left to the adapter. */
  auth?: { username: string; password: string } | undefined
  signal?: unknown
}

export interface WireAnswer {
  status: number
  statusText: string
  headers: Record<string, string>
  data: string
  /** What the adapter was given: the library looks at it again. */
  config: unknown
}

/** Gives the answer. Rejects when the connection breaks, and when the request's signal aborts. */
export type Wire = (request: WireRequest) => Promise<WireAnswer>
