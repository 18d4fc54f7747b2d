/**
 * Carries appended entries to the shared store: groups behind the caller, one statement at a time, in order. Owns the rule that makes the chain
 * the fence: at a sequence that may have been written, only the identical entry is sent again, never another one. Decides that the
 * tenure is over when another daemon's entry stands where ours should.
 */
import { pauseAfter } from '../../domain/back-off.ts'
import { isAborted, sleep, type Clock } from '../../domain/clock.ts'
import { LifeboatError } from '../../domain/errors.ts'
import type { EntryRow } from '../chain.ts'
import type { Head } from '../kept-head.ts'
import { sharedRow } from './rows.ts'
import { newestCommon, putBack, type Copy } from './lost-entries.ts'
import { StoreTrouble, type SharedRow, type SharedStore } from './store.ts'

/** Entries in one statement. More: a statement that takes longer than its limit; fewer: a large plan takes more round trips. */
const rowsAtOnce = 500
const bytesAtOnce = 1_000_000

/** Pause before the same statement is sent again. Longer: a recovery waits for it; shorter: busies a cluster that is in trouble. */
const againMs = 100
const againAtMostMs = 1_000

const wentOn = 'the shared journal went on from an older entry'

export interface ShipperParts {
  store: Pick<SharedStore, 'insert' | 'hashAt' | 'look'>
  clock: Clock
  copy: Copy
  /** The newest durable entry. */
  head: Head
  /** These are durable now, in order. Must not throw. */
  acknowledged: (rows: readonly EntryRow[]) => void
  /** Another daemon wrote the chain on: nothing of ours can be written any more. */
  overtaken: (why: string) => void
  /** The store is in trouble (null: not any more). */
  trouble: (problem: StoreTrouble | null) => void
  /** The store had lost so many entries; the copy put them back. */
  restored: (entries: number) => void
  signal: AbortSignal
}

interface Staged {
  row: EntryRow
  shared: SharedRow
  /** The last row of its append: what one append writes is there as a whole, or not at all. */
  isLast: boolean
}

export class Shipper {
  readonly #parts: ShipperParts
  #head: Head
  #staged: Staged[] = []
  #shipping = false
  #mending = false
  #waiting: { seq: number; resolve: () => void }[] = []

  constructor(parts: ShipperParts) {
    this.#parts = parts
    this.#head = parts.head
  }

  /** The newest entry that the caller sees, durable or not. */
  get newest(): Head {
    const last = this.#staged.at(-1)
    return last === undefined ? this.#head : { seq: last.row.seq, hash: last.row.hash }
  }

  /** Entries that are not durable yet. */
  get staged(): number {
    return this.#staged.length
  }

  /** Queues entries that follow `newest`. */
  add(rows: readonly EntryRow[]): void {
    const last = rows.at(-1)
    this.#staged.push(...rows.map((row) => ({ row, shared: sharedRow(row), isLast: row === last })))
    if (!this.#shipping) void this.#ship()
  }

  /** Resolves once all that was queued until now is durable; never when the tenure ends before. */
  durable(): Promise<void> {
    const last = this.#staged.at(-1)
    if (last === undefined) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waiting.push({ seq: last.row.seq, resolve })
    })
  }

  /** Puts back what the store lost while nothing is appended. Throws StoreTrouble. */
  async mend(): Promise<void> {
    // An append that is under way finds a gap by itself.
    if (this.#mending || this.#shipping) return
    this.#mending = true
    try {
      const { store, copy, restored } = this.#parts
      const { newest } = await store.look(0, 0)
      const { seq, hash } = this.#head
      // The second: this node is behind the others.
      if (newest >= seq || (await store.hashAt(seq)) === hash) return
      if ((await putBack(store, copy, restored)) === 'other') this.#over(wentOn)
    } finally {
      this.#mending = false
    }
  }

  async #ship(): Promise<void> {
    this.#shipping = true
    // What the caller appends in this tick goes in one statement.
    await Promise.resolve()
    while (this.#staged.length > 0 && !this.#parts.signal.aborted) {
      const batch = this.#nextBatch()
      const written = await this.#write(batch)
      // The tenure may have ended meanwhile: what was written then comes to the copy with all that others wrote.
      if (written === 0 || isAborted(this.#parts.signal)) break
      const rows = this.#staged.splice(0, written).map(({ row }) => row)
      const last = rows.at(-1)
      if (last !== undefined) this.#head = { seq: last.seq, hash: last.hash }
      this.#parts.acknowledged(rows)
      const done = this.#waiting.filter(({ seq }) => seq <= this.#head.seq)
      this.#waiting = this.#waiting.filter(({ seq }) => seq > this.#head.seq)
      for (const { resolve } of done) resolve()
    }
    this.#shipping = false
  }

  /** Cut between two appends; only an append that is too large by itself is cut in the middle. */
  #nextBatch(): Staged[] {
    let bytes = 0
    let whole = 0
    for (const [index, { shared, isLast }] of this.#staged.entries()) {
      bytes += shared.body.length
      if (index > 0 && (index >= rowsAtOnce || bytes > bytesAtOnce))
        return this.#staged.slice(0, whole === 0 ? index : whole)
      if (isLast) whole = index + 1
    }
    return [...this.#staged]
  }

  /**
   * Sends one batch until it is known what became of it. Gives how many of its rows are written, the first ones; 0: the tenure is over, or the
   * process stops.
   */
  async #write(batch: readonly Staged[]): Promise<number> {
    const { clock, signal, trouble } = this.#parts
    const rows = batch.map(({ shared }) => shared)
    let inTrouble = false
    for (let tries = 1; !signal.aborted; tries++) {
      try {
        const found = await this.#once(rows)
        if (inTrouble) trouble(null)
        inTrouble = false
        if (found !== 'again') return found === 'over' ? 0 : found
      } catch (thrown) {
        if (!(thrown instanceof StoreTrouble)) throw thrown
        if (!inTrouble) trouble(thrown)
        inTrouble = true
      }
      await sleep(clock, pauseAfter(tries, againMs, againAtMostMs), signal)
    }
    return 0
  }

  /** Gives how many of the rows are written, the first ones. */
  async #once(rows: readonly SharedRow[]): Promise<number | 'again' | 'over'> {
    const { store, copy, restored } = this.#parts
    const [first] = rows
    const last = rows.at(-1)
    if (first === undefined || last === undefined) throw new LifeboatError('INVARIANT', 'a batch has rows')
    const inserted = await store.insert(this.#head, rows)
    if (inserted === 'inserted') return rows.length
    if (inserted === 'taken') {
      const [atFirst, atLast] = [await store.hashAt(first.seq), await store.hashAt(last.seq)]
      if (atLast === last.hash) return rows.length
      if (atFirst === null) return 'again'
      if (atFirst !== first.hash) return this.#over(`another daemon wrote entry ${first.seq}`)
      // An earlier statement of ours was executed, the store lost its entries, and a daemon that has copied them put back a part.
      const ours = { head: () => last, hashAt: (seq: number) => rows[seq - first.seq]?.hash ?? null }
      return (await newestCommon(store, ours, first.seq)) - first.seq + 1
    }
    const { seq, hash } = this.#head
    const before = await store.hashAt(seq)
    // This node is behind the others.
    if (before === hash) return 'again'
    if (before !== null) return this.#over(`entry ${seq} of the shared journal is not the one that was written`)
    const end = await putBack(store, copy, restored)
    return end === 'other' ? this.#over(wentOn) : 'again'
  }

  #over(why: string): 'over' {
    this.#parts.overtaken(why)
    return 'over'
  }
}
