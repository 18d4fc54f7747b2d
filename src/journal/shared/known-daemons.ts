/**
 * The daemons that share the journal, as this one knows them. It writes its own row and reads those of the others; whether one is there it
 * judges by its own clock, from whether that one's row goes on changing. Its own writes show whether commits come through (flow.ts).
 */
import { sleep, type Clock } from '../../domain/clock.ts'
import type { KnownDaemon } from '../../domain/tenure.ts'
import { Flow } from './flow.ts'
import { StoreTrouble, type DaemonRow, type SharedStore } from './store.ts'

/** How often a daemon writes its own row. Longer: people see a dead standby later; shorter: more commits for nothing. */
const reportEveryMs = 2_000
/** The same while a take-over may be near, which needs commits of the last moments. */
const reportOftenMs = 500
/** A daemon whose row did not change for so long is not there. Shorter than a vote of the cluster: all would seem gone then. */
const presentForMs = 10_000

export interface KnownDaemonsParts {
  store: Pick<SharedStore, 'report' | 'daemons'>
  clock: Clock
  about: () => Pick<DaemonRow, 'name' | 'address' | 'version' | 'mode' | 'configDigest' | 'goodPollAgeMs'>
  copiedSeq: () => number
  often: () => boolean
  /** After each reading of the others. */
  heard: () => void
  signal: AbortSignal
}

export class KnownDaemons {
  readonly #parts: KnownDaemonsParts
  readonly #flow: Flow
  /** Since when each daemon's beat is as it is, by our clock. */
  readonly #beats = new Map<string, { beat: number; since: number }>()
  #rows: DaemonRow[] = []
  #reports = 0

  constructor(parts: KnownDaemonsParts) {
    this.#parts = parts
    this.#flow = new Flow(parts.clock)
  }

  /** As of the last reading. */
  known(): KnownDaemon[] {
    return this.#rows.map((row) => this.#known(row))
  }

  /** Since when our own commits come through; null: they do not. */
  flowingSince(): number | null {
    return this.#flow.since()
  }

  /** Writes and reads until `signal` aborts. A store in trouble is asked again: who appends tells of it. */
  async keep(): Promise<void> {
    const { clock, often, heard, signal } = this.#parts
    while (!signal.aborted) {
      try {
        await this.#exchange()
        heard()
      } catch (thrown) {
        if (!(thrown instanceof StoreTrouble)) throw thrown
      }
      await sleep(clock, often() ? reportOftenMs : reportEveryMs, signal)
    }
  }

  async #exchange(): Promise<void> {
    const { store, clock, about, copiedSeq } = this.#parts
    const at = new Date(clock.wall()).toISOString()
    const row = { ...about(), copiedSeq: copiedSeq(), beat: ++this.#reports, at }
    await this.#flow.through(() => store.report(row))
    this.#rows = await store.daemons()
    for (const { name, beat } of this.#rows)
      if (this.#beats.get(name)?.beat !== beat) this.#beats.set(name, { beat, since: clock.now() })
  }

  #known({ beat: _beat, ...row }: DaemonRow): KnownDaemon {
    const since = this.#beats.get(row.name)?.since ?? -Infinity
    return { ...row, present: this.#parts.clock.now() - since < presentForMs }
  }
}
