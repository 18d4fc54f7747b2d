/**
 * A daemon in this process, on a virtual clock and over the simulated cloud, that can die at any commit of its journal. Its
 * clock and its network end with it (src/rehearsal/life.ts), and it writes nothing more: what is left is the journal
 * file and the cloud, as after SIGKILL.
 */
import { Daemon } from '../../src/daemon/daemon.ts'
import { simulatedParts } from '../../src/rehearsal/simulated-parts.ts'
import { Life } from '../../src/rehearsal/life.ts'
import type { Cloud } from '../../src/domain/cloud.ts'
import type { NewEntry } from '../../src/domain/entry.ts'
import type { StepKind, Workflow } from '../../src/domain/plan.ts'
import type { Segment } from '../../src/domain/segment.ts'
import type { Wire } from '../../src/domain/wire.ts'
import { openJournal, type JournalWriter } from '../../src/journal/journal.ts'
import type { Simulator, VirtualClock } from '../../src/simulator/index.ts'

/** Before its n-th commit is written, or right after it. */
export type Death = { before: number } | { after: number }

/** A write that is about to be sent, by the step it belongs to. */
export interface Sending {
  kind: StepKind
  instance: string
  recipe: string
  step: string
  attempt: number
}

/** Stands between the daemon and the cloud: passes the write on, or does not, or falsifies its answer. */
export type Intercept = <R>(sending: Sending, pass: () => Promise<R>) => Promise<R>

export interface MortalOptions {
  clock: VirtualClock
  simulator: Simulator
  path: string
  workflow: Workflow
  segment: Partial<Segment>
  /** Default: two hours. */
  beatMs?: number
  /** How long Nova may take to serve what it was sent. Default: it serves everything at once. */
  longestRequestMs?: number
  death?: Death | undefined
  intercept?: Intercept | undefined
  /** What it sends passes this, in the tick in which it leaves. */
  passing?: (wire: Wire) => Wire
  /** Told of each commit, before (`written` false) and after it. */
  onCommit?: (nth: number, entries: NewEntry[], written: boolean, life: MortalDaemon) => void
}

/** Heartbeats have no part in most of these runs: the monitor polls once at the start, then hourly. */
const rareBeatMs = 7_200_000

const writes = {
  evacuate: 'evacuate',
  start: 'start',
  stop: 'stop',
  lock: 'lock',
  unlock: 'unlock',
  resetState: 'reset-state',
  confirmResize: 'confirm-resize',
} as const satisfies Partial<Record<keyof Cloud, StepKind>>

export class MortalDaemon {
  readonly journal: JournalWriter
  dead = false
  commits = 0
  #daemon: Daemon | null = null
  readonly #options: MortalOptions
  readonly #life: Life

  constructor(options: MortalOptions) {
    this.#options = options
    const { clock: time, simulator, path, workflow, segment, beatMs = rareBeatMs, passing = (wire) => wire } = options
    this.journal = openJournal(path, { clock: time })
    this.#life = new Life(time)
    const journal = { ...this.journal, append: (entries: NewEntry[]) => this.#append(entries) }
    const parts = simulatedParts(simulator, {
      clock: this.#life,
      journal,
      workflow,
      beatMs,
      segment: { probes: [], ...segment },
      wire: this.#life.wire(passing(simulator.wire())),
    })
    try {
      this.#daemon = new Daemon({
        ...parts,
        cloud: this.#watched(parts.cloud),
        executorSettings: {
          maxParallel: 32,
          tickMs: 200,
          reconcileQuietMs: 1_000,
          longestRequestMs: options.longestRequestMs ?? 0,
          fenceRetryMs: 2_000,
          fenceRetryMaxMs: 8_000,
        },
        journalPath: path,
      })
      this.#daemon.start()
    } catch (thrown) {
      // It died in the middle of its own start.
      if (!this.dead) throw thrown
    }
  }

  get daemon(): Daemon {
    if (this.#daemon === null) throw new Error('it died before it was built')
    return this.#daemon
  }

  /** Whether there is nothing to wait for any more: it is dead, or everything is over. */
  get isOver(): boolean {
    return this.dead || this.#daemon?.store.open().length === 0
  }

  /** Stands still from here and now on, as after SIGSTOP. */
  stall(ms: number): void {
    this.#life.stall(ms)
  }

  /** Dies here and now, whatever is under way. */
  die(): void {
    if (this.dead) return
    this.dead = true
    this.#life.end()
    this.journal.close()
  }

  /** An orderly end. The journal stays open to be looked at, until `die`. */
  async stop(): Promise<void> {
    if (!this.dead) await this.#options.clock.run(this.daemon.stop('over'))
  }

  #append(entries: NewEntry[]): ReturnType<JournalWriter['append']> {
    const { death, onCommit } = this.#options
    this.#mustLive()
    // A quiet poll asks whether the journal can be written: nothing is committed, and a death there is one between two commits.
    if (entries.length === 0) return this.journal.append(entries)
    const nth = ++this.commits
    onCommit?.(nth, entries, false, this)
    if (death !== undefined && 'before' in death && death.before === nth) this.die()
    this.#mustLive()
    const written = this.journal.append(entries)
    onCommit?.(nth, entries, true, this)
    if (death !== undefined && 'after' in death && death.after === nth) this.die()
    this.#mustLive()
    return written
  }

  /** Ends the call of a daemon that has died: it must not go on to send anything. */
  #mustLive(): void {
    if (this.dead) throw new Error('dead')
  }

  #watched(cloud: Cloud): Cloud {
    const { intercept } = this.#options
    if (intercept === undefined) return cloud
    const changed = Object.entries(writes).map(([name, kind]) => {
      const call = cloud[name as keyof typeof writes] as (id: string, ...rest: unknown[]) => Promise<unknown>
      return [
        name,
        (id: string, ...rest: unknown[]) => intercept(this.#sending(kind, id), () => call(id, ...rest)),
      ] as const
    })
    return { ...cloud, ...Object.fromEntries(changed) }
  }

  /** The step whose write this is: the newest one that is intended. A write without one breaks law L2. */
  #sending(kind: StepKind, instance: string): Sending {
    const steps = [...(this.daemon.store.open()[0]?.instances.get(instance)?.steps.values() ?? [])]
    const record = steps.findLast((step) => step.status === 'intended' && step.kind === kind)
    if (record === undefined) throw new Error(`L2: ${kind} of ${instance} is sent without an intended row`)
    const [, recipe = '', step = '', attempt] = /^\d+\.(.+)\.([^.]+)\.(\d+)$/.exec(record.key) ?? []
    return { kind, instance, recipe, step, attempt: Number(attempt) }
  }
}
