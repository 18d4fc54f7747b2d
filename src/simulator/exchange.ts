/** One HTTP request and its answer, as the simulated services see them. */
import type { IncomingHttpHeaders } from 'node:http'

export interface Exchange {
  method: string
  /** The path below the service's root, without query. */
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  /** The parsed JSON body; undefined when there was none, null is JSON's null. */
  body: unknown
  /** The service's own root URL, for links. */
  base: string
  requestId: string
}

export interface Answer {
  status: number
  /** Sent as JSON; undefined is an empty body. */
  body?: unknown
  /** A page for browsers, instead of a body. */
  html?: string
  headers?: Record<string, string | string[]>
}

/** A simulated service: answers requests below its root. */
export type Service = (exchange: Exchange) => Answer | Promise<Answer>

/** A record with string keys, or null: for reading bodies that anybody may have written. */
export function asRecord(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null
}
