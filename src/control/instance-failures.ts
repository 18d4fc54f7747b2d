/**
 * Guests that crash on hosts that live, as instance monitors report them. Owns the runs that are under way, one for each instance and host
 * (crash-run.ts); engine/crash.ts decides what to do.
 *
 * Lifeboat finds no crash by itself: Nova shows a guest that crashed like one that shut itself down, and only the hypervisor can tell them
 * apart.
 */
import { isAborted, sleep } from '../domain/clock.ts'
import { pauseAfter } from '../domain/back-off.ts'
import { ensureError } from '../domain/errors.ts'
import { crashedInstance } from '../domain/instance-failure.ts'
import type { Incident } from '../domain/incident.ts'
import type { InstanceId } from '../domain/instance.ts'
import type { Judgement, Report, ReportOrder } from '../domain/report.ts'
import type { HostName } from '../domain/service.ts'
import { Hypervisors } from './crash-look.ts'
import type { CrashParts, InstanceFailuresParts } from './crash-parts.ts'
import { CrashRecord } from './crash-record.ts'
import { endedByTwinRows, isUnderWay } from './crash-rows.ts'
import { CrashRun } from './crash-run.ts'

/** Pauses after the journal could not be written, or a bug. Longer: a guest stays off; shorter: a full disk fills the log. */
const firstRetryMs = 1_000
const rarestRetryMs = 60_000

export class InstanceFailures {
  readonly #parts: CrashParts
  readonly #runs = new Map<string, { run: CrashRun; ended: Promise<void> }>()

  constructor(parts: InstanceFailuresParts) {
    const { clock, cloud, journal } = parts.context
    const record = new CrashRecord(journal, clock)
    this.#parts = { ...parts, record, hypervisors: new Hypervisors(clock, cloud) }
    journal.onAppend(({ kind, host }) => {
      if (kind !== 'incident.opened') return
      for (const { run } of this.#runs.values()) if (run.host === host) run.hostFailed()
    })
  }

  /** Goes on with the incidents that the run before left open. Their reports came by `reported` before. */
  start(): void {
    const { store, context } = this.#parts
    for (const { instance, goesOn, twins } of crashesOf(store.openCrashes())) {
      const ends = twins.flatMap((twin) => endedByTwinRows(twin, instance, goesOn.id))
      if (ends.length > 0) context.journal.append(ends)
      for (const { id } of twins) store.forgetClosed(id)
      this.#runOf(goesOn.host, instance, (run) => run.resume(goesOn))
    }
  }

  /** A monitor reports a crash just now. Even if that repeats an earlier report, what the run saw before no longer counts. */
  crashed(order: Pick<ReportOrder, 'about' | 'host' | 'payload'>): void {
    const instance = crashedInstance(order)
    if (instance !== null) this.#runs.get(keyOf(order.host, instance))?.run.reportedNow()
  }

  /** Takes a report of a crash that is on record and not settled. */
  reported(report: Report): void {
    const instance = crashedInstance(report)
    if (instance !== null) this.#runOf(report.host, instance, (run) => run.add(report))
  }

  /** How a report that is not settled stands. */
  standing({ uuid }: Pick<Report, 'uuid'>): Judgement {
    for (const { run } of this.#runs.values()) if (run.has(uuid)) return run.standing
    return { status: 'new', message: 'Lifeboat has it on record', incident: null }
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await Promise.allSettled([...this.#runs.values()].map(({ ended }) => ended))
  }

  #runOf(host: HostName, instance: InstanceId, prepare: (run: CrashRun) => void): void {
    const key = keyOf(host, instance)
    const known = this.#runs.get(key)
    if (known !== undefined && !known.run.isOver) return prepare(known.run)
    const run = new CrashRun(this.#parts, { host, instance })
    prepare(run)
    const ended = this.#untilItsEnd(run).finally(() => {
      if (this.#runs.get(key)?.run === run) this.#runs.delete(key)
    })
    this.#runs.set(key, { run, ended })
  }

  /** Never rejects. */
  async #untilItsEnd(run: CrashRun): Promise<void> {
    const { context, signal } = this.#parts
    for (let failures = 1; !isAborted(signal); failures++) {
      try {
        return await run.run()
      } catch (thrown) {
        const { host, instance } = run
        context.observer.log?.('warn', 'instance_failure.failed', { host, instance }, ensureError(thrown))
        await sleep(context.clock, pauseAfter(failures, firstRetryMs, rarestRetryMs), signal)
      }
    }
  }
}

/**
 * Open incidents by crash. Early releases could open several of one crash after a take-over. The one goes on that a person cancelled, else the
 * one whose restart is under way, else the newest.
 */
function crashesOf(open: readonly Incident[]): { instance: InstanceId; goesOn: Incident; twins: Incident[] }[] {
  const crashes = new Map<string, { instance: InstanceId; incidents: Incident[] }>()
  for (const incident of open) {
    const { host, crashed } = incident
    if (crashed === null) continue
    const { instance } = crashed
    const known = crashes.get(keyOf(host, instance))
    if (known === undefined) crashes.set(keyOf(host, instance), { instance, incidents: [incident] })
    else known.incidents.push(incident)
  }
  return [...crashes.values()].flatMap(({ instance, incidents }) => {
    const goesOn =
      incidents.find(({ cancelled }) => cancelled !== null) ??
      incidents.find((incident) => isUnderWay(incident, instance)) ??
      incidents.at(-1)
    return goesOn === undefined ? [] : [{ instance, goesOn, twins: incidents.filter((it) => it !== goesOn) }]
  })
}

function keyOf(host: HostName, instance: InstanceId): string {
  return `${host}/${instance}`
}
