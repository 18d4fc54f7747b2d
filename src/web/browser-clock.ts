/** The browser's clock and timers: the one place of the pages that reads them, as system-clock.ts is the daemon's. */

/** Wall-clock ms, for "3 min ago"; the daemon's times are compared with it only for that. */
export function wallMs(): number {
  return Date.now()
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
  // A hidden tab paints no frames, and what it shows must still be true when somebody looks.
  if (document.hidden) return after(250, fire)
  const frame = requestAnimationFrame(fire)
  return () => cancelAnimationFrame(frame)
}
