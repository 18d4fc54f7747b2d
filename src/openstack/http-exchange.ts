/** One HTTP request and its answer, as the parts of this client hand them to each other. Shapes only. */
import type { MayLeave } from '../domain/cloud.ts'
import type { ApiCall } from './call-table.ts'

/** Time limit of a call together with its caller's signal (domain/clock.ts `deadline`). */
export interface Guard {
  signal: AbortSignal
  expired(): boolean
}

export interface HttpAsk {
  call: ApiCall
  url: string
  headers: Record<string, string>
  body?: unknown
  /** Default: one of its own. */
  globalRequestId?: string | undefined
  /** Asked in the tick in which the bytes leave; what it throws is thrown, and nothing was sent. */
  mayLeave?: MayLeave | undefined
  guard: Guard
}

export interface HttpAnswer {
  status: number
  text: string
  /** Nova files the instance action under it (docs/nova.md §1.1). */
  requestId: string | null
  /** The service's clock from the Date header, epoch ms. */
  serverTimeMs: number | null
  retryAfterMs: number | null
  /** Keystone's X-Subject-Token. A secret. */
  subjectToken: string | null
  tookMs: number
}
