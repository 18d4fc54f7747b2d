/**
 * How far the fencing of a host has come, folded from its `fence.attempt` entries: what people see while the chain goes
 * from one method to the next. Pure.
 */
import type { FenceAttempt } from './fencing.ts'

export interface FenceProgress {
  /** What failed in this run of the chain, the last try of each method. */
  failed: { method: string; message: string }[]
  /** The newest entry. */
  last: FenceAttempt
}

/** Takes in one more entry. A chain that begins again forgets what failed in the run before. */
export function fenceProgress(before: FenceProgress | null, last: FenceAttempt): FenceProgress {
  const begins = last.phase === 'trying' && (last.position ?? 1) === 1 && (last.attempt ?? 1) === 1
  const known = before === null || begins ? [] : before.failed
  if (last.phase !== 'failed') return { failed: known, last }
  const { method, message } = last
  return { failed: [...known.filter((failure) => failure.method !== method), { method, message }], last }
}

/** One sentence: "fencing by bmc failed (no answer); trying ceph (2 of 3)". */
export function fenceSentence({ failed, last }: FenceProgress): string {
  const failures = failed.map(({ method, message }) => `fencing by ${method} failed (${message})`)
  if (last.phase === 'failed') return failures.join('; ')
  const place = last.of === undefined || last.position === undefined ? '' : ` (${last.position} of ${last.of})`
  const again = (last.attempt ?? 1) > 1 ? `, try ${last.attempt} of ${last.attempts ?? last.attempt}` : ''
  const now = last.phase === 'trying' ? `trying ${last.method}${place}${again}` : `fenced by ${last.method}${place}`
  return [...failures, now].join('; ')
}
