/**
 * What the journal tells of earlier crashes: how often an instance was restarted, how many crashed on its host, and whether a person
 * cancelled the last one.
 *
 * Ages are measured by the monotonic clock: this notes the moment of each entry as it is written. Only entries of earlier runs have nothing
 * but their stamps; those are converted with the clocks as they stood when the daemon started.
 */
import type { Clock } from '../domain/clock.ts'
import type { Entry, EntryKind, IncidentId } from '../domain/entry.ts'
import { crashesWithinMs, isStopAgain, type RestartRules } from '../domain/instance-failure.ts'
import type { InstanceId } from '../domain/instance.ts'
import type { Journal } from '../domain/journal.ts'
import type { HostName } from '../domain/service.ts'
import type { CancelledCrash } from '../engine/crash.ts'

/** How many crashes of one instance are read: more than Lifeboat can restart within the longest time. */
const crashesAtMost = 100

/** Crashes that are read of one host. Fewer: in a storm of crashes, of the same few instances, others are not counted. */
const crashesOnHostAtMost = 1_000

/** Steps that are read of one instance: a restart has one, and a few more that Nova refused. */
const stepsAtMost = 1_000

/** So many entries' moments are remembered. An older entry's stamp is converted instead. */
const momentsKept = 20_000

/** Entries whose age matters here. */
const aged: ReadonlySet<EntryKind> = new Set(['instance.failed', 'step.issued', 'incident.opened', 'incident.closed'])

export class CrashRecord {
  readonly #journal: Pick<Journal, 'read'>
  readonly #clock: Clock
  readonly #startedAt: { now: number; wall: number }
  /** By sequence, monotonic ms, oldest first. */
  readonly #moments = new Map<number, number>()

  constructor(journal: Pick<Journal, 'read' | 'onAppend'>, clock: Clock) {
    this.#journal = journal
    this.#clock = clock
    this.#startedAt = { now: clock.now(), wall: clock.wall() }
    journal.onAppend((entry) => this.#note(entry))
  }

  /** When Lifeboat restarted the instance after a crash, by our monotonic clock. */
  restarts(instance: InstanceId, { withinMs }: RestartRules): number[] {
    const crashes = this.#read({ instance, kinds: ['instance.failed'], limit: crashesAtMost })
    const incidents = new Set(crashes.map(({ incident }) => incident))
    return this.#read({ instance, kinds: ['step.issued'], limit: stepsAtMost })
      .filter(({ incident, step }) => incidents.has(incident) && step !== null && !isStopAgain(step))
      .map((entry) => this.#momentOf(entry))
      .filter((moment) => this.#clock.now() - moment < withinMs)
  }

  /**
   * Request ids of all orders that Lifeboat gave for the instance, in any incident: after a return of its host it is started in the host's.
   * Null: since then Nova may have taken an order of another incident whose request id is not known.
   * @param since by our monotonic clock
   * @param own the incident of the crash: the caller adds its request ids
   */
  requests(instance: InstanceId, since: number, own: IncidentId | null): string[] | null {
    const issued = this.#read({ instance, kinds: ['step.issued'], limit: stepsAtMost })
    const isUnknown = (entry: Entry): boolean =>
      entry.incident !== own && requestOf(entry).length === 0 && this.#momentOf(entry) >= since
    return issued.some(isUnknown) ? null : issued.flatMap(requestOf)
  }

  /** Instances whose guests crashed on the host lately. */
  crashesOn(host: HostName): number {
    const crashes = this.#read({ host, kinds: ['instance.failed'], limit: crashesOnHostAtMost }).filter(
      (entry) => this.#clock.now() - this.#momentOf(entry) < crashesWithinMs,
    )
    return new Set(crashes.map(({ instance }) => instance)).size
  }

  /**
   * Its last crash on that host, if a person cancelled the incident.
   * @param cloudNow the cloud's own time, ms since the epoch
   */
  cancelled(instance: InstanceId, host: HostName, cloudNow: number): CancelledCrash | null {
    const opened = this.#read({ instance, kinds: ['instance.failed'], limit: crashesAtMost }).find(
      ({ incident }) => !this.#isTwin(incident),
    )
    if (opened === undefined || opened.host !== host || opened.incident === null) return null
    const [closed] = this.#read({ incident: opened.incident, kinds: ['incident.closed'], limit: 1 })
    if (closed?.kind !== 'incident.closed' || closed.data.outcome !== 'left-to-people') return null
    const issued = this.#read({ incident: opened.incident, kinds: ['step.issued'], limit: stepsAtMost })
    const toCloud = (entry: Entry): number => cloudNow - (this.#clock.now() - this.#momentOf(entry))
    return { openedAt: toCloud(opened), closedAt: toCloud(closed), requests: issued.flatMap(requestOf) }
  }

  /**
   * The incident of the host that recovered its instances, if it began since then and is over.
   * @param since by our monotonic clock
   */
  recoveredHost(host: HostName, since: number): IncidentId | null {
    const [opened] = this.#read({ host, kinds: ['incident.opened'], limit: 1 })
    if (opened === undefined || opened.incident === null || this.#momentOf(opened) < since) return null
    const [closed] = this.#read({ incident: opened.incident, kinds: ['incident.closed'], limit: 1 })
    return closed?.kind === 'incident.closed' && closed.data.outcome === 'done' ? opened.incident : null
  }

  /** It was opened beside another one of the same crash, which tells how that ended. */
  #isTwin(incident: IncidentId | null): boolean {
    const [ended] = incident === null ? [] : this.#read({ incident, kinds: ['outcome.recorded'], limit: 1 })
    return ended?.kind === 'outcome.recorded' && ended.data.code === 'SAME_CRASH'
  }

  #read(filter: Parameters<Journal['read']>[0]): Entry[] {
    return this.#journal.read({ ...filter, newestFirst: true })
  }

  #note({ kind, seq }: Entry): void {
    if (!aged.has(kind)) return
    this.#moments.set(seq, this.#clock.now())
    const [oldest] = this.#moments.keys()
    if (this.#moments.size > momentsKept && oldest !== undefined) this.#moments.delete(oldest)
  }

  /** A stamp from the future, which a clock that was set back leaves behind, counts as the daemon's start. */
  #momentOf({ seq, at }: Entry): number {
    const { now, wall } = this.#startedAt
    return this.#moments.get(seq) ?? now - Math.max(0, wall - Date.parse(at))
  }
}

function requestOf(entry: Entry): string[] {
  const requestId = entry.kind === 'step.issued' ? entry.data.requestId : null
  return requestId === null ? [] : [requestId]
}
