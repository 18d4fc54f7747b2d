/**
 * Owners of instances: reads what is on a dead host, once, and remembers who was told of what until that failure is over.
 * Reads beside the recovery, which never waits for it.
 */
import { isAborted, sleep, type Clock } from '../domain/clock.ts'
import type { Cloud } from '../domain/cloud.ts'
import type { Entry } from '../domain/entry.ts'
import { ensureError } from '../domain/errors.ts'
import type { Incident } from '../domain/incident.ts'
import type { Instance } from '../domain/instance.ts'
import type { Notice } from '../domain/notice.ts'
import type { Observer } from '../domain/observer.ts'
import { witnessedDead } from '../domain/verdict.ts'
import { tellsTenants, type Draft, type NoticeRules } from './rules.ts'
import { affectedDrafts, affectsTenants, crashedDrafts, endedDrafts, returnedDrafts } from './tenants.ts'

/** Tries to list a host's instances, and the pause between them. More: owners hear late what the closing says anyway. */
const listings = 3
const listAgainMs = 1_000

/**
 * A host that is suspect and whose witnesses say dead is read before its verdict: Nova takes a second and more for a busy list,
 * and at the verdict the recovery asks it for the same. Older than this it is read again: someone may have been moved.
 */
const earlyGoodForMs = 90_000
/** Hosts read early at once. More: a mass failure asks Nova for every host's list when it can bear it least. */
const earlyAtOnce = 4

export interface OwnersParts {
  clock: Clock
  cloud: Pick<Cloud, 'listInstances'>
  observer: Observer
  mode: () => 'observe' | 'armed'
  rules: () => NoticeRules
  incident: (id: string) => Incident | undefined
  signal: AbortSignal
}

export class Owners {
  readonly #parts: OwnersParts
  /** Of hosts whose failure is not over: project -> what it was told. */
  readonly #told = new Map<string, Map<string, Notice>>()
  /** Of each host: the last incident whose ends were told, and of what each project was told there. */
  readonly #toldEnds = new Map<string, { incident: string; ends: Map<string, string> }>()
  /** Hosts with an open incident, as the entries tell. */
  readonly #open = new Set<string>()
  /** Open incidents of processes and of single instances: their hosts live, and their ends say nothing of a host. */
  readonly #ofLivingHosts = new Set<string>()
  /** Hosts that came back by themselves, until it is known which of their instances are off. */
  readonly #watched = new Set<string>()
  /** Hosts whose instances are being read, with the sequence of the entry that they are read for. */
  readonly #reading = new Map<string, number>()
  /** What was on suspect hosts; null: it could not be read. `at`: when it was asked for, monotonic ms. */
  readonly #early = new Map<string, { at: number; over: boolean; list: Promise<Instance[] | null> }>()

  constructor(parts: OwnersParts) {
    this.#parts = parts
  }

  /** Follows notices and incidents, those of earlier runs too. */
  follow(entry: Entry): void {
    if (entry.kind === 'process.failed' || entry.kind === 'instance.failed')
      this.#ofLivingHosts.add(entry.incident ?? '')
    if (entry.kind === 'incident.closed' && this.#ofLivingHosts.delete(entry.incident ?? '')) return
    if (entry.kind === 'incident.opened' && entry.host !== null) {
      this.#open.add(entry.host)
      this.#watched.delete(entry.host)
    }
    if (isTheEnd(entry) && entry.host !== null) this.forget(entry.host)
    else if (entry.kind === 'incident.closed' && entry.host !== null) this.#watch(entry.host)
    if (entry.kind === 'notice.queued') this.remember(entry.data)
  }

  remember(notice: Notice): void {
    const { topic, host, project } = notice
    if (host === null || project === null) return
    if (topic === 'instances-ended') this.#toldTheEnd(host, project, notice)
    if (topic !== 'instances-affected') return
    const told = this.#told.get(host) ?? new Map<string, Notice>()
    this.#told.set(host, told.set(project, notice))
  }

  /** Whether the entry is the moment to read what is on its host, for someone to be told. */
  asks(entry: Entry): boolean {
    const { host } = entry
    if (!affectsTenants(entry) || host === null || this.#told.has(host) || this.#reading.has(host)) return false
    return tellsTenants(this.#parts.rules().receivers, segmentOf(entry))
  }

  /** Reads a host that is likely to be found dead in a moment, so that its owners need not wait for Nova then. */
  foresee(entry: Entry): void {
    if (entry.kind !== 'verdict.changed') return
    const { host, kind, segment, evidence } = entry.data
    if (kind === 'healthy') this.#early.delete(host)
    if (kind !== 'suspect' || !witnessedDead(evidence) || this.#told.has(host)) return
    const { clock, cloud, rules, signal } = this.#parts
    const underWay = [...this.#early.values()].filter(({ over }) => !over).length
    if (underWay >= earlyAtOnce || !tellsTenants(rules().receivers, segment)) return
    const list = cloud
      .listInstances(host, { signal })
      // Nothing is lost: it is read at the verdict, where a failure is told.
      .catch(() => null)
      .finally(() => (early.over = true))
    const early = { at: clock.now(), over: false, list }
    this.#early.set(host, early)
  }

  /** Drafts for everybody with instances on the host. Empty when it cannot be read: the end of the incident tells them. */
  async affected(entry: Entry): Promise<Draft[]> {
    const { mode, rules } = this.#parts
    const host = entry.host ?? ''
    this.#reading.set(host, entry.seq)
    const instances = await this.#onHost(host)
    // It ended while Nova was asked: anyone who heard of it now would never hear of its end.
    if (this.#reading.get(host) !== entry.seq) return []
    this.#reading.delete(host)
    return affectedDrafts(entry, instances, {
      mode: mode(),
      segment: segmentOf(entry),
      maxInstances: rules().maxInstances,
    })
  }

  /** What became of everybody's instances, when the entry is the end of a failure. */
  ended(entry: Entry): Draft[] {
    const { mode, rules, incident } = this.#parts
    const { receivers, maxInstances } = rules()
    const { host } = entry
    if (host === null) return []
    if (this.#ofLivingHosts.has(entry.incident ?? '')) return this.#ofCrash(entry)
    const told = this.#told.get(host) ?? new Map<string, Notice>()
    if (isTheEnd(entry)) {
      const known = incident(entry.incident ?? '')
      this.forget(host)
      if (known === undefined || !tellsTenants(receivers, known.segment)) return []
      const drafts = endedDrafts(entry, known, told, { maxInstances })
      // After a return each change of one instance is such an end: of the projects of the others nothing has changed.
      return drafts.filter((draft) => told.has(draft.project ?? '') || !this.#isToldEnd(host, draft))
    }
    if (entry.kind !== 'verdict.changed' || entry.data.kind !== 'healthy' || this.#open.has(host)) return []
    if (this.#watched.has(host)) return []
    this.forget(host)
    return returnedDrafts(entry, told, { mode: mode(), segment: entry.data.segment, maxInstances })
  }

  /** Notices of an instance whose guest crashed on a host that lives. */
  #ofCrash(entry: Entry): Draft[] {
    if (entry.kind !== 'incident.closed' && entry.kind !== 'incident.held') return []
    const known = this.#parts.incident(entry.incident ?? '')
    if (known === undefined || known.crashed === null) return []
    return tellsTenants(this.#parts.rules().receivers, known.segment) ? crashedDrafts(entry, known) : []
  }

  /** Hosts without an open incident whose failure is not over as far as it was told; `since`: the sequence of what was told. */
  failing(): { host: string; since: number }[] {
    return [...this.#told]
      .filter(([host]) => !this.#open.has(host) && !this.#watched.has(host))
      .map(([host, told]) => ({ host, since: Math.max(...[...told.values()].map(({ cause }) => cause)) }))
  }

  /** Of a host that came back by itself nobody knows yet which instances are off: its owners are told when that is known. */
  #watch(host: string): void {
    this.#open.delete(host)
    this.#watched.add(host)
  }

  /** The failure of the host is over. */
  forget(host: string): void {
    this.#watched.delete(host)
    this.#open.delete(host)
    this.#told.delete(host)
    this.#reading.delete(host)
  }

  /** Once every project knows the end, the next failure of the host is a new one. */
  #toldTheEnd(host: string, project: string, notice: Notice): void {
    const { incident } = notice
    if (incident !== null) {
      const known = this.#toldEnds.get(host)
      const ends = known?.incident === incident ? known.ends : new Map<string, string>()
      this.#toldEnds.set(host, { incident, ends: ends.set(project, contentOf(notice)) })
    }
    const told = this.#told.get(host)
    told?.delete(project)
    if (told?.size === 0) this.#told.delete(host)
  }

  #isToldEnd(host: string, draft: Draft): boolean {
    const known = this.#toldEnds.get(host)
    return known?.incident === draft.incident && known.ends.get(draft.project ?? '') === contentOf(draft)
  }

  async #onHost(host: string): Promise<Instance[]> {
    const early = this.#early.get(host)
    this.#early.delete(host)
    const fresh = early !== undefined && this.#parts.clock.now() - early.at <= earlyGoodForMs
    return (fresh ? await early.list : null) ?? this.#list(host)
  }

  async #list(host: string): Promise<Instance[]> {
    const { clock, cloud, observer, signal } = this.#parts
    for (let attempt = 1; !isAborted(signal); attempt++) {
      try {
        return await cloud.listInstances(host, { signal })
      } catch (thrown) {
        if (isAborted(signal)) break
        const message = `Lifeboat cannot read who owns the instances of ${host}`
        observer.log?.('warn', 'notice.owners_unknown', { host, attempt, message }, ensureError(thrown))
        if (attempt >= listings) break
        await sleep(clock, listAgainMs, signal)
      }
    }
    return []
  }
}

/** What became of everybody's instances is known, or they were started since. */
function isTheEnd(entry: Entry): entry is Extract<Entry, { kind: 'incident.closed' | 'instances.watched' }> {
  if (entry.kind === 'incident.closed') return entry.data.watched !== true
  return entry.kind === 'instances.watched' && entry.data.to === 'known'
}

/** What a project is told of its instances. Each field is picked by name, because the journal sorts them. */
function contentOf({ code: end, instances = [], instanceCount, notBack }: Draft): string {
  const told = instances.map(({ id, name, state, code, host }) => [id, name, state, code, host])
  return JSON.stringify([end, told, instanceCount, notBack])
}

function segmentOf(entry: Entry): string {
  return entry.kind === 'verdict.changed' || entry.kind === 'incident.opened' ? entry.data.segment : ''
}
