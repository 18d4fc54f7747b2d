/**
 * Reads Nova for one running recovery: one os-migrations listing a tick for the whole host, and one listing of changed
 * instances when someone needs to see one. However many instances are under way, a tick costs one or two requests.
 *
 * Owns what was read last; decides nothing.
 */
import { pauseAfter } from '../domain/back-off.ts'
import { sleep, type Clock } from '../domain/clock.ts'
import type { Cloud } from '../domain/cloud.ts'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import type { Instance, InstanceId, Migration } from '../domain/instance.ts'
import type { Observer } from '../domain/observer.ts'

/** What a check over the readings says: the value waited for, or what must be read before looking again. */
export type Look<T> = { found: T } | { wait: 'migrations' | 'instances' }

/** Who hears that what all wait for cannot be read, and that it is read again. */
export interface WatchListener {
  /** @param inARow how many readings failed since the last one that came whole */
  unread(error: LifeboatError, inARow: number): void
  readAgain(): void
}

interface Waiter {
  id: InstanceId
  look: () => boolean
  needs: 'migrations' | 'instances'
  reject: (error: unknown) => void
  /** Lets go of the signal: one host may have thousands of waiters over its recovery. */
  release: () => void
}

/**
 * Margin before the survey from which changes are asked for: Nova's stamps come from conductors and computes, whose
 * clocks may differ from the API's. Too small: a change is not listed, and is then read one by one.
 */
const changesMarginMs = 60_000

/**
 * Listing instances costs Nova much more than listing migrations. So while some are still under way the arrived ones are looked at only
 * this often, and after a pause of so many times what the last listing took; the last ones at once. Longer delays their outcomes, shorter
 * slows the evacuations.
 */
const instancesEveryMs = 2_000
const restPerListing = 5

/** However long a listing takes, the arrived ones wait no longer for the next: until then each holds a slot that another could use. */
const slowestListingMs = 4_000

/** Pause after a reading of migrations, in times of what it took. Less would spend a slow API on being asked how slow it is. */
const restPerReading = 2

/** Longest pause between readings while Nova does not answer. Longer would notice its return late. */
const slowestTickMs = 5_000

export interface HostWatchOptions {
  cloud: Cloud
  clock: Clock
  observer: Observer
  host: string
  tickMs: number
  signal: AbortSignal
  /** Cloud time now, ms since the epoch. */
  cloudTimeMs: number
  /** Cloud time from which on changes are listed. Default: now. */
  changedSinceMs?: number
  /** The survey was made by an earlier run. */
  resumed?: boolean
}

export class HostWatch {
  readonly #cloud: Cloud
  readonly #clock: Clock
  readonly #observer: Observer
  readonly #host: string
  readonly #tickMs: number
  readonly #signal: AbortSignal
  readonly #resumed: boolean
  readonly #since: string
  readonly #cloudOffsetMs: number
  readonly #migrations = new Map<InstanceId, Migration[]>()
  readonly #instances = new Map<InstanceId, Instance>()
  readonly #seenAt = new Map<InstanceId, number>()
  readonly #waiters = new Set<Waiter>()
  #reading = false
  #listing: { at: number; done: Promise<void> } | null = null
  #migrationsReadAt = -Infinity
  #tookMs = 0
  #nextInstancesAt = -Infinity
  #changesAskedAt = -Infinity
  #blindMs = 0
  #blindFrom: number | null = null
  #listener: WatchListener | null = null

  constructor(options: HostWatchOptions) {
    this.#cloud = options.cloud
    this.#clock = options.clock
    this.#observer = options.observer
    this.#host = options.host
    this.#tickMs = options.tickMs
    this.#signal = options.signal
    this.#resumed = options.resumed ?? false
    this.#cloudOffsetMs = options.cloudTimeMs - options.clock.now()
    const since = options.changedSinceMs ?? options.cloudTimeMs
    this.#since = new Date(since - changesMarginMs).toISOString().slice(0, 19)
  }

  /** From now on `listener` hears of readings that fail. */
  tells(listener: WatchListener): void {
    this.#listener = listener
  }

  /** The cloud's own time, ms since the epoch, as far as its survey told. */
  cloudNow(): number {
    return this.#clock.now() + this.#cloudOffsetMs
  }

  /** The evacuations from this host of one instance, as last read, oldest first. */
  evacuations(id: InstanceId): Migration[] {
    return this.#migrations.get(id) ?? []
  }

  /** The instance as last read, or undefined. */
  instance(id: InstanceId): Instance | undefined {
    return this.#instances.get(id)
  }

  /** Monotonic time for which what is known of the instance is true: a listing of changes also tells what did not change. */
  knownAt(id: InstanceId): number {
    const seenAt = this.#seenAt.get(id)
    return seenAt === undefined ? -Infinity : Math.max(seenAt, this.#changesAskedAt)
  }

  /**
   * When Nova was last asked about the instance, by the cloud's clock, ISO. Its answer may have taken long, and lacks what was ordered meanwhile.
   * The current time for an instance that was never shown.
   */
  knownAtCloudTime(id: InstanceId): string {
    const agoMs = this.#clock.now() - this.knownAt(id)
    return new Date(this.cloudNow() - (Number.isFinite(agoMs) ? agoMs : 0)).toISOString()
  }

  /** Monotonic time at which the instance itself was last shown. Its tags are of then: no listing of changes tells of a tag (docs/nova.md §1.3). */
  shownAt(id: InstanceId): number {
    return this.#seenAt.get(id) ?? -Infinity
  }

  /** When the instance was last shown, ISO by our wall clock; null where it never was. */
  seenAt(id: InstanceId): string | null {
    const seenAt = this.#seenAt.get(id)
    if (seenAt === undefined) return null
    return new Date(this.#clock.wall() - (this.#clock.now() - seenAt)).toISOString()
  }

  /** Takes in an instance that was read elsewhere. @param at monotonic time at which it was asked for */
  saw(instance: Instance, at: number = this.#clock.now()): void {
    this.#instances.set(instance.id, instance)
    this.#seenAt.set(instance.id, at)
  }

  /** Takes in a listing of the host and of the migrations from it, begun at that monotonic time. */
  surveyed(instances: readonly Instance[], migrations: readonly Migration[], at: number): void {
    for (const instance of instances) this.saw(instance, at)
    if (at < this.#migrationsReadAt) return
    const fromHere = migrations.filter(({ type, sourceHost }) => type === 'evacuation' && sourceHost === this.#host)
    this.#take(fromHere, at)
  }

  /**
   * Lists the host and the evacuations from it, once for all who ask at about the same time.
   *
   * @param goodForMs a listing that was begun this recently is joined
   */
  list(goodForMs: number): Promise<void> {
    const askedAt = this.#clock.now()
    if (this.#listing !== null && askedAt - this.#listing.at <= goodForMs) return this.#listing.done
    const listing = { at: askedAt, done: this.#listHost(askedAt) }
    this.#listing = listing
    const over = (): void => {
      if (this.#listing === listing) this.#listing = null
    }
    listing.done.then(over, over)
    return listing.done
  }

  async #listHost(askedAt: number): Promise<void> {
    const options = { signal: this.#signal }
    const [instances, migrations] = await Promise.all([
      this.#cloud.listInstances(this.#host, options),
      this.#cloud.listMigrations({ sourceHost: this.#host, type: 'evacuation' }, options),
    ])
    this.surveyed(instances, migrations, askedAt)
  }

  /** How long the last listing took that was read whole. A busy Nova cannot be asked more often than it answers. */
  get tookMs(): number {
    return this.#tookMs
  }

  /** Monotonic time at which the migrations were asked for that were last read whole. */
  get migrationsReadAt(): number {
    return this.#migrationsReadAt
  }

  /** How long, all in all, readings were awaited that did not come: what happened meanwhile, nobody saw. */
  get blindMs(): number {
    return this.#blindMs + (this.#blindFrom === null ? 0 : this.#clock.now() - this.#blindFrom)
  }

  /** Reads one instance now. Throws INSTANCE_GONE and what the cloud throws. */
  async read(id: InstanceId): Promise<Instance> {
    const askedAt = this.#clock.now()
    const instance = await this.#cloud.getInstance(id, { signal: this.#signal })
    this.saw(instance, askedAt)
    return instance
  }

  /** Calls `look` after every reading until it finds something. Rejects with SHUTDOWN when `signal` aborts, or with what `look` throws. */
  until<T>(id: InstanceId, signal: AbortSignal, look: () => Look<T>): Promise<T> {
    if (signal.aborted) return Promise.reject(stopping())
    return new Promise<T>((resolve, reject) => {
      const waiter: Waiter = {
        id,
        needs: 'migrations',
        reject,
        release: () => signal.removeEventListener('abort', abort),
        look: () => {
          const seen = look()
          if ('found' in seen) {
            waiter.release()
            resolve(seen.found)
            return true
          }
          waiter.needs = seen.wait
          return false
        },
      }
      const abort = (): void => this.#end(waiter, () => reject(stopping()))
      this.#waiters.add(waiter)
      signal.addEventListener('abort', abort, { once: true })
      if (!this.#reading) {
        this.#reading = true
        void this.#readWhileAwaited()
      }
    })
  }

  async #readWhileAwaited(): Promise<void> {
    // What was ordered before a restart may long have landed: the first look does not wait.
    let restMs = this.#resumed && this.#migrationsReadAt === -Infinity ? 0 : this.#tickMs
    let failures = 0
    while (this.#waiters.size > 0) {
      await sleep(this.#clock, failures === 0 ? restMs : pauseAfter(failures + 1, restMs, slowestTickMs), this.#signal)
      if (this.#signal.aborted) break
      const began = this.#clock.now()
      try {
        await this.#tick()
        this.#endBlindness()
        restMs = this.#restAfter(this.#clock.now() - began)
        failures = 0
      } catch (thrown) {
        const error = ensureError(thrown)
        // Silence proves nothing (law L7): the waiters keep waiting, and the time does not count against what they wait for.
        this.#blindFrom ??= began
        failures += 1
        restMs = Math.max(restMs, this.#tickMs)
        this.#observer.log?.('warn', 'watch.read_failed', { host: this.#host }, error)
        this.#tell((listener) => listener.unread(error, failures))
      }
    }
    this.#reading = false
    this.#endBlindness()
    for (const waiter of this.#waiters) waiter.reject(stopping())
    this.#waiters.clear()
  }

  #endBlindness(): void {
    const wasBlind = this.#blindFrom !== null
    this.#blindMs = this.blindMs
    this.#blindFrom = null
    if (wasBlind) this.#tell((listener) => listener.readAgain())
  }

  /** A journal that cannot be written ends everybody's wait: nothing else would tell them. */
  #tell(what: (listener: WatchListener) => void): void {
    if (this.#listener === null || this.#signal.aborted) return
    try {
      what(this.#listener)
    } catch (error) {
      for (const waiter of this.#waiters) this.#end(waiter, () => waiter.reject(error))
    }
  }

  /** A busy Nova is asked less often: our readings must not be what keeps it busy. */
  #restAfter(tickTookMs: number): number {
    return Math.min(Math.max(this.#tickMs, tickTookMs, this.#tookMs * restPerReading), slowestTickMs)
  }

  async #tick(): Promise<void> {
    const askedAt = this.#clock.now()
    const migrations = await this.#cloud.listMigrations(
      { sourceHost: this.#host, type: 'evacuation' },
      { signal: this.#signal },
    )
    this.#take(migrations, askedAt)
    this.#ask()
    const needing = [...this.#waiters].filter((waiter) => waiter.needs === 'instances').map((waiter) => waiter.id)
    const everybody = needing.length === this.#waiters.size
    const began = this.#clock.now()
    if (needing.length === 0 || (!everybody && began < this.#nextInstancesAt)) return
    await this.#readInstances(needing)
    const restMs = (this.#clock.now() - began) * restPerListing
    this.#nextInstancesAt = this.#clock.now() + Math.min(Math.max(instancesEveryMs, restMs), slowestListingMs)
    this.#ask()
  }

  #take(migrations: readonly Migration[], askedAt: number): void {
    this.#migrations.clear()
    for (const migration of migrations.toSorted((a, b) => a.id - b.id)) {
      const known = this.#migrations.get(migration.instanceId)
      if (known === undefined) this.#migrations.set(migration.instanceId, [migration])
      else known.push(migration)
    }
    // As of the question: what began while Nova answered may not be in the answer.
    this.#migrationsReadAt = askedAt
    this.#tookMs = this.#clock.now() - askedAt
  }

  async #readInstances(needed: InstanceId[]): Promise<void> {
    const askedAt = this.#clock.now()
    const changed = new Set<InstanceId>()
    for (const instance of await this.#cloud.listChangedInstances(this.#since, { signal: this.#signal })) {
      this.saw(instance, askedAt)
      changed.add(instance.id)
    }
    for (const id of needed) if (!changed.has(id)) await this.#readMissing(id)
    // Only now: of a cell that cannot be reached the listing has nothing, and then the readings fail.
    this.#changesAskedAt = askedAt
  }

  async #readMissing(id: InstanceId): Promise<void> {
    try {
      await this.read(id)
    } catch (thrown) {
      const error = ensureError(thrown)
      if (error.code !== 'INSTANCE_GONE') throw error
      for (const waiter of this.#waiters) if (waiter.id === id) this.#end(waiter, () => waiter.reject(error))
    }
  }

  #ask(): void {
    for (const waiter of this.#waiters) {
      try {
        if (waiter.look()) this.#waiters.delete(waiter)
      } catch (error) {
        this.#end(waiter, () => waiter.reject(error))
      }
    }
  }

  #end(waiter: Waiter, finish: () => void): void {
    this.#waiters.delete(waiter)
    waiter.release()
    finish()
  }
}

function stopping(): LifeboatError {
  return new LifeboatError('SHUTDOWN', 'no longer waited for', { certainty: 'unknown' })
}
