/** What carries notices to receivers, as the queue sees it: one try of one notice, and how it ended. */
import type { Notice } from '../domain/notice.ts'

export interface Try {
  notice: Notice
  /** From 1. */
  attempt: number
  signal: AbortSignal
}

export type Ended =
  | { ok: true; result: string }
  /** `final`: the receiver refused this very notice, and would again. */
  | { ok: false; problem: string; final: boolean }

/** Ends within its own time limit. Never throws. */
export interface Deliver {
  (attempt: Try): Promise<Ended>
  /** Of a receiver that forgets what is not sent again. */
  readonly renewal?: Renewal
}

export interface Renewal {
  everyMs: number
  /** @param standing is asked right before it is sent: what has ended by then is not sent again */
  send: (standing: () => readonly Notice[], signal: AbortSignal) => Promise<Ended>
}
