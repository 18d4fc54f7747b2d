/** The real clock: the one place in the product that reads time and sets timers. */
import type { Clock } from '../domain/clock.ts'

/** Node fires timers longer than this at once (32-bit milliseconds); longer waits are cut into pieces. */
const longestTimerMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => performance.now(),
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
