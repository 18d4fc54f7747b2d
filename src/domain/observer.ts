/** The one observation surface: what happens in the daemon, told to anyone who watches (telemetry). Listeners must not throw. */
import type { BrakeScope } from './brake.ts'
import type { Entry } from './entry.ts'
import type { ReturnState } from './host-return.ts'
import type { Incident } from './incident.ts'
import type { Order } from './order.ts'
import type { ReportClass } from './report-words.ts'
import type { Verdict } from './verdict.ts'

export interface RequestSeen {
  service: 'identity' | 'compute' | 'volume' | 'placement' | 'instance-ha' | 'bmc'
  method: string
  /** The path with ids replaced, so that it can be a label: /servers/{id}/action. */
  route: string
  /** HTTP status, or an error code when there was no answer. */
  result: string
  tookMs: number
  requestId: string | null
  /** The id that we sent along; undefined for a BMC, which knows of none. */
  globalRequestId?: string
}

export interface PollSeen {
  tookMs: number
  ok: boolean
  hosts: number
  frozen: string | null
  verdicts: Verdict[]
}

export interface CloudSeen {
  maxMicroversion: string
  /** Whether an evacuated instance can land stopped. */
  landsStopped: boolean
  /** Null when it has no end, or the cloud does not tell. `expiresAt` is epoch ms by the cloud's clock. */
  credential: { kind: CredentialKind; expiresAt: number } | null
}

/** What may run out: the token that was given to us, the user's password, or the application credential. */
export type CredentialKind = 'token' | 'password' | 'application-credential'

/** What became of a report when it came. */
export type ReportResult = 'taken' | 'ignored' | 'repeated' | 'maintenance' | 'unknown-host'

export interface Observer {
  request?(seen: RequestSeen): void
  poll?(seen: PollSeen): void
  entry?(entry: Entry): void
  /** Told after each entry that changed an open incident. */
  incidents?(open: Incident[]): void
  /** Told at the start and whenever an order begins or ends: all that are in force. */
  orders?(inForce: Order[]): void
  /** Told after each poll: every scope of the brake. */
  brake?(scopes: BrakeScope[]): void
  /** Told after each poll: how many hosts that carry our flags have which return state. */
  returns?(hosts: Partial<Record<ReturnState, number>>): void
  /** Told at the start and after each reload: whether what was read is in force. */
  configuration?(seen: { ok: boolean }): void
  /** Told whenever it changes: how many notices wait for each receiver. */
  notices?(waiting: ReadonlyMap<string, number>): void
  /** Told now and then: what the cloud can, and until when we may log in. */
  cloud?(seen: CloudSeen): void
  /** Told once: how many runs before this one died within the last ten minutes. */
  starts?(seen: { deaths: number }): void
  /** Told of each report of a failure, and what was answered. */
  report?(seen: { about: ReportClass; result: ReportResult }): void
  /** Told after each walk over the journal's whole chain. */
  journalVerified?(whole: boolean): void
  /** A thing worth a log line that is no journal entry. `event` is a stable dotted id. */
  log?(
    level: 'debug' | 'info' | 'warn' | 'error',
    event: string,
    fields: Record<string, unknown>,
    error?: unknown,
  ): void
}
