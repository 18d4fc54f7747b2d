/**
 * A daemon that shares its journal, in this process: on a virtual clock, over the simulated cloud and a shared store in memory. It can die or
 * stand still at any moment in which it changes something outside: a statement, its copy, a write to Nova or a BMC; before it, or right after it.
 */
import { fencingThrough } from '../../src/adapters/exits.ts'
import { Daemon } from '../../src/daemon/daemon.ts'
import { standBy } from '../../src/daemon/standby.ts'
import type { Workflow } from '../../src/domain/plan.ts'
import type { Wire, WireRequest } from '../../src/domain/wire.ts'
import { openJournal, type JournalWriter } from '../../src/journal/journal.ts'
import { identityOf } from '../../src/journal/shared/identity.ts'
import { sharedJournal, type SharedJournal } from '../../src/journal/shared/journal.ts'
import type { SharedRow, SharedStore } from '../../src/journal/shared/store.ts'
import { Life } from '../../src/rehearsal/life.ts'
import { simulatedParts } from '../../src/rehearsal/simulated-parts.ts'
import type { Simulator, VirtualClock } from '../../src/simulator/index.ts'
import type { MemoryCluster } from '../journal/shared/memory.ts'

/** What a daemon changes outside of itself, in words. */
export interface Moment {
  says: string
  /** It reached Nova or a BMC. */
  isEffect: boolean
  /** When it was sent, ms. */
  at: number
}

/** At the n-th moment of its life, counted from 1. */
export type End = { before: number } | { after: number }

export interface SharingOptions {
  name: string
  clock: VirtualClock
  simulator: Simulator
  cluster: MemoryCluster
  path: string
  workflow: Workflow
  end?: End | undefined
  /** SIGSTOP at this moment, and SIGCONT. */
  standsStill?: (End & { ms: number }) | undefined
  /** Before it starts to act. */
  prepare?: (journal: JournalWriter) => void
  /** Of heartbeats. Default: two hours. */
  beatMs?: number
}

/** Heartbeats have no part in most of these runs: the monitor polls once at the start, then hourly. */
const rareBeatMs = 7_200_000

export class SharingDaemon {
  readonly name: string
  readonly shared: SharedJournal
  readonly life: Life
  readonly moments: Moment[] = []
  /** Addresses that it only read. */
  readonly reads: string[] = []
  dead = false
  /** Why it ended before anyone killed it. */
  problem: string | null = null
  /** What it builds to stand by with. */
  watching: Daemon | null = null
  #acting: Daemon | null = null
  readonly #options: SharingOptions

  constructor(options: SharingOptions) {
    this.#options = options
    const { name, clock, cluster, path } = options
    this.name = name
    this.life = new Life(clock)
    const copy = openJournal(path, { clock: this.life })
    this.shared = sharedJournal({
      ...{ store: this.#watchedStore(cluster.client()), copy: this.#watchedCopy(copy), clock: this.life },
      ...{ leaseMs: 6_000, cloud: 'blue', identity: identityOf(name, path) },
      about: () => ({
        ...{ name, address: '', version: '1', mode: 'armed', configDigest: 'd'.repeat(64), goodPollAgeMs: 1_000 },
      }),
      ...{ told: () => undefined, shouldHandOver: () => undefined, copyTrouble: () => undefined },
    })
    this.shared.tenure.ended.addEventListener('abort', () => this.die())
    this.#live().catch((thrown: unknown) => {
      if (!this.dead) this.problem = String(thrown)
    })
  }

  get isActive(): boolean {
    return !this.dead && this.shared.tenure.state === 'active'
  }

  /** Null: it only stands by, or is dead. */
  get acting(): Daemon | null {
    return this.isActive ? this.#acting : null
  }

  /** It acts, and every incident is over. */
  get isDone(): boolean {
    return this.acting?.store.open().length === 0
  }

  /** SIGKILL. What still runs in this tick reaches nothing any more. */
  die(): void {
    if (this.dead) return
    this.dead = true
    this.life.end()
    this.#options.clock.after(1, () => this.shared.journal.close())
  }

  /** As daemon/run.ts does. */
  async #live(): Promise<void> {
    const watching = (this.watching = this.#build())
    if (!(await standBy(this.shared.tenure, watching, new Promise(() => undefined)))) return
    this.#options.prepare?.(this.shared.journal)
    this.#acting = this.#build(watching)
    this.#acting.start()
  }

  #build(watched?: Daemon): Daemon {
    const { simulator, workflow, path, beatMs = rareBeatMs } = this.#options
    const exit = this.shared.tenure
    const parts = simulatedParts(simulator, {
      ...{ exit, fencing: (plain) => fencingThrough(exit, plain) },
      ...{ clock: this.life, journal: this.shared.journal, workflow, beatMs },
      ...{ segment: { probes: [] }, wire: this.#watchedWire(simulator.wire()) },
    })
    const executorSettings = { ...parts.executorSettings, tickMs: 200, reconcileQuietMs: 1_000, longestRequestMs: 0 }
    return new Daemon({
      ...{ ...parts, executorSettings, journalPath: path },
      ...(watched !== undefined && { watched }),
    })
  }

  #watchedStore(store: SharedStore): SharedStore {
    const plain = async <T>(ask: () => Promise<T>): Promise<T> => {
      await this.#runs()
      return this.life.heard(ask())
    }
    return {
      insert: (after, rows) => this.#moment(`insert ${kindsOf(rows)}`, () => store.insert(after, rows)),
      take: (seen, next) => this.#moment('take', () => store.take(seen, next)),
      release: (epoch, holder) => this.#moment('release', () => store.release(epoch, holder)),
      renew: (epoch, holder) => plain(() => store.renew(epoch, holder)),
      look: (seq, limit) => plain(() => store.look(seq, limit)),
      hashAt: (seq) => plain(() => store.hashAt(seq)),
      report: (row) => plain(() => store.report(row)),
      daemons: () => plain(() => store.daemons()),
      close: () => store.close(),
    }
  }

  /** Synchronous, so a daemon that dies here goes on to the end of its tick; nothing that it does in it leaves. */
  #watchedCopy(copy: JournalWriter): JournalWriter {
    return {
      ...copy,
      takeIn: (rows) => {
        if (this.dead) return []
        const nth = this.#noted(`copy ${rows.map(({ kind }) => kind).join(' ')}`)
        if (this.#strike({ before: nth }) === 'dead') return []
        const entries = copy.takeIn(rows)
        this.#strike({ after: nth })
        return entries
      },
    }
  }

  #watchedWire(wire: Wire): Wire {
    const passing = this.life.wire(wire)
    return (request) => {
      if (!isWrite(request)) {
        this.reads.push(request.url ?? '')
        return passing(request)
      }
      return this.#moment(effectOf(request), (moment) => {
        // As the transport asks where there are sockets: in the tick in which the bytes leave.
        if (!this.shared.tenure.held()) throw new Error('not sent: this daemon may not act any more')
        moment.isEffect = true
        return wire(request)
      })
    }
  }

  async #moment<T>(says: string, change: (moment: Moment) => Promise<T>): Promise<T> {
    await this.#runs()
    const nth = this.#noted(says)
    if (this.#strike({ before: nth }) !== null) await this.#runs()
    const moment = this.moments[nth - 1]
    if (moment === undefined) throw new Error('no moment')
    moment.at = this.#options.clock.now()
    const changed = await change(moment)
    this.#strike({ after: nth })
    return this.life.heard(Promise.resolve(changed))
  }

  /** Not before the process runs; never when it is dead. */
  #runs(): Promise<void> {
    return this.life.heard(Promise.resolve())
  }

  #noted(says: string): number {
    return this.moments.push({ says, isEffect: false, at: this.#options.clock.now() })
  }

  /** It dies or stands still here, if it was told to. */
  #strike(here: End): 'dead' | 'stands still' | null {
    const { end, standsStill } = this.#options
    if (isAt(here, end)) {
      this.die()
      return 'dead'
    }
    if (!isAt(here, standsStill)) return null
    this.life.stall(standsStill?.ms ?? 0)
    return 'stands still'
  }
}

function isAt(here: End, there: End | undefined): boolean {
  if (there === undefined) return false
  return 'before' in here
    ? 'before' in there && there.before === here.before
    : 'after' in there && there.after === here.after
}

function kindsOf(rows: readonly SharedRow[]): string {
  return rows.map(({ body }) => (JSON.parse(body) as string[])[8]).join(' ')
}

function isWrite({ method, url }: WireRequest): boolean {
  return method?.toUpperCase() !== 'GET' && url?.includes('/identity/') !== true
}

function effectOf({ method, url = '', data }: WireRequest): string {
  const body = typeof data === 'string' ? (Object.keys(JSON.parse(data) as object)[0] ?? '') : ''
  return `${method?.toUpperCase()} ${new URL(url).pathname.replaceAll(/[0-9a-f-]{36}/g, 'ID')} ${body}`
}
