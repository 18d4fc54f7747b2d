/** The real clock: the one place in the product that reads time and sets timers. */
import { uptime } from 'node:os'
import type { Clock } from '../domain/clock.ts'

/** Node fires timers longer than this at once (32-bit milliseconds); longer waits are cut into pieces. */
const longestTimerMs = 2 ** 31 - 1

/**
 * A machine's uptime runs ahead of a monotonic clock by this much only where it was suspended. Smaller: the uptime's own steps would be taken for
 * sleep. They are a hundredth of a second, and a whole one where /proc/uptime is hidden (a unit with ProcSubset=pid): time would pass too fast.
 */
const suspendedMs = 1_500

/**
 * Monotonic time that counts while the machine is suspended, as the kernel's boot time does: a host has all that time to come back,
 * and what was known before it must be known to be old. Node's own clock stands still then.
 */
export function countingSuspend(monotonic: () => number, uptimeMs: () => number): () => number {
  let sleptMs = 0
  let aheadMs = uptimeMs() - monotonic()
  return () => {
    let now = monotonic()
    let upMs = uptimeMs()
    // Stopped between the two readings (SIGSTOP), which is no suspend: they are taken again.
    for (let again = monotonic(); again - now > suspendedMs; again = monotonic()) {
      now = again
      upMs = uptimeMs()
    }
    const jumpedMs = upMs - now - aheadMs
    if (jumpedMs > suspendedMs) sleptMs += jumpedMs
    // Backwards: a container's uptime that begins again. Nothing is known of the time, and it goes on.
    if (Math.abs(jumpedMs) > suspendedMs) aheadMs += jumpedMs
    return now + sleptMs
  }
}

export const systemClock: Clock = {
  now: countingSuspend(
    () => performance.now(),
    () => uptime() * 1_000,
  ),
  wall: () => Date.now(),
  after: (delayMs, fire) => {
    // "When others had their turn": a timer of 0 would be one of 1 ms, and long answers give way at each of their pieces.
    if (delayMs <= 0) {
      const turn = setImmediate(fire)
      return () => clearImmediate(turn)
    }
    let timer: NodeJS.Timeout
    const arm = (leftMs: number): void => {
      const pieceMs = Math.min(Math.max(leftMs, 0), longestTimerMs)
      timer = setTimeout(() => (leftMs > pieceMs ? arm(leftMs - pieceMs) : fire()), pieceMs)
    }
    arm(delayMs)
    return () => clearTimeout(timer)
  },
}
