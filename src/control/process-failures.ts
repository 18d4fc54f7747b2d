/**
 * Incidents of nova-compute on hosts that live, driven by the polls: opened as the workflow says, held and closed here by what
 * domain/process-failure.ts decides. The service itself is written by set-asides.ts, which asks the incident store which processes failed.
 *
 * Never more at once than the brake would let through as dead hosts: a bad package or a broker that is down stops every nova-compute,
 * and a fleet that is disabled schedules nothing.
 */
import { Moments, type Clock } from '../domain/clock.ts'
import type { IncidentEnd, NewEntry } from '../domain/entry.ts'
import { ensureError } from '../domain/errors.ts'
import { leastHealthyPolls } from '../domain/host-return.ts'
import type { HoldCode } from '../domain/incident-phases.ts'
import { failureOf, type Incident } from '../domain/incident.ts'
import type { Journal } from '../domain/journal.ts'
import type { ProcessRuling } from '../domain/plan.ts'
import type { Observer } from '../domain/observer.ts'
import {
  decideProcess,
  isProcessDown,
  isProvenWell,
  isToBeDisabled,
  novaCompute,
  type Healthy,
  type ProcessFacts,
} from '../domain/process-failure.ts'
import { isDisabledByPerson, type HostName, type ServiceRecord } from '../domain/service.ts'
import { isKeptOut } from '../domain/return-record.ts'
import { readSetAsideReason } from '../domain/set-aside.ts'
import { isNotListed, type Verdict } from '../domain/verdict.ts'
import type { ProcessWorkflow } from '../engine/process-workflow.ts'
import type { Monitor } from '../monitor/monitor.ts'
import type { PollReport } from '../monitor/report.ts'
import { orderHolds } from '../orders/order-holds.ts'
import type { Orders } from '../orders/orders.ts'
import type { BrakeWatch } from './brake-watch.ts'
import { incidentId } from './incident-id.ts'
import type { IncidentStore } from './incident-store.ts'
import { leftToPeople } from './left-to-people.ts'
import { pinOf } from './pinned-workflows.ts'

/**
 * People are told of hosts without room once no further one was found for so long. Shorter: a package that breaks a fleet raises an alarm for each
 * of its hosts, for monitors report and heartbeats end within seconds of one another.
 */
const gatherMs = 10_000
/** They are told after so long in any case. */
const gatherAtMostMs = 60_000

/** Ends of incidents by which people take a host over. */
const byPeople: ReadonlySet<IncidentEnd> = new Set<IncidentEnd>(['left-to-people', 'cancelled'])

export interface ProcessFailuresParts {
  clock: Clock
  journal: Journal
  observer: Observer
  monitor: Pick<Monitor, 'verdict' | 'service' | 'segment' | 'aggregates'>
  store: IncidentStore
  orders: Orders
  brake: Pick<BrakeWatch, 'roomFor'>
  mode: () => 'observe' | 'armed'
  /** The one of new failures. */
  workflow: () => ProcessWorkflow
  signal: AbortSignal
}

export class ProcessFailures {
  readonly #parts: ProcessFailuresParts
  readonly #moments: Moments
  /** Seen up and beating without a break; a restart begins again, for what was not seen is not known. */
  readonly #healthy = new Map<HostName, Healthy & { newestBeat: string | null }>()
  /** Hosts whose present failure a person ended, or that were only observed: none is opened again before they beat. */
  readonly #left: Set<HostName>
  #observed: Set<HostName> = new Set()
  /** Hosts whose nova-compute someone reported down, and who, until its incident is open or it was seen well. */
  readonly #reported = new Map<HostName, string>()
  /** Hosts for which the brake had no room in the last poll. */
  #withoutRoom: ReadonlySet<HostName> = new Set()
  /** Those of which people were told. */
  readonly #told = new Set<HostName>()
  /** Those of which people are to be told yet, and since when. */
  readonly #untold = new Map<HostName, number>()

  constructor(parts: ProcessFailuresParts) {
    this.#parts = parts
    this.#moments = new Moments(parts.clock)
    this.#left = leftToPeople(parts.journal, 'process', 'left-to-people')
    for (const host of leftToPeople(parts.journal, 'host', 'cancelled')) this.#left.add(host)
    if (parts.mode() === 'observe') this.#observed = leftToPeople(parts.journal, 'process', 'observed')
    parts.journal.onAppend((entry) => {
      // A person who cancels the incident of a host that lives works on it.
      if (entry.kind === 'incident.closed' && entry.host !== null && byPeople.has(entry.data.outcome)) {
        const closed = parts.store.inMemory(entry.incident ?? '')
        if (closed === undefined || failureOf(closed) !== 'instance') this.#left.add(entry.host)
      }
      if (entry.kind === 'mode.changed') this.#observed.clear()
    })
  }

  /**
   * Someone who watches nova-compute of the host says that it is down and cannot be started. The next poll opens its incident without
   * waiting for missing heartbeats: a disable is soon taken back if the report was wrong.
   */
  reported(host: HostName, by: string): void {
    // What it did before says nothing about it now.
    this.#healthy.delete(host)
    // A person who enabled the service, or cancelled its incident, works on it until it is up again.
    if (this.#left.has(host)) return
    // Its open incident goes on; a report kept beside it would open another one when a person ends that.
    if (this.#parts.store.openProcessOn(host) === undefined) this.#reported.set(host, by)
  }

  /** Why nothing is begun yet about a nova-compute that was reported; null: nothing keeps us from it, or nobody reports it any more. */
  waitsFor(host: HostName): string | null {
    if (!this.#reported.has(host)) return null
    const held = this.#ordered(host)
    if (held !== null) return held.message
    return this.#withoutRoom.has(host) ? 'The brake lets Lifeboat take no more hosts out of scheduling' : null
  }

  /** Whether a service that was disabled because its nova-compute failed may be enabled, whatever became of its incident. */
  mayReturn(host: HostName): boolean {
    return this.#isWell(host) && !isKeptOut(this.#parts.store.returnOf(host))
  }

  #isWell(host: HostName): boolean {
    const { clock, monitor } = this.#parts
    return isProvenWell(this.#healthy.get(host) ?? null, monitor.segment(host).return, clock.now())
  }

  /** Takes in a poll. Never throws: what cannot be put on record now is looked at again in the next one. */
  consider(report: PollReport): void {
    const { observer, signal, store } = this.#parts
    if (signal.aborted) return
    const isBlind = !report.ok || report.frozen !== null
    // What nobody saw is not known, and nothing new is concluded of any process.
    if (isBlind) this.#healthy.clear()
    try {
      if (isBlind) {
        for (const incident of store.openProcesses()) if (incident.cancelled !== null) this.#decide(incident)
        return
      }
      for (const verdict of report.verdicts) this.#follow(verdict)
      for (const incident of store.openProcesses()) this.#decide(incident)
      this.#open(report.verdicts.filter((verdict) => this.#isDue(verdict)))
    } catch (thrown) {
      observer.log?.('warn', 'process_failure.failed', {}, ensureError(thrown))
    }
  }

  #follow(verdict: Verdict): void {
    const { clock } = this.#parts
    const { host, kind, reason, evidence } = verdict
    const isUp = kind === 'healthy' && reason !== 'WAITING_AFTER_FREEZE' && evidence.state === 'up'
    if (isUp) {
      for (const hosts of [this.#left, this.#observed]) hosts.delete(host)
      // One that was reported may beat all the while.
      if (!this.#reported.has(host)) this.#told.delete(host)
    }
    const before = this.#healthy.get(host)
    if (!isUp) this.#healthy.delete(host)
    else if (before === undefined)
      this.#healthy.set(host, { since: clock.now(), polls: 1, beats: 0, newestBeat: evidence.updatedAt })
    else {
      before.polls = Math.min(before.polls + 1, leastHealthyPolls)
      if (evidence.updatedAt !== before.newestBeat) before.beats++
      before.newestBeat = evidence.updatedAt
    }
    // What a person disables for their work is theirs, also once they enable it again.
    if (this.#isWell(host) || this.#isTakenByPerson(host)) this.#reported.delete(host)
  }

  #isTakenByPerson(host: HostName): boolean {
    const { monitor, store } = this.#parts
    const row = monitor.service(host)
    return (
      row !== undefined && !isToBeDisabled(row) && !store.hasOurFlags(host) && store.returnOf(host).setAside === null
    )
  }

  #decide(incident: Incident): void {
    const { clock, journal, monitor, store } = this.#parts
    const { id, host } = incident
    const { processFailures, order, setAside } = store.returnOf(host)
    const verdict = monitor.verdict(host)
    const facts = {
      incident,
      isListed: verdict === undefined || !isNotListed(verdict),
      disabledBy: disabledBy(monitor.service(host)),
      mayBeDisabled: setAside !== null,
      hostIncident: store.openOn(host)?.id ?? null,
      isDown: verdict !== undefined && isProcessDown(verdict),
      healthy: this.#healthy.get(host) ?? null,
      failures: processFailures.map((at) => this.#moments.of(at)),
      order,
      blocked: this.#blocked(host),
    }
    const rules = monitor.segment(host).return
    const mode = incident.ruling?.enable ?? rules.mode
    const decision = decideProcess(facts, { ...rules, mode }, clock.now())
    const about = { incident: id, host }
    if (decision.do === 'close') {
      const { outcome, message } = decision
      journal.append([{ kind: 'incident.closed', ...about, data: { outcome, message, counts: {} } }])
      if (outcome === 'observed') this.#observed.add(host)
      store.forgetClosed(id)
    } else if (decision.do === 'hold') {
      const { code, message } = decision
      journal.append([{ kind: 'incident.held', ...about, data: { code, message } }])
    } else if (decision.do === 'go-on')
      journal.append([{ kind: 'incident.continued', ...about, data: { because: decision.because } }])
  }

  /** A failure that has no incident yet, on a host that nobody holds. */
  #isDue(verdict: Verdict): boolean {
    const { monitor, store } = this.#parts
    const { host } = verdict
    const row = monitor.service(host)
    const isDown = isProcessDown(verdict) || this.#reported.has(host) || this.#isLeftByHost(host)
    if (!isDown || row === undefined || monitor.segment(host).onServiceDown !== 'hold') return false
    const isKnown = store.openOn(host) !== undefined || store.openProcessOn(host) !== undefined
    if (isKnown || this.#left.has(host) || this.#observed.has(host) || store.hasOurFlags(host)) return false
    // One that is set aside already carries our disable: this failure decides when that is taken back.
    const isOurs = store.returnOf(host).setAside !== null
    return (isToBeDisabled(row) || isOurs) && this.#ordered(host) === null
  }

  #open(due: readonly Verdict[]): void {
    const ruled = due.map((verdict) => ({ verdict, ruling: this.#rulingOn(verdict) }))
    for (const { verdict, ruling } of ruled) if (ruling.do === 'leave') this.#begin(verdict, ruling)
    const wanted = ruled.filter(({ ruling }) => ruling.do === 'disable')
    if (wanted.length === 0) {
      this.#withoutRoom = new Set()
      this.#untold.clear()
      return
    }
    const aside = this.#disabled()
    const hosts = wanted.map(({ verdict }) => verdict.host)
    // Those whose disable stands already take no new room.
    const room = new Set([...this.#parts.brake.roomFor(hosts, aside), ...aside])
    for (const { verdict, ruling } of wanted) if (room.has(verdict.host)) this.#begin(verdict, ruling)
    this.#withoutRoom = new Set(hosts.filter((host) => !room.has(host)))
    this.#tellOfTheRest([...this.#withoutRoom], aside)
  }

  /** Puts the failure on record. One that is left to people is over at once: they are told, and nothing is written on the service. */
  #begin(verdict: Verdict, ruling: ProcessRuling): void {
    const { store, mode, clock, journal, workflow } = this.#parts
    const { host, segment } = verdict
    const id = incidentId(`${host}-${novaCompute}`, clock.wall(), (taken) => store.has(taken))
    const reportedBy = this.#reported.get(host)
    const opened = { process: novaCompute, verdict, segment, mode: mode(), openedBy: reportedBy ?? 'daemon' }
    const data = { ...opened, ruling, workflowDigest: workflow().digest }
    const pin = pinOf(workflow(), journal)
    const actor = reportedBy === undefined ? 'daemon' : `operator:${reportedBy}`
    const about = { incident: id, host }
    const failed: NewEntry = { kind: 'process.failed', actor, ...about, data }
    const left = { outcome: 'left-to-people' as const, message: ruling.because, counts: {} }
    const isLeft = ruling.do === 'leave'
    journal.append([...pin, failed, ...(isLeft ? [{ kind: 'incident.closed' as const, ...about, data: left }] : [])])
    this.#reported.delete(host)
    if (isLeft) store.forgetClosed(id)
  }

  #rulingOn({ host, segment, evidence }: Verdict): ProcessRuling {
    const { clock, monitor, store, workflow } = this.#parts
    const { withinMs } = monitor.segment(host).return
    const earlier = store.returnOf(host).processFailures.map((at) => clock.now() - this.#moments.of(at))
    return workflow().decide({
      host: { name: host, zone: monitor.service(host)?.zone ?? '', aggregates: monitor.aggregates(host) },
      service: { missed_beats: Math.floor(evidence.missedBeats) },
      report: { by: this.#reported.get(host) ?? '' },
      failures: { recent: 1 + earlier.filter((ageMs) => ageMs <= withinMs).length },
      segment: { name: segment },
    })
  }

  /**
   * Hosts whose service we disabled for their nova-compute, or are about to; people may have ended some of their incidents. One that beats counts
   * until it is proven well: a reported one beats for a while, and a fleet's monitors all report within that time.
   */
  #disabled(): HostName[] {
    const { store } = this.#parts
    const standing = store
      .setAside()
      .filter(({ setAside }) => readSetAsideReason(setAside?.reason ?? null)?.why === 'process')
    const all = [...store.openProcesses(), ...standing].map(({ host }) => host)
    return [...new Set(all)].filter((host) => !this.#isWell(host))
  }

  /** The incident of the host took over and ended, and the disable for its nova-compute stands: that must prove itself yet. */
  #isLeftByHost(host: HostName): boolean {
    const { store, journal } = this.#parts
    const aside = store.returnOf(host).setAside
    if (aside?.state !== 'set' || readSetAsideReason(aside.reason)?.why !== 'process') return false
    const [newest] = journal.read({ host, kinds: ['process.failed'], newestFirst: true, limit: 1 })
    const last = newest?.incident ?? null
    return last !== null && store.outcomeOf(last) === 'host-failed'
  }

  /** Once for all hosts that are found within a while, and once for each: as long as there is no room for it, nothing new can be said. */
  #tellOfTheRest(rest: readonly HostName[], aside: readonly HostName[]): void {
    const now = this.#parts.clock.now()
    for (const host of this.#untold.keys()) if (!rest.includes(host)) this.#untold.delete(host)
    for (const host of rest) if (!this.#told.has(host) && !this.#untold.has(host)) this.#untold.set(host, now)
    const since = [...this.#untold.values()]
    if (since.length === 0) return
    if (now - Math.max(...since) < gatherMs && now - Math.min(...since) < gatherAtMostMs) return
    const disabled = aside.length === 0 ? '' : ` beside ${aside.join(', ')}`
    const message = `nova-compute is down on ${rest.join(', ')}. Their services stay enabled, and their guests are left alone: the brake lets Lifeboat take no more hosts out of scheduling${disabled}. Find out what stops nova-compute: the message bus, a new package, a configuration`
    const alarm: NewEntry = { kind: 'alarm.raised', data: { code: 'TOO_MANY_PROCESSES_DOWN', message } }
    this.#parts.journal.append([alarm])
    for (const host of this.#untold.keys()) this.#told.add(host)
    this.#untold.clear()
  }

  #blocked(host: HostName): { hold: HoldCode; message: string } | null {
    if (this.#parts.mode() === 'observe')
      return { hold: 'OBSERVING', message: 'the daemon was armed when this began, and now only observes' }
    return this.#ordered(host)
  }

  #ordered(host: HostName): { hold: HoldCode; message: string } | null {
    const { orders, monitor } = this.#parts
    return orderHolds(host, orders, [monitor.segment(host).name])
  }
}

function disabledBy(row: ServiceRecord | undefined): ProcessFacts['disabledBy'] {
  if (row?.status !== 'disabled') return null
  return isDisabledByPerson(row) ? 'others' : 'us'
}
