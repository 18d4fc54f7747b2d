/**
 * A clock whose time stands still while anything is going on and jumps to the next timer when nothing is. With it a
 * daemon and a simulated cloud in one process live through hours in milliseconds, over real HTTP.
 *
 * "Going on" is: an HTTP request of this process that has not ended (open-requests.ts), a request that the simulator's
 * server works on, file and child-process work, and everything that `busy` was told of. A request that the server holds
 * back on purpose (a slow or hanging answer) is waiting for the clock, so it does not count.
 *
 * It must not be used outside tests and demonstrations: nothing here knows the real time.
 */
import type { Clock } from '../domain/clock.ts'
import { requestsFromNowOn } from './open-requests.ts'

/** Event loop turns without any work before time may jump: promises, sqlite and response bodies settle in fewer than these. */
const quietTurns = 6
/** Requests to the operating system that end without our clock; while one is open the process is not idle. */
const osRequests = /^(FSReq|GetAddrInfoReq|TCPConnect|PipeConnect|ConnectWrap|ProcessWrap)/

interface Timer {
  at: number
  order: number
  fire: () => void
}

export class VirtualClock implements Clock {
  private time = 0
  private order = 0
  private epoch: number
  private timers: Timer[] = []
  private readonly openRequests = requestsFromNowOn()
  private readonly ownProcesses: number
  private serving = 0
  private held = 0
  private tasks = 0
  private driving: Promise<void> | null = null

  /** `epoch`: the wall-clock time (ms) at which the clock starts. */
  constructor(epoch = Date.UTC(2026, 0, 1)) {
    this.epoch = epoch
    this.ownProcesses = openOsRequests()
  }

  now(): number {
    return this.time
  }

  wall(): number {
    return this.epoch + this.time
  }

  /** The wall clock jumps, as when NTP or a person sets it; time itself goes on as before. */
  stepWall(ms: number): void {
    this.epoch += ms
  }

  after(delayMs: number, fire: () => void): () => void {
    const timer: Timer = { at: this.time + Math.max(0, delayMs), order: this.order++, fire }
    this.insert(timer)
    return () => {
      const at = this.timers.indexOf(timer)
      if (at >= 0) this.timers.splice(at, 1)
    }
  }

  /** Marks the process busy until the returned function is called (once). */
  busy(): () => void {
    return this.counted('tasks')
  }

  /** For the simulator's server: a request is being worked on. */
  serve(): () => void {
    return this.counted('serving')
  }

  /** For the simulator's server: an answer is held back until the clock moves or the client leaves. */
  hold(): () => void {
    return this.counted('held')
  }

  /** Lives through `ms`, stopping at every timer on the way. */
  async advance(ms: number): Promise<void> {
    const end = this.time + ms
    await this.drive(() => false, end)
    this.time = Math.max(this.time, end)
  }

  /** Lives through `ms`, or until `condition` holds: then it stops there and says true. */
  async pass(ms: number, condition: () => boolean): Promise<boolean> {
    const end = this.time + ms
    await this.drive(condition, end)
    if (condition()) return true
    this.time = Math.max(this.time, end)
    return false
  }

  /**
   * Time passes in the middle of a call that does not return meanwhile. What is due fires; what others only begin then, they
   * go on with afterwards.
   */
  leap(ms: number): void {
    const end = this.time + ms
    for (let next = this.timers[0]; next !== undefined && next.at < end; next = this.timers[0]) {
      this.timers.shift()
      this.time = Math.max(this.time, next.at)
      next.fire()
    }
    this.time = end
  }

  /** Lets time pass until `condition` holds. Throws when `limitMs` of virtual time were not enough. */
  async until(condition: () => boolean, limitMs = 24 * 3_600_000): Promise<void> {
    await this.drive(condition, this.time + limitMs)
    if (!condition()) throw new Error(`not within ${limitMs} ms of virtual time: ${condition.toString()}`)
  }

  /** Lets time pass until `work` has settled, and gives its result. */
  async run<T>(work: Promise<T>, limitMs = 24 * 3_600_000): Promise<T> {
    const state = { settled: false }
    const settle = (): void => {
      state.settled = true
    }
    work.then(settle, settle)
    await this.until(() => state.settled, limitMs)
    return work
  }

  private async drive(stop: () => boolean, end: number): Promise<void> {
    // Two drivers at once would jump twice: the second waits, and then finds its own end or drives on.
    while (this.driving !== null) await this.driving
    this.driving = this.pump(stop, end)
    try {
      await this.driving
    } finally {
      this.driving = null
    }
  }

  private async pump(stop: () => boolean, end: number): Promise<void> {
    for (;;) {
      await this.settle(stop)
      if (stop()) return
      const next = this.timers[0]
      if (next === undefined || next.at > end) return
      this.time = Math.max(this.time, next.at)
      await this.fireDue()
    }
  }

  /** Fires what was due at this moment when it came; timers that are made meanwhile wait for the next round. */
  private async fireDue(): Promise<void> {
    const before = this.order
    for (;;) {
      const next = this.timers[0]
      if (next === undefined || next.at > this.time || next.order >= before) return
      this.timers.shift()
      next.fire()
      await Promise.resolve()
    }
  }

  /** Waits until the process has nothing to do but wait for this clock. */
  private async settle(stop: () => boolean): Promise<void> {
    for (let quiet = 0; quiet < quietTurns;) {
      await turn()
      if (this.working()) quiet = 0
      else quiet++
      if (stop()) return
      if (quiet === quietTurns && openOsRequests() > this.ownProcesses) quiet = 0
    }
  }

  private working(): boolean {
    return this.tasks > 0 || this.serving > 0 || this.openRequests() > this.held
  }

  private insert(timer: Timer): void {
    let low = 0
    let high = this.timers.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.timers[middle]
      if (other !== undefined && (other.at < timer.at || (other.at === timer.at && other.order < timer.order)))
        low = middle + 1
      else high = middle
    }
    this.timers.splice(low, 0, timer)
  }

  private counted(counter: 'tasks' | 'serving' | 'held'): () => void {
    this[counter]++
    let open = true
    return () => {
      if (open) this[counter]--
      open = false
    }
  }
}

function openOsRequests(): number {
  return process.getActiveResourcesInfo().filter((kind) => osRequests.test(kind)).length
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    // The one place where the process's own event loop is waited for: virtual time may only move when it is idle.
    // oxlint-disable-next-line no-restricted-globals
    setImmediate(resolve)
  })
}
