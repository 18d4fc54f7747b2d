/**
 * The poll loop: observation -> verdict -> incident. Waits for each poll to end before the next one begins, journals what
 * changed, opens an incident for each host that is found dead, and hands it to the executor.
 */
import { isAborted, sleep, type Clock } from '../domain/clock.ts'
import type { IncidentId, NewEntry } from '../domain/entry.ts'
import { ensureError } from '../domain/errors.ts'
import type { Journal } from '../domain/journal.ts'
import type { Observer } from '../domain/observer.ts'
import type { Segment } from '../domain/segment.ts'
import { isNotListed, witnessedDead, type Verdict } from '../domain/verdict.ts'
import type { Monitor } from '../monitor/monitor.ts'
import type { PollReport } from '../monitor/report.ts'
import type { BrakeWatch } from './brake-watch.ts'
import type { IncidentStore } from './incident-store.ts'
import { incidentId } from './incident-id.ts'
import { segmentChanges } from './incident-segments.ts'
import { alive, leftToPeople } from './left-to-people.ts'
import { revokedProofs } from './proof-watch.ts'

/**
 * The pause between polls while a host is suspect and its probes say dead, as a share of the usual one: its confirmation
 * waits for the next poll. Smaller asks Nova more often than it can say anything new.
 */
const dyingHurry = 0.25

/** Until the next poll, ms. */
export function pauseBeforePoll({ verdicts }: Pick<PollReport, 'verdicts'>, pollIntervalMs: number): number {
  const dying = verdicts.some(({ kind, evidence }) => kind === 'suspect' && witnessedDead(evidence))
  return dying ? pollIntervalMs * dyingHurry : pollIntervalMs
}

export interface WatchLoopParts {
  clock: Clock
  journal: Journal
  monitor: Monitor
  store: IncidentStore
  brake: Pick<BrakeWatch, 'look' | 'scopes'>
  /** Told of each poll that was recorded; none of them throws. */
  followers: readonly { consider: (report: PollReport) => void }[]
  observer: Observer
  /** What holds now; a reload changes them. */
  pollIntervalMs: () => number
  mode: () => 'observe' | 'armed'
  workflowDigest: () => string
  segmentFor: (host: string) => Segment
  /** Silence of this host is expected: no incident is opened. When it no longer is, a host that is still dead gets its own. */
  inMaintenance: (verdict: Verdict) => boolean
  /** Runs an incident; called once for each that is opened. */
  run: (id: IncidentId) => void
  /** Told after each poll that was recorded. */
  afterPoll?: () => void
}

/**
 * Entries of polls that could not be written, kept for when they can: beyond these the oldest are given up. Some 10 MB, and two changes
 * of each host of the largest clouds: fewer would leave holes in the record of a fleet whose switch fails while the disk is full.
 */
const owedAtMost = 10_000

export class WatchLoop {
  readonly #parts: WatchLoopParts
  /**
   * Hosts whose present death already has (or had) its incident, and which one: cancelled ones are not opened again, and
   * observed ones only once the daemon is armed. Null: one that a person cancelled.
   */
  readonly #handled = new Map<string, IncidentId | null>()
  /** Of those, the ones that Nova did not list at the last poll. */
  readonly #unlisted = new Set<string>()
  /** Incidents of an earlier run, picked up after the first good poll. */
  readonly #unfinished: IncidentId[]
  /** What polls found while the journal could not be written. */
  #owed: NewEntry[] = []
  /** Ends the pause between two polls. */
  #wake = new AbortController()

  constructor(parts: WatchLoopParts) {
    this.#parts = parts
    this.#unfinished = parts.store.open().map(({ id }) => id)
    for (const { host, id } of parts.store.open()) this.#handled.set(host, id)
    // A person's cancel outlives a restart; only a host that lived since then may fail again.
    for (const host of leftToPeople(parts.journal, 'host', 'cancelled')) this.#handled.set(host, null)
  }

  /** Polls until `signal` aborts. A poll that fails to be recorded is told to the observer; the loop goes on. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, monitor, observer } = this.#parts
    signal.addEventListener('abort', () => this.wake(), { once: true })
    while (!isAborted(signal)) {
      this.#wake = new AbortController()
      let pauseMs = this.#parts.pollIntervalMs()
      try {
        const report = await monitor.poll(signal)
        if (isAborted(signal)) return
        this.#record(report)
        this.#parts.afterPoll?.()
        pauseMs = pauseBeforePoll(report, this.#parts.pollIntervalMs())
      } catch (thrown) {
        observer.log?.('error', 'poll.not_recorded', { owed: this.#owed.length }, ensureError(thrown))
      }
      await sleep(clock, pauseMs, this.#wake.signal)
    }
  }

  /** Polls now: the rules have changed. */
  wake(): void {
    this.#wake.abort()
  }

  /** Also when there is nothing: a journal that was moved or deleted shows here, and not only when a host dies. */
  #appendWithOwed(found: readonly NewEntry[]): void {
    const entries = [...this.#owed, ...found]
    this.#owed = entries.slice(-owedAtMost)
    // All of them: only what must wait for a second try is limited.
    this.#parts.journal.append(entries)
    this.#owed = []
  }

  #record(report: PollReport): void {
    // Also where nothing can be written: what lived meanwhile is no longer dealt with.
    for (const verdict of report.verdicts) this.#noteLife(verdict)
    const entries: NewEntry[] = []
    if (report.froze !== undefined)
      entries.push({ kind: 'monitor.frozen', data: { reason: report.froze.reason, message: report.froze.message } })
    if (report.unfroze !== undefined)
      entries.push({
        kind: 'monitor.thawed',
        data: { reason: report.unfroze.reason, frozenForMs: report.unfroze.frozenForMs },
      })
    if (report.silence !== undefined) entries.push({ kind: 'silence.noted', data: report.silence })
    for (const verdict of report.changed) entries.push({ kind: 'verdict.changed', host: verdict.host, data: verdict })
    for (const { host, ...alarm } of report.alarms)
      entries.push({ kind: 'alarm.raised', ...(host !== undefined && { host }), data: alarm })
    this.#appendWithOwed(entries)
    // Before anything runs: by which rules it does.
    this.#append(segmentChanges(this.#parts.store.openOfAnyKind(), this.#parts.monitor))
    // Before anything is opened: what trips the brake is on record before what it holds.
    this.#parts.brake.look()
    // Before anything runs: a proof that life has overtaken while no daemon watched must not be acted on.
    this.#append(revokedProofs(report.verdicts, this.#parts.store))
    if (report.ok) for (const id of this.#unfinished.splice(0)) this.#parts.run(id)
    if (report.frozen === null) {
      if (report.ok) this.#noteRecords(report.verdicts)
      const dead = report.verdicts.filter((verdict) => this.#opens(verdict) && !this.#isHandled(verdict.host))
      for (const verdict of dead.toSorted((a, b) => this.#priority(b) - this.#priority(a))) this.#openOnce(verdict)
    }
    this.#parts.observer.brake?.(this.#parts.brake.scopes())
    for (const follower of this.#parts.followers) follower.consider(report)
  }

  #append(entries: NewEntry[]): void {
    if (entries.length > 0) this.#parts.journal.append(entries)
  }

  #noteLife(verdict: Verdict): void {
    if (alive.has(verdict.kind)) this.#handled.delete(verdict.host)
  }

  /**
   * A host whose record went and came back without life (a database is restored) gets its incident again, as after a restart: the one it
   * had may have ended because nothing was listed. A person's cancel stays.
   */
  #noteRecords(verdicts: readonly Verdict[]): void {
    const listed = new Set(verdicts.filter((verdict) => !isNotListed(verdict)).map(({ host }) => host))
    for (const [host, id] of this.#handled) {
      if (!listed.has(host)) this.#unlisted.add(host)
      else if (this.#unlisted.delete(host) && id !== null) {
        const outcome = this.#parts.store.outcomeOf(id)
        if (outcome !== null && outcome !== 'cancelled') this.#handled.delete(host)
      }
    }
  }

  /** Anyone who arms the daemon wants to see recovered what it only observed; a person's cancel stays. */
  #isHandled(host: string): boolean {
    const id = this.#handled.get(host)
    if (id === undefined) return false
    if (id === null || this.#parts.mode() === 'observe') return true
    const outcome = this.#parts.store.outcomeOf(id)
    if (outcome === null) return true
    if (outcome === 'cancelled') this.#handled.set(host, null)
    return outcome !== 'observed'
  }

  #priority({ host }: Verdict): number {
    return this.#parts.segmentFor(host).priority
  }

  #openOnce(verdict: Verdict): void {
    // Handled only once it is on record: with a full disk the next poll tries again.
    const open = this.#parts.store.openOn(verdict.host)
    if (open === undefined) this.open(verdict.host, verdict, 'daemon')
    else this.#handled.set(verdict.host, open.id)
  }

  #opens(verdict: Verdict): boolean {
    if (this.#parts.inMaintenance(verdict)) return false
    if (verdict.kind === 'host-down') return true
    const { onDeclaredDown, onServiceDown } = this.#parts.segmentFor(verdict.host)
    if (verdict.kind === 'declared-down') return onDeclaredDown === 'recover'
    // A host that someone else forced down needs both settings: to act on their word, and to fence what lives.
    const declared = verdict.evidence.forcedDown
    return verdict.kind === 'service-down' && onServiceDown === 'fence' && (!declared || onDeclaredDown === 'recover')
  }

  /** Opens an incident, with the rows of `also` (a person's attestation, say) after it in the same transaction, and starts it. */
  open(
    host: string,
    verdict: Verdict | null,
    openedBy: string,
    also: (id: IncidentId) => NewEntry[] = () => [],
  ): IncidentId {
    const { journal, store, mode, workflowDigest, segmentFor, clock } = this.#parts
    const id = incidentId(host, clock.wall(), (taken) => store.has(taken))
    const segment = segmentFor(host).name
    const data = {
      ...{ verdict, segment, failure: 'host' as const, openedBy },
      mode: mode(),
      workflowDigest: workflowDigest(),
    }
    const actor = openedBy === 'daemon' ? 'daemon' : `operator:${openedBy}`
    journal.append([{ kind: 'incident.opened', actor, incident: id, host, data }, ...also(id)])
    this.#handled.set(host, id)
    this.#parts.run(id)
    return id
  }
}
