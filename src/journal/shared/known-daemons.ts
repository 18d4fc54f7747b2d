/**
 * The daemons that share the journal, as this one knows them. It writes its own row and reads those of the others; whether one is there it
 * judges by its own clock, from whether that one's row goes on changing. Its own writes show whether commits come through (flow.ts). Where someone
 * else writes its row, there is another daemon of its name.
 */
import { randomInt } from 'node:crypto'
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
/** Beats begin anywhere below: so a row says which process wrote it. With one for each report, they stay whole numbers for any lifetime. */
const firstBeatBelow = 2 ** 47
/** Words of another process in our row. One may be the last of the process before us, which the store served late. */
const wordsOfNamesake = 2

export interface KnownDaemonsParts {
  store: Pick<SharedStore, 'report' | 'daemons'>
  clock: Clock
  about: () => Pick<DaemonRow, 'name' | 'address' | 'version' | 'mode' | 'configDigest' | 'goodPollAgeMs'>
  copiedSeq: () => number
  often: () => boolean
  /** After each reading of the others. */
  heard: () => void
  /** Another daemon runs under our name; null: not any more. */
  met: (namesake: KnownDaemon | null) => void
  signal: AbortSignal
}

export class KnownDaemons {
  readonly #parts: KnownDaemonsParts
  readonly #flow: Flow
  /** Since when each daemon's beat is as it is, by our clock. */
  readonly #beats = new Map<string, { beat: number; since: number }>()
  #rows: DaemonRow[] = []
  readonly #firstBeat = randomInt(firstBeatBelow)
  #reports = 0
  /** The last word in our row that is not ours, by our clock, and how many came in a row. */
  #foreign: { row: DaemonRow; at: number; words: number } | null = null
  #isMet = false

  constructor(parts: KnownDaemonsParts) {
    this.#parts = parts
    this.#flow = new Flow(parts.clock)
  }

  /** As of the last reading; of our own name, what we said. */
  known(): KnownDaemon[] {
    return this.#rows.map((row) => this.#known(row))
  }

  /** Another daemon of our name, while it goes on writing our row. */
  namesake(): KnownDaemon | null {
    if (this.#foreign === null || this.#foreign.words < wordsOfNamesake || !this.#isRecent(this.#foreign.at))
      return null
    const { beat: _beat, ...row } = this.#foreign.row
    return { ...row, present: true }
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
    // The store answers in order: this is what stands there before our report. Before the first one that is of no interest, for the process before us
    // wrote it. A failure is the report's, too.
    const before = this.#reports === 0 ? [] : store.daemons().catch(nothingOfTrouble)
    const row = { ...about(), copiedSeq: copiedSeq(), beat: this.#firstBeat + ++this.#reports, at }
    const [found] = await Promise.all([before, this.#flow.through(() => store.report(row))])
    this.#lookForNamesake(found.find(({ name }) => name === row.name))
    const rows = await store.daemons()
    this.#rows = rows.map((each) => (each.name === row.name ? row : each))
    for (const { name, beat } of this.#rows)
      if (this.#beats.get(name)?.beat !== beat) this.#beats.set(name, { beat, since: clock.now() })
  }

  #lookForNamesake(row: DaemonRow | undefined): void {
    const last = this.#foreign
    if (row !== undefined && !this.#isOurs(row) && row.beat !== last?.row.beat) {
      const words = last !== null && this.#isRecent(last.at) ? last.words + 1 : 1
      this.#foreign = { row, words, at: this.#parts.clock.now() }
    }
    const namesake = this.namesake()
    if ((namesake !== null) === this.#isMet) return
    this.#isMet = namesake !== null
    this.#parts.met(namesake)
  }

  #isOurs({ beat }: DaemonRow): boolean {
    return beat > this.#firstBeat && beat <= this.#firstBeat + this.#reports
  }

  #isRecent(at: number): boolean {
    return this.#parts.clock.now() - at < presentForMs
  }

  #known({ beat: _beat, ...row }: DaemonRow): KnownDaemon {
    const since = this.#beats.get(row.name)?.since ?? -Infinity
    return { ...row, present: this.#isRecent(since) }
  }
}

function nothingOfTrouble(thrown: unknown): DaemonRow[] {
  if (thrown instanceof StoreTrouble) return []
  throw thrown
}
