/**
 * The shared store in memory, with the faults of a cluster: for scenarios and tests. Each daemon has a client of its own, which can be cut off, whose
 * answers can be lost, and whose statements can stand still and be served late, as a database's are.
 */
import { sleep, type Clock } from '../../../src/domain/clock.ts'
import {
  StoreTrouble,
  type DaemonRow,
  type Inserted,
  type SharedRow,
  type SharedStore,
  type TenureRow,
} from '../../../src/journal/shared/store.ts'

/** As the store in MariaDB has them. */
const statementLimitMs = 3_000
const lookLimitMs = 1_000

export interface MemoryClient extends SharedStore {
  /** No statement reaches the store any more, until it is joined again. */
  cut(): void
  join(): void
  /** The next statements are executed, and their answers are lost. */
  loseAnswers(statements: number): void
  /** The node that it asks stands still, until a statement has had no answer: the next ones go to another node. */
  hang(): void
  /** The node that it looks at shows what it has now, whatever the others commit, until it catches up. */
  lag(): void
  catchUp(): void
}

export class MemoryCluster {
  readonly #clock: Clock
  readonly #daemons = new Map<string, DaemonRow>()
  entries: SharedRow[] = []
  tenure: TenureRow
  #stalled = false
  #late: (() => void)[] = []

  constructor(clock: Clock, cloud: string) {
    this.#clock = clock
    this.tenure = { epoch: 0, beat: 0, holder: '', format: 1, cloud }
  }

  /** All commits stand still, as while a cluster votes a dead node out. Reads are answered. */
  stall(): void {
    this.#stalled = true
  }

  /** What stood still is committed now, also what nobody waits for any more. */
  flow(): void {
    this.#stalled = false
    for (const commit of this.#late.splice(0)) commit()
  }

  /** All nodes crash together, and the newest entries are gone. */
  lose(entries: number): void {
    this.entries.splice(this.entries.length - entries, entries)
  }

  /** @param heard delivers an answer to a process, which may stand still or be dead by then */
  client(heard: <T>(work: Promise<T>) => Promise<T> = (work) => work): MemoryClient {
    let isCut = false
    let lost = 0
    let hangs = false
    let lagging: { tenure: TenureRow; entries: SharedRow[] } | null = null
    const unanswered = async (limitMs: number): Promise<never> => {
      await sleep(this.#clock, limitMs)
      hangs = false
      throw new StoreTrouble('again', 'no answer within the time limit', { maybeDone: true })
    }
    const reachable = (): void => {
      if (isCut) throw new StoreTrouble('again', 'cut off', { maybeDone: false })
    }
    const answered = <T>(value: T): T => {
      if (isCut || lost > 0) {
        lost = Math.max(0, lost - 1)
        throw new StoreTrouble('again', 'the answer was lost', { maybeDone: true })
      }
      return value
    }
    const commit = <T>(statement: () => T): Promise<T> => heard(committed(statement))
    const committed = async <T>(statement: () => T): Promise<T> => {
      await Promise.resolve()
      reachable()
      if (hangs) return unanswered(statementLimitMs)
      if (!this.#stalled) return answered(statement())
      const late = new Promise<T>((resolve) => this.#late.push(() => resolve(statement())))
      return answered(await Promise.race([late, unanswered(statementLimitMs)]))
    }
    const read = <T>(query: () => T, limitMs = statementLimitMs): Promise<T> => heard(asked(query, limitMs))
    const asked = async <T>(query: () => T, limitMs: number): Promise<T> => {
      await Promise.resolve()
      reachable()
      return hangs ? unanswered(limitMs) : answered(query())
    }
    return {
      cut: () => (isCut = true),
      join: () => (isCut = false),
      loseAnswers: (statements) => (lost = statements),
      hang: () => (hangs = true),
      lag: () => (lagging = { tenure: this.tenure, entries: [...this.entries] }),
      catchUp: () => (lagging = null),
      insert: (after, rows) => commit(() => this.#insert(after, rows)),
      renew: (epoch, holder) =>
        commit(() => this.#change({ epoch, holder }, (row) => ({ ...row, beat: row.beat + 1 }))),
      take: (seen, next) => commit(() => this.#change(seen, (row) => ({ ...row, ...next, beat: 0 }))),
      release: (epoch, holder) => commit(() => this.#change({ epoch, holder }, (row) => ({ ...row, holder: '' }))),
      look: (seq, limit) =>
        read(() => {
          const { tenure, entries } = lagging ?? this
          return { tenure, rows: entries.slice(seq, seq + limit), newest: entries.at(-1)?.seq ?? 0 }
        }, lookLimitMs),
      hashAt: (seq) => read(() => this.entries[seq - 1]?.hash ?? null),
      report: (row) => commit(() => void this.#daemons.set(row.name, row)),
      daemons: () => read(() => [...this.#daemons.values()]),
      close: () => Promise.resolve(),
    }
  }

  #insert(after: { seq: number; hash: string }, rows: readonly SharedRow[]): Inserted {
    if (after.seq > 0 && this.entries[after.seq - 1]?.hash !== after.hash) return 'nothing'
    if (rows.some(({ seq }) => this.entries[seq - 1] !== undefined)) return 'taken'
    this.entries.push(...rows)
    return 'inserted'
  }

  #change(expected: Partial<TenureRow>, change: (row: TenureRow) => TenureRow): boolean {
    const { tenure } = this
    if (Object.entries(expected).some(([key, value]) => tenure[key as keyof TenureRow] !== value)) return false
    this.tenure = change(tenure)
    return true
  }
}
