/**
 * The returns of hosts, driven by the polls: for each host that carries our flags and has no open incident, look, decide
 * (domain/host-return.ts), journal what changed, and do the one act that is due. One look at a time for each host; nobody
 * waits for it.
 */
import { Moments, sleep } from '../domain/clock.ts'
import type { Entry, EntryData, NewEntry } from '../domain/entry.ts'
import { ensureError } from '../domain/errors.ts'
import {
  changeReturn,
  decideReturn,
  mayRunTwice,
  type Leftover,
  type ReturnDecision,
  type ReturnFacts,
  type ReturnState,
} from '../domain/host-return.ts'
import { incidentOf, isForceDown, isKeptOut, type ReturnRecord } from '../domain/return-record.ts'
import type { HostName, ServiceChange, ServiceRecord } from '../domain/service.ts'
import { isBeating, isSilent, isUnread, type Verdict } from '../domain/verdict.ts'
import { reconcileOpen, takeBack, type ReturnRun } from '../executor/return-steps.ts'
import { readEvacuations, readLeftovers, readTrait, type EndedIncident } from '../executor/return-survey.ts'
import { staleness } from '../monitor/freshness.ts'
import type { PollReport } from '../monitor/report.ts'
import { readEndedIncident } from './ended-incidents.ts'
import type { AftermathParts } from './aftermath.ts'
import { orderHolds } from '../orders/order-holds.ts'

/**
 * How old a reading of evacuations or of Placement may be. Shorter asks Nova all the time about a host that waits for days for its
 * next start; longer delays the return by as much.
 */
const readingGoodForMs = 10_000

/** What is remembered of one host between polls; all of it may be forgotten and is then learnt again. */
interface Watch {
  /** Seen up and beating without a break; a restart begins again, for what was not seen is not known. */
  healthy: { since: number; polls: number } | null
  evacuations: { at: number; value: NonNullable<ReturnFacts['evacuations']> } | null
  trait: { at: number; value: ReturnFacts['trait'] } | null
  /** The closed incidents that took the host out: they no longer change. Null: not read yet. */
  incidents: EndedIncident[] | null
  /** When a look last wrote, or found out what became of a write: a poll that began earlier may show the service as before. */
  wroteAt: number
  /** It beat under our flags, and nobody was told since that it fell silent. */
  hasBeaten: boolean
  look: Promise<void> | null
}

/**
 * How long a host that beat under our flags must be silent until people are told. Shorter: they are called at each restart of nova-compute, which
 * a return may need; longer: guests that died with it stay unnoticed for as long.
 */
const toldAfterMs = 120_000

const silentAgain = 'SILENT_UNDER_OUR_FLAGS'

/** Rows of a host that are read for that after a restart. Fewer: among many other alarms a silence is forgotten. */
const rowsRead = 200

/** From these on it has beaten: what an earlier run saw of it. */
const beaten: ReadonlySet<ReturnState> = new Set([
  'settling',
  'waiting-confirmation',
  'clearing',
  'proving',
  'enabling',
])

export class HostReturns {
  readonly #parts: AftermathParts
  readonly #watches = new Map<HostName, Watch>()
  readonly #moments: Moments
  readonly #startedAt: number
  /** When the newest row of an order to force a host down was written in this run, by our monotonic clock. */
  readonly #ordered = new Map<HostName, number>()

  constructor(parts: AftermathParts) {
    this.#parts = parts
    this.#moments = new Moments(parts.clock)
    this.#startedAt = parts.clock.now()
    parts.journal.onAppend(({ host, step }) => {
      if (host !== null && isForceDown(step)) this.#ordered.set(host, parts.clock.now())
    })
  }

  /** Takes in a poll. Never throws: a return that cannot go on is told to the observer and looked at in the next poll. */
  consider(report: PollReport): void {
    const { store, observer, signal, monitor } = this.#parts
    const readAt = monitor.lastRead()?.askedAt ?? -Infinity
    const verdicts = new Map(report.verdicts.map((verdict) => [verdict.host, verdict]))
    const returning = store.returning()
    for (const record of returning) {
      const watch = this.#watchOf(record)
      const verdict = verdicts.get(record.host)
      this.#followHealth(watch, verdict, report)
      // A poll that began before the last write may show the service without it, the incident's force-down as well.
      const writtenAt = Math.max(watch.wroteAt, this.#ordered.get(record.host) ?? -Infinity)
      if (watch.look !== null || signal.aborted || readAt <= writtenAt) continue
      // A row from before says nothing of what was set on it since.
      const isOld = verdict !== undefined && isUnread(verdict) && monitor.service(record.host) !== undefined
      if (!report.ok || isOld) continue
      watch.look = this.#look(record, watch, verdict)
        .catch((thrown: unknown) => {
          const error = ensureError(thrown)
          if (error.code !== 'SHUTDOWN') observer.log?.('warn', 'return.look_failed', { host: record.host }, error)
        })
        .finally(() => (watch.look = null))
    }
    const hosts = new Set(returning.map(({ host }) => host))
    for (const host of this.#watches.keys()) if (!hosts.has(host)) this.#watches.delete(host)
    this.#count()
  }

  /** Resolves when no look is under way. */
  async idle(): Promise<void> {
    await Promise.allSettled([...this.#watches.values()].flatMap(({ look }) => look ?? []))
  }

  #watchOf({ host }: ReturnRecord): Watch {
    const known = this.#watches.get(host)
    if (known !== undefined) return known
    const watch: Watch = {
      healthy: null,
      evacuations: null,
      trait: null,
      incidents: null,
      wroteAt: -Infinity,
      hasBeaten: this.#isSilenceUntold(host),
      look: null,
    }
    this.#watches.set(host, watch)
    return watch
  }

  /** An earlier run saw the host beat in this return, maybe fall silent again too, and ended before people were told of that. */
  #isSilenceUntold(host: HostName): boolean {
    const kinds: Entry['kind'][] = ['incident.opened', 'return.changed', 'alarm.raised']
    for (const entry of this.#parts.journal.read({ host, kinds, newestFirst: true, limit: rowsRead })) {
      if (entry.kind === 'incident.opened') return false
      if (entry.kind === 'alarm.raised' && entry.data.code === silentAgain) return false
      if (entry.kind === 'return.changed' && tellsOfBeats(entry.data)) return true
    }
    return false
  }

  #followHealth(watch: Watch, verdict: Verdict | undefined, report: PollReport): void {
    const { clock } = this.#parts
    const seen =
      report.ok &&
      report.frozen === null &&
      verdict !== undefined &&
      pulseOf(verdict) === 'beating' &&
      verdict.kind === 'healthy' &&
      verdict.evidence.state === 'up' &&
      !verdict.evidence.forcedDown
    if (!seen) watch.healthy = null
    else if (watch.healthy === null) watch.healthy = { since: clock.now(), polls: 1 }
    else watch.healthy = { ...watch.healthy, polls: watch.healthy.polls + 1 }
  }

  async #look(known: ReturnRecord, watch: Watch, verdict: Verdict | undefined): Promise<void> {
    const { clock, monitor } = this.#parts
    const { host } = known
    const record = (): ReturnRecord => this.#record(host)
    if (known.open !== null) return this.#writing(watch, reconcileOpen(this.#run(host)))
    const pulse = verdict === undefined ? 'unsure' : pulseOf(verdict)
    const service = monitor.service(host) ?? null
    const readAt = monitor.lastRead()?.askedAt ?? -Infinity
    if (pulse === 'beating') {
      watch.hasBeaten = true
      await this.#read(record(), watch, service)
    } else if (watch.hasBeaten && verdict?.kind === 'returning' && verdict.evidence.silentMs >= toldAfterMs)
      await this.#tell(known, watch)
    // Reading took time: an incident may have been opened meanwhile, or a person may have taken our flags off.
    const facts = this.#facts(host, watch, pulse, { service, readAt })
    if (facts === null) return
    const decision = decideReturn(facts, monitor.segment(host).return, clock.now())
    if (decision === null) return
    if (decision.act === 'end') return this.#end(record(), watch, decision)
    // Anyone who is to let it back should know what stays behind.
    const asks = decision.state === 'waiting-confirmation' && record().state !== decision.state
    const leftovers = asks ? await this.#leftovers(record(), watch) : []
    if (asks && this.#facts(host, watch, pulse, { service, readAt }) === null) return
    this.#say(record(), decision, leftovers)
    if (decision.act !== null) await this.#writing(watch, takeBack(this.#run(host), decision.act))
  }

  async #writing(watch: Watch, work: Promise<void>): Promise<void> {
    try {
      await work
    } finally {
      watch.wroteAt = this.#parts.clock.now()
    }
  }

  async #read(record: ReturnRecord, watch: Watch, service: ServiceRecord | null): Promise<void> {
    const { clock, cloud, observer, signal } = this.#parts
    const { host, ourFlags } = record
    const due = (reading: { at: number } | null): boolean =>
      reading === null || clock.now() - reading.at >= readingGoodForMs
    if (service?.forcedDown === true && due(watch.evacuations)) {
      const plans = new Map((await this.#incidents(record, watch)).flatMap(({ instances }) => [...instances]))
      const nameOf = (id: string): string => plans.get(id)?.plan.name ?? id
      watch.evacuations = { at: clock.now(), value: await readEvacuations(cloud, host, nameOf, { signal }) }
    }
    if (ourFlags !== null && record.confirmed.enable !== undefined && due(watch.trait)) {
      const onError = (error: unknown): void => observer.log?.('warn', 'return.traits_unread', { host }, error)
      watch.trait = { at: clock.now(), value: await readTrait(cloud, host, onError, { signal }) }
    }
  }

  #facts(
    host: HostName,
    watch: Watch,
    pulse: ReturnFacts['pulse'],
    { service, readAt }: Pick<ReturnFacts, 'service' | 'readAt'>,
  ): ReturnFacts | null {
    const { store, settings } = this.#parts
    const { ourFlags, orderedAt, forceDown, state, confirmed, failures, order, strays, failed } = this.#record(host)
    if (ourFlags === null || store.openOn(host) !== undefined) return null
    // A front end may still serve an order whose client has gone, and nobody would take that back.
    const showsWithinMs = Math.max(settings.reconcileQuietMs, settings.longestRequestMs)
    return {
      state,
      ourFlags,
      unansweredUntil: orderedAt === null ? null : this.#orderedAt(host, orderedAt) + showsWithinMs,
      isRefused: forceDown === 'refused',
      service,
      readAt,
      pulse,
      healthy: watch.healthy,
      evacuations: watch.evacuations?.value ?? null,
      cleared: confirmed['clear-forced-down'] !== undefined,
      enabledAt: confirmed.enable === undefined ? null : this.#moments.of(confirmed.enable),
      trait: watch.trait?.value ?? null,
      failures: failures.map((at) => this.#moments.of(at)),
      order,
      strays,
      failed: failed === null ? null : { ...failed, at: this.#moments.of(failed.at) },
      blocked: this.#blocked(host),
    }
  }

  /** By our monotonic clock, for the wall clock may have been set since. An order of an earlier run counts as given when this run began, at the earliest. */
  #orderedAt(host: HostName, stamp: string): number {
    return this.#ordered.get(host) ?? Math.max(this.#moments.of(stamp), this.#startedAt)
  }

  /** Why nothing may be written now, or null. */
  #blocked(host: HostName): ReturnFacts['blocked'] {
    const { clock, mode, orders, monitor, standstill, reading } = this.#parts
    if (mode() === 'observe') return { code: 'OBSERVING', message: 'the daemon only observes' }
    const ordered = orderHolds(host, orders, [monitor.segment(host).name])
    if (ordered !== null) return { code: ordered.hold, message: ordered.message }
    const why = monitor.frozen()?.message ?? staleness(monitor.lastRead(), standstill.last(), clock.now(), reading())
    return why === null ? null : { code: 'FROZEN', message: why }
  }

  /** No incident is opened of a host that is forced down: what was left on it, or started there since, only people can bring back. */
  async #tell(record: ReturnRecord, watch: Watch): Promise<void> {
    const { cloud, journal, monitor, orders, signal } = this.#parts
    const { host } = record
    // What is ordered for it now explains its silence; when that ends it is told.
    if (orderHolds(host, orders, [monitor.segment(host).name]) !== null) return
    const instances = await cloud.listInstances(host, { signal })
    if (instances.length === 0) {
      watch.hasBeaten = false
      return
    }
    const shown = instances.slice(0, 5).map(({ name }) => name)
    const more = instances.length > shown.length ? ` and ${instances.length - shown.length} more` : ''
    const message = `${host} beat again under our forced_down and has fallen silent. Nova has instances on it: ${shown.join(', ')}${more}. Lifeboat does not recover them by itself. If the host is dead: lifeboat recover ${host} --proof "how you know"`
    const incident = incidentOf(record)
    const base = { ...(incident !== undefined && { incident }), host }
    journal.append([{ kind: 'alarm.raised', ...base, data: { code: silentAgain, message } }])
    // Only now: a journal that refuses it is asked again at the next look.
    watch.hasBeaten = false
  }

  /** A host that stays away needs no entry. */
  #say(record: ReturnRecord, decision: ReturnDecision, leftovers: readonly Leftover[]): void {
    const { state, code, message } = decision
    if (record.state === 'away' && state === 'away') return
    if (record.state === state && record.said?.code === code && record.said.message === message) return
    this.#parts.journal.append([this.#changed(record, decision, [...decision.leftovers, ...leftovers])])
  }

  /** Nothing of ours is left on the service: what stays behind is said by name, and our flags count as gone. */
  async #end(record: ReturnRecord, watch: Watch, decision: ReturnDecision): Promise<void> {
    const { journal, monitor, store } = this.#parts
    const { host, ourFlags, strays, confirmed } = record
    if (ourFlags === null) return
    const leftovers = [...decision.leftovers, ...(await this.#leftovers(record, watch))]
    // Reading took time. An incident that began meanwhile sets the flags again, and this entry would make Lifeboat forget them.
    const now = this.#record(host)
    if (store.openOn(host) !== undefined || now.ourFlags !== ourFlags || now.strays.length !== strays.length) return
    const change: ServiceChange = {
      ...(confirmed['clear-forced-down'] !== undefined && { forcedDown: false }),
      ...(confirmed.enable !== undefined && { status: 'enabled' as const }),
    }
    const updatedAt = monitor.service(host)?.updatedAt ?? null
    const incident = incidentOf(record)
    const base = { ...(incident !== undefined && { incident }), host }
    const entries: NewEntry[] = [
      this.#changed(record, decision, leftovers),
      { kind: 'service.restored', ...base, data: { serviceId: ourFlags.serviceId, change, updatedAt } },
    ]
    const [worst] = decision.leftovers
    if (worst !== undefined)
      entries.push({
        kind: 'alarm.raised',
        ...base,
        data: { code: worst.code, message: `${host}: ${decision.message}` },
      })
    journal.append(entries)
    this.#count()
  }

  #changed(record: ReturnRecord, decision: ReturnDecision, leftovers: readonly Leftover[]): NewEntry {
    const { code, message } = decision
    const data = {
      ...changeReturn(record.state, decision.state),
      code,
      message,
      ...(leftovers.length > 0 && { leftovers: [...leftovers] }),
    }
    const incident = incidentOf(record)
    return { kind: 'return.changed', ...(incident !== undefined && { incident }), host: record.host, data }
  }

  /** A host whose leftovers cannot be read returns all the same: they are read again at its end. */
  async #leftovers(record: ReturnRecord, watch: Watch): Promise<Leftover[]> {
    const { cloud, observer, signal } = this.#parts
    try {
      // Read again: orders may have been settled since.
      watch.incidents = null
      return await readLeftovers(cloud, record.host, await this.#incidents(record, watch), { signal })
    } catch (thrown) {
      const error = ensureError(thrown)
      observer.log?.('warn', 'return.leftovers_unread', { host: record.host }, error)
      return [
        { code: 'LEFTOVERS_UNREAD', message: `what stays behind could not be read: ${error.message}`, instance: null },
      ]
    }
  }

  /** The incidents that took the host out since it was last back. */
  async #incidents({ ourFlags }: ReturnRecord, watch: Watch): Promise<EndedIncident[]> {
    const { journal, clock } = this.#parts
    const ids = ourFlags?.incidents ?? []
    // One of a host without instances can begin and end between two looks.
    if (watch.incidents?.length === ids.length) return watch.incidents
    const found: EndedIncident[] = []
    for (const id of ids) found.push(await readEndedIncident(journal, id, () => sleep(clock, 0)))
    watch.incidents = found
    return found
  }

  #run(host: HostName): ReturnRun {
    const { cloud, journal, clock, monitor, signal, settings, store } = this.#parts
    return {
      host,
      cloud,
      journal,
      clock,
      record: () => this.#record(host),
      // While the service is read, a person may keep it out, or its nova-compute may carry out an order that had waited there.
      mayWrite: () =>
        this.#blocked(host) === null && store.openOn(host) === undefined && !isKeptOut(this.#record(host)),
      noteOurWrite: ({ host: of, updatedAt }, sentAt) => monitor.noteOurWrite(of, updatedAt, sentAt),
      signal,
      reconcileQuietMs: settings.reconcileQuietMs,
      tickMs: settings.tickMs,
    }
  }

  #record(host: HostName): ReturnRecord {
    return this.#parts.store.returnOf(host)
  }

  #count(): void {
    const counts: Partial<Record<ReturnState, number>> = {}
    for (const { state } of this.#parts.store.returning()) counts[state] = (counts[state] ?? 0) + 1
    this.#parts.observer.returns?.(counts)
  }
}

/** Whether the host was beating then. One that is kept out stays so whether it beats or not, and a person may keep out one that is away. */
function tellsOfBeats({ from, to, code }: EntryData['return.changed']): boolean {
  if (to !== 'kept-out') return beaten.has(to)
  return beaten.has(from) || (from === 'away' && (code === 'FLAPPING' || code === mayRunTwice))
}

/** What a verdict says of the host's nova-compute. Waiting after a freeze or a start says nothing yet. */
function pulseOf(verdict: Verdict): ReturnFacts['pulse'] {
  if (isSilent(verdict)) return 'silent'
  if (verdict.kind === 'healthy' && verdict.reason === 'WAITING_AFTER_FREEZE') return 'unsure'
  return isBeating(verdict) ? 'beating' : 'unsure'
}
