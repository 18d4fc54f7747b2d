/** A notice service over a real journal on a virtual clock, with receivers that a test plays. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CountedGroup } from '../../src/domain/brake.ts'
import type { Entry, EntryData, NewEntry } from '../../src/domain/entry.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { IncidentPhase } from '../../src/domain/incident-phases.ts'
import { foldIncidents } from '../../src/domain/incident.ts'
import type { Instance } from '../../src/domain/instance.ts'
import type { Journal } from '../../src/domain/journal.ts'
import type { Notice, NoticeTopic } from '../../src/domain/notice.ts'
import type { Verdict, VerdictKind } from '../../src/domain/verdict.ts'
import { verdictReasons, type VerdictReason } from '../../src/domain/verdict-reasons.ts'
import { openJournal, type JournalWriter } from '../../src/journal/journal.ts'
import type { Deliver, Ended, Renewal } from '../../src/notices/delivery.ts'
import { NoticeService } from '../../src/notices/notice-service.ts'
import type { NoticeRules, ReceiverRule } from '../../src/notices/rules.ts'
import { VirtualClock } from '../../src/simulator/index.ts'

export const taken: Ended = { ok: true, result: 'HTTP 204' }
export const down: Ended = { ok: false, problem: 'HTTP 503', final: false }
export const refused: Ended = { ok: false, problem: 'HTTP 400', final: true }

export const everything: ReceiverRule = {
  audience: 'operator',
  topics: null,
  segments: null,
  projects: null,
  least: 'info',
  alerts: 'none',
}
export const owners: ReceiverRule = { ...everything, audience: 'tenant' }

export interface RigOptions {
  receivers?: Record<string, ReceiverRule>
  limits?: Partial<Omit<NoticeRules, 'receivers'>>
  mode?: 'observe' | 'armed'
}

export class Rig {
  readonly clock = new VirtualClock()
  /** What each receiver says to each try; default: taken. */
  answers: (receiver: string, notice: Notice, attempt: number) => Ended | Promise<Ended> = () => taken
  /** What is on hosts. */
  instances: (host: string, signal?: AbortSignal) => Promise<Instance[]> = () => Promise.resolve([])
  /** Tries, in order: receiver, topic and project of each. */
  tries: { receiver: string; notice: Notice; at: number }[] = []
  journal!: JournalWriter
  service!: NoticeService
  /** What the brake holds; null: not known yet. */
  held: () => CountedGroup[] | null = () => []
  /** Of receivers that keep alerts only: the keys that each renewal sent, and how it ends. */
  renewed: string[][] = []
  renewal: () => Ended | Promise<Ended> = () => taken
  diskFull = false
  readonly #options: RigOptions
  readonly #directory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'lifeboat-notices-'))

  constructor(options: RigOptions = {}) {
    this.#options = options
    this.open()
  }

  static run(options: RigOptions, test: (rig: Rig) => Promise<void>): () => Promise<void> {
    return async () => {
      const rig = new Rig(options)
      try {
        rig.service.start()
        await test(rig)
      } finally {
        rig.journal.close()
        rmSync(rig.#directory, { recursive: true, force: true })
      }
    }
  }

  /** A new run over the same journal; the old one was killed and does nothing more. */
  open(options: RigOptions = {}): void {
    const { receivers, limits, mode } = { ...this.#options, ...options }
    const { clock } = this
    const journal = openJournal(join(this.#directory, 'journal.db'), { clock })
    this.journal = journal
    const guarded: Journal = {
      ...journal,
      append: (entries) => {
        if (this.diskFull) throw new LifeboatError('JOURNAL_UNAVAILABLE', 'the disk is full')
        return journal.append(entries)
      },
    }
    const rules: NoticeRules = {
      ...{ freezeDelayMs: 30_000, giveUpAfterMs: 3_600_000, queueLimit: 100, maxInstances: 3, ...limits },
      receivers: new Map(Object.entries(receivers ?? { pager: everything })),
    }
    const mine = journal
    const deliver =
      (receiver: string): Deliver =>
      async ({ notice, attempt, signal }) => {
        // A run that is over sends nothing.
        if (this.journal !== mine) return new Promise(() => undefined)
        this.tries.push({ receiver, notice, at: clock.now() })
        const cut = new Promise<Ended>((resolve) => {
          signal.addEventListener('abort', () => resolve({ ok: false, problem: 'stopped', final: false }))
        })
        return Promise.race([cut, this.answers(receiver, notice, attempt)])
      }
    const renewal: Renewal = {
      everyMs: 60_000,
      send: async (standing) => {
        if (this.journal !== mine) return new Promise(() => undefined)
        this.renewed.push(standing().map(({ alert }) => alert?.key ?? ''))
        return this.renewal()
      },
    }
    this.service = new NoticeService({
      clock,
      journal: guarded,
      cloud: { listInstances: (host, options) => this.instances(host, options?.signal) },
      observer: {},
      mode: () => mode ?? 'armed',
      incident: (id) => foldIncidents(journal.read({ incident: id })).get(id),
      heldGroups: () => this.held(),
      rules,
      deliver: new Map(
        [...rules.receivers].map(([name, { alerts }]) => [
          name,
          alerts === 'only' ? Object.assign(deliver(name), { renewal }) : deliver(name),
        ]),
      ),
    })
  }

  /** Killed and started again. */
  restart(options: RigOptions = {}): void {
    this.journal.close()
    this.open(options)
    this.service.start()
  }

  async append(...entries: NewEntry[]): Promise<Entry[]> {
    const written = this.journal.append(entries)
    await this.pass(0)
    return written
  }

  pass(ms: number): Promise<void> {
    return this.clock.advance(ms)
  }

  /** What arrived or was tried, as `receiver topic`. */
  tried(): string[] {
    return this.tries.map(({ receiver, notice }) => `${receiver} ${notice.topic}`)
  }

  queued(topic?: NoticeTopic): Notice[] {
    const entries = this.journal.read({ kinds: ['notice.queued'] })
    const notices = entries.flatMap((entry) => (entry.kind === 'notice.queued' ? [entry.data] : []))
    return notices.filter((notice) => topic === undefined || notice.topic === topic)
  }

  /** How notices ended, as `kind receiver topic`. */
  ends(): string[] {
    const topics = new Map(this.queued().map(({ id, topic }) => [id, topic]))
    return this.journal
      .read({ kinds: ['notice.sent', 'notice.failed', 'notice.dead-lettered'] })
      .map(({ kind, data }) => {
        const { receiver, notice } = data as { receiver: string; notice: string }
        return `${kind.slice('notice.'.length)} ${receiver} ${topics.get(notice) ?? '?'}`
      })
  }
}

/** Some reason of such a verdict. */
function reasonOf(kind: VerdictKind): VerdictReason {
  const found = Object.entries(verdictReasons).find(([, { of }]) => (of as readonly string[]).includes(kind))
  return found?.[0] as VerdictReason
}

export function verdict(
  kind: VerdictKind,
  change: Partial<Verdict> & { from?: VerdictKind } = {},
): Extract<NewEntry, { kind: 'verdict.changed' }> {
  const host = change.host ?? 'cmp01'
  const data: EntryData['verdict.changed'] = {
    ...{ host, segment: 'az1', kind, reason: reasonOf(kind), message: `it is ${kind}`, from: 'healthy' },
    at: '2026-01-01T00:00:00.000Z',
    evidence: {
      ...{ status: 'enabled', state: 'up', forcedDown: false, updatedAt: null },
      ...{ silentMs: 0, intervalMs: 10_000, missedBeats: 0, probes: [] },
    },
    ...change,
  }
  return { kind: 'verdict.changed', host, data }
}

/** Suspect, and a witness says dead. */
export function dying(host = 'cmp01'): NewEntry {
  const suspect = verdict('suspect', { host })
  const probe = { probe: 'ping', kind: 'ping', answer: 'dead', detail: '', at: 't' } as const
  return { ...suspect, data: { ...suspect.data, evidence: { ...suspect.data.evidence, probes: [probe] } } }
}

export function opened(id: string, change: Partial<EntryData['incident.opened']> = {}): NewEntry {
  const data: EntryData['incident.opened'] = {
    ...{ verdict: verdict('host-down').data, segment: 'az1', failure: 'host', mode: 'armed' },
    ...{ openedBy: 'daemon', workflowDigest: 'd', ...change },
  }
  return { kind: 'incident.opened', incident: id, host: 'cmp01', data }
}

/** Opened, and its recovery begins. */
export function begun(id: string, change: Partial<EntryData['incident.opened']> = {}): NewEntry[] {
  return [opened(id, change), phase(id, 'confirming', change.mode === 'observe' ? 'surveying' : 'fencing')]
}

export function phase(id: string, from: IncidentPhase, to: IncidentPhase): NewEntry {
  return { kind: 'incident.phase', incident: id, host: 'cmp01', data: { from, to } }
}

export function closed(
  id: string,
  outcome: EntryData['incident.closed']['outcome'] = 'done',
): Extract<NewEntry, { kind: 'incident.closed' }> {
  const data = { outcome, message: 'every instance has its outcome', counts: { recovered: 1 } }
  return { kind: 'incident.closed', incident: id, host: 'cmp01', data }
}

export function instanceOf(name: string, project: string, vmState = 'active'): Instance {
  return { id: `id-${name}`, name, projectId: project, vmState, host: 'cmp01' } as Instance
}

/** The plan of an instance, and how it ended. */
export function recovered(
  id: string,
  name: string,
  project: string,
  end: Partial<EntryData['outcome.recorded']> = {},
  launchedAt: string | null = '2026-01-01T00:00:00Z',
): NewEntry[] {
  const about = { incident: id, host: 'cmp01', instance: `id-${name}` }
  const common = { rule: 'running', decision: 'recover', reason: 'RUNNING', recipe: 'evacuate' }
  const original = { instance: { host: 'cmp01', launchedAt } }
  const plan = { instanceId: `id-${name}`, name, projectId: project, expected: 'running', original, ...common }
  const after = { host: 'cmp02', vmState: 'active', taskState: null, powerState: 1, locked: false }
  return [
    { kind: 'plan.made', ...about, data: plan as unknown as EntryData['plan.made'] },
    {
      kind: 'outcome.recorded',
      ...about,
      data: { outcome: 'recovered', code: 'RUNNING', message: 'runs again on cmp02', after, ...end },
    },
  ]
}

/** The text of a mail, whichever way its letters made the composer encode it. */
export function bodyOf(letter: string): string {
  const [head = '', ...rest] = letter.split('\n\n')
  const body = rest.join('\n\n')
  return /^Content-Transfer-Encoding: base64$/m.test(head) ? Buffer.from(body, 'base64').toString('utf8') : body
}

/** What the brake holds in one scope: four instances on each host. */
export function group(scope: string, hosts: readonly string[], also: string[] = []): CountedGroup {
  const since = '2026-01-01T00:00:00.000Z'
  const [kind = 'cloud', name = ''] = scope.split(':')
  const count = { instances: 4, running: 3, projects: 1, at: since }
  const members = hosts.map((host) => ({ host, segment: 'az1', incident: `i-${host}`, since, count }))
  const message = `${hosts.length} of 8 hosts are down (limit 2)`
  const title = `rack ${name}`
  return {
    ...{ scope, kind: kind as CountedGroup['kind'], title, message, down: hosts.length, allowed: 2, fleet: 8 },
    ...{ trippedSince: since, also, members, instances: 4 * hosts.length, running: 3 * hosts.length, uncounted: 0 },
  }
}
