/** The types that the parts of Masakari's API share. */
import type { ProjectRule } from '../../api/caller-rules.ts'
import type { Clock } from '../../domain/clock.ts'
import type { FailoverSegments } from '../../domain/failover-segment.ts'
import type { Observer } from '../../domain/observer.ts'
import type { Operations } from '../../domain/operations.ts'
import type { Reports } from '../../domain/report.ts'
import type { Review } from '../../domain/review.ts'
import type { TokenCheck, TokenHolder } from '../../domain/token-holder.ts'

/** The rules in force, read for each request. */
export interface MasakariRules {
  /** Roles of Keystone that may read. */
  readers: readonly string[]
  /** Roles that may write segments and their hosts. */
  writers: readonly string[]
  /** Roles that may post notifications. */
  reporters: readonly string[]
  /** Projects in which they count. Empty: the daemon's own. */
  projects: readonly ProjectRule[]
  /** Of segments of the configuration, and of hosts: those that a Masakari gave, by name. */
  uuids: { segments: ReadonlyMap<string, string>; hosts: ReadonlyMap<string, string> }
}

export interface MasakariParts {
  operations: Pick<Operations, 'hosts' | 'incident' | 'incidents' | 'status'>
  review: Pick<Review, 'segments' | 'load' | 'journal'>
  reports: Reports
  failover: FailoverSegments
  people: TokenCheck
  clock: Clock
  observer: Observer
  /** Resolves once what a request has put on record is durable. Default: at once. */
  recorded?: (() => Promise<void>) | undefined
  /** Throws NOT_ACTIVE where another daemon must be asked. Default: this one may take what is written. */
  mayWrite?: (() => void) | undefined
}

export interface MasakariOptions {
  rules: () => MasakariRules
  /** The address as clients reach it; null: the address that they asked. */
  publicUrl: string | null
}

declare module 'fastify' {
  interface FastifyRequest {
    microversion: string
    holder: TokenHolder | null
  }
}
