/** What the parts of the REST API tell each other: where answers come from, and who asks. Types only. */
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerBase,
} from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Clock } from '../domain/clock.ts'
import type { Via } from '../domain/entry.ts'
import type { Observer } from '../domain/observer.ts'
import type { Operations } from '../domain/operations.ts'
import type { Caller, Review } from '../domain/review.ts'
import type { Simulation } from '../domain/simulation.ts'

export type RestServer = FastifyInstance<
  RawServerBase,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>

export interface RestSources {
  operations: Operations
  review: Review
  clock: Clock
  observer?: Observer
  /** The cloud is simulated, and its plugs are pulled here. */
  simulation?: Simulation
  /** Resolves once what a request has put on record is durable. Default: at once. */
  recorded?: (() => Promise<void>) | undefined
}

/** A caller who is known, and what the journal keeps of how. */
export interface Identified {
  caller: Caller
  via: Via | null
  /** As Keystone says; none on the operators' socket. */
  keystoneRoles: readonly string[]
}

/** Throws AUTH_FAILED for a caller whom nobody knows. */
export type Identify = (request: FastifyRequest) => Promise<Identified> | Identified

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
    via: Via | null
    keystoneRoles: readonly string[]
  }
}
