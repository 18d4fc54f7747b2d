/** The browser's clock and timers: the one place of the pages that reads them, as system-clock.ts is the daemon's. */

/** How far the daemon's clock is ahead of this machine's. */
let aheadMs = 0

/**
 * Below this the difference is the second to which an answer's date is rounded, and the way it took. Above it this machine's
 * clock is wrong, and "3 min ago" would be too, and so would the end of a pause that is ordered "for 30 minutes".
 */
const noticedMs = 3_000

/** Takes the daemon's time from the date of an answer. */
export function setByDaemon(date: string | null): void {
  const difference = Date.parse(date ?? '') - Date.now()
  if (!Number.isNaN(difference)) aheadMs = Math.abs(difference) < noticedMs ? 0 : difference
}

/** Wall-clock ms as the daemon's clock has them: its times are compared with it. */
export function wallMs(): number {
  return Date.now() + aheadMs
}

/** Monotonic ms. */
export function nowMs(): number {
  return performance.now()
}

/** Calls `fire` once after `delayMs`; the returned function cancels it. */
export function after(delayMs: number, fire: () => void): () => void {
  const timer = setTimeout(fire, delayMs)
  return () => clearTimeout(timer)
}

/** Calls `fire` before the next frame is painted, at most once; the returned function cancels it. In a hidden tab: soon. */
export function beforePaint(fire: () => void): () => void {
  // A hidden tab paints no frames, and what it shows must still be true when someone looks.
  if (document.hidden) return after(250, fire)
  const frame = requestAnimationFrame(fire)
  return () => cancelAnimationFrame(frame)
}
