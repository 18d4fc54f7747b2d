/** How long a host has been silent, as people read it on a page that stays open. Pure. */
import { span } from './span.ts'

export interface SilenceSeen {
  /** By the rules of the verdict: a freeze restarts it. */
  silentMs: number
  /** Since its last beat, whatever froze meanwhile; absent: it was never seen to beat. */
  sinceBeatMs?: number
  /** ISO time of the verdict that says so. */
  at: string
}

/** Since its last beat, and on from the verdict: one that stands still, such as while Nova does not answer, counts no more. */
export function silentFor({ silentMs, sinceBeatMs, at }: SilenceSeen, nowMs: number): string {
  return span((sinceBeatMs ?? silentMs) + Math.max(0, nowMs - Date.parse(at)))
}
