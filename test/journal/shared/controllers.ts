/** Controllers with a daemon each, on one shared store in memory and one virtual clock. Each acts as a recovery does, and every act is kept. */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../../src/domain/clock.ts'
import type { NewEntry } from '../../../src/domain/entry.ts'
import { ensureError } from '../../../src/domain/errors.ts'
import type { EntryRow } from '../../../src/journal/chain.ts'
import { openJournal, type JournalWriter } from '../../../src/journal/journal.ts'
import { identityOf } from '../../../src/journal/shared/identity.ts'
import { sharedJournal, type SharedJournal } from '../../../src/journal/shared/journal.ts'
import { StoreTrouble } from '../../../src/journal/shared/store.ts'
import type { TenureEvent } from '../../../src/journal/shared/tenure-parts.ts'
import { Life } from '../../../src/rehearsal/life.ts'
import { VirtualClock } from '../../../src/simulator/virtual-clock.ts'
import { MemoryCluster, type MemoryClient } from './memory.ts'

export const leaseMs = 6_000

/** A write that left a house. */
export interface Act {
  by: string
  at: number
  /** Newest entry that this daemon had recorded before it. */
  seq: number
}

export interface Controller extends SharedJournal {
  name: string
  life: Life
  client: MemoryClient
  copy: JournalWriter
  events: TenureEvent[]
  /** Whether Nova answers this daemon from now on. */
  novaAnswers(yes: boolean): void
  /** How long ago it did, from now on, ms. */
  novaAnsweredAgo(ms: number): void
  /** Why it ended before it was active. */
  problem: string | null
  /** Records an entry and sends what rests on it, as a step does. Gives null, or the code of what kept it back. */
  act(): Promise<string | null>
}

export interface StartOptions {
  readsNova?: boolean
  cloud?: string
  leaseMs?: number
  /** How far the machine's time of day is from that of the others. */
  clockIsOffMs?: number
  /** Of its copy; default: the site's. */
  directory?: string
  /** Where its pages are, if not at its name. */
  address?: string
  stops?: AbortSignal
}

export class Site {
  readonly clock = new VirtualClock()
  readonly cluster = new MemoryCluster(this.clock, 'blue')
  readonly acts: Act[] = []
  readonly directory = mkdtempSync(join(tmpdir(), 'lifeboat-standby-'))
  readonly #running = new Set<Controller>()

  /** Starts a daemon on a machine; its copy stays there from one start to the next. */
  start(name: string, options: StartOptions = {}): Controller {
    const { clock, acts } = this
    const life = new Life(clock)
    const path = join(options.directory ?? this.directory, `${name}.db`)
    const wall = (): number => life.wall() + (options.clockIsOffMs ?? 0)
    const ownClock: Clock = { now: () => life.now(), wall, after: (delayMs, fire) => life.after(delayMs, fire) }
    const copy = openJournal(path, { clock: ownClock })
    const client = this.cluster.client((work) => life.heard(work))
    const events: TenureEvent[] = []
    let goodPollAgeMs: number | null = options.readsNova === false ? null : 1_000
    const shared = sharedJournal({
      ...{ store: client, copy, clock: ownClock, leaseMs: options.leaseMs ?? leaseMs, cloud: options.cloud ?? 'blue' },
      identity: identityOf(name, path),
      about: () => ({
        ...{ name, address: options.address ?? `https://${name}`, version: '1', mode: 'armed' },
        configDigest: 'd'.repeat(64),
        goodPollAgeMs,
      }),
      told: (event) => events.push(event),
      shouldHandOver: (why) => void shared.release(why),
      copyTrouble: () => undefined,
    })
    const { journal, tenure } = shared
    const controller: Controller = {
      ...{ ...shared, name, life, client, copy, events, problem: null },
      novaAnswers: (yes) => (goodPollAgeMs = yes ? 1_000 : null),
      novaAnsweredAgo: (ms) => (goodPollAgeMs = ms),
      act: async () => {
        try {
          const [entry] = journal.append([actOf(name)])
          await tenure.permit()
          if (!tenure.held()) return 'HELD_BACK'
          acts.push({ by: name, at: clock.now(), seq: entry?.seq ?? 0 })
          return null
        } catch (thrown) {
          return ensureError(thrown).code
        }
      },
    }
    tenure.untilActive(options.stops ?? new AbortController().signal).catch((thrown: unknown) => {
      controller.problem = ensureError(thrown).code
    })
    this.#running.add(controller)
    return controller
  }

  /** The first is active, the second stands by. */
  async twoDaemons(): Promise<[Controller, Controller]> {
    const one = this.start('ctl1')
    await this.untilActive(one)
    const two = this.start('ctl2')
    await this.clock.until(() => two.tenure.state === 'standby')
    await this.clock.advance(3_000)
    return [one, two]
  }

  /** Gives the directory of another machine. */
  elsewhere(): string {
    return mkdtempSync(join(this.directory, 'elsewhere-'))
  }

  /** Someone copies what a daemon keeps on its machine to another one. Gives where. */
  copyOf(name: string): string {
    const directory = this.elsewhere()
    for (const file of readdirSync(this.directory).filter((each) => each.startsWith(`${name}.db`)))
      cpSync(join(this.directory, file), join(directory, file))
    return directory
  }

  /** Someone copies it, and starts it there too. */
  startFromCopy(name: string): Controller {
    return this.start(name, { directory: this.copyOf(name) })
  }

  /** As a recovery does: one act after another. Gives what ends that. */
  keepActing(controller: Controller, everyMs = 50): () => void {
    let going = true
    const next = (): void => {
      if (!going) return
      void controller.act()
      controller.life.after(everyMs, next)
    }
    next()
    return () => (going = false)
  }

  /** A machine whose daemon had a journal of its own, with so many entries. Gives them. */
  record(name: string, entries: number): EntryRow[] {
    const journal = openJournal(join(this.directory, `${name}.db`), { clock: this.clock })
    journal.append(Array.from({ length: entries }, () => actOf(name)))
    const rows = journal.rows(0, entries)
    journal.close()
    return rows
  }

  /** SIGKILL, or the end of its machine. */
  kill(controller: Controller): void {
    controller.life.end()
    controller.journal.close()
    this.#running.delete(controller)
  }

  /** Lives on until this daemon is active. Gives how long that took, in ms. */
  async untilActive(controller: Controller, limitMs = 60_000): Promise<number> {
    const began = this.clock.now()
    await this.clock.until(() => controller.tenure.state === 'active', limitMs)
    return this.clock.now() - began
  }

  close(): void {
    for (const controller of [...this.#running]) this.kill(controller)
    rmSync(this.directory, { recursive: true, force: true })
  }

  /** What no run may break: one chain, acts only in one's own tenure, and nothing lost that an act rests on. */
  broken(): string[] {
    const entries = this.cluster.entries.map(({ body }) => JSON.parse(body) as [string, number, string, string])
    const holes = entries.flatMap(([, seq], index) =>
      seq === index + 1 ? [] : [`entry ${seq} stands at ${index + 1}`],
    )
    const tenures = this.tenures()
    const strangers = this.acts.flatMap(({ by, at, seq }) => {
      if (seq > entries.length) return [`${by} acted on entry ${seq}, which is lost`]
      const owner = tenures.findLast((tenure) => tenure.seq <= seq)
      const next = tenures.find((tenure) => tenure.seq > seq)
      if (owner?.by !== by) return [`${by} acted in the tenure of ${owner?.by ?? 'nobody'}`]
      return next !== undefined && at > next.at ? [`${by} acted after ${next.by} had begun`] : []
    })
    return [...holes, ...strangers]
  }

  /** Each tenure on record: who began it, and when. */
  tenures(): { by: string; seq: number; at: number; why: string }[] {
    return this.cluster.entries.flatMap(({ seq, body }) => {
      const [, , at, , , , , , kind, data] = JSON.parse(body) as string[]
      if (kind !== 'tenure.began') return []
      const { holder, why } = JSON.parse(data ?? '{}') as { holder: string; why: string }
      return [
        { by: holder.split('/')[0] ?? '', seq, why, at: Date.parse(at ?? '') - this.clock.wall() + this.clock.now() },
      ]
    })
  }
}

function actOf(name: string): NewEntry {
  return { kind: 'alarm.raised', data: { code: 'ACT', message: `${name} acts` } }
}

/** Any entry. */
export const alarm = { kind: 'alarm.raised', data: { code: 'N', message: 'm' } } as const

/** What a store throws that cannot be reached. */
export const away = (): StoreTrouble => new StoreTrouble('again', 'away', { maybeDone: false })

/** Whether it told that another daemon has its name, each time that this changed. */
export const namesakesOf = ({ events }: Controller): boolean[] =>
  events.flatMap((event) => (event.kind === 'namesake' ? [event.daemon !== null] : []))

/** The states that a daemon went through, as it told them. */
export const statesOf = ({ events }: Controller): string[] =>
  events.flatMap((event) => (event.kind === 'state' ? [event.state] : []))

/** The codes of the troubles that it told; null: it was over. */
export const troublesOf = ({ events }: Controller): (string | null)[] =>
  events.flatMap((event) => (event.kind === 'trouble' ? [event.problem?.code ?? null] : []))
