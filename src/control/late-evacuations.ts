/**
 * Looks again at instances that have landed: Nova may still carry out another evacuation, which its API had accepted before ours landed
 * (executor/late-evacuations.ts). Then the guest may run twice, and the outcome is corrected. Driven by the polls; only reads Nova, and nobody
 * waits for it.
 */
import { onOurClock } from '../domain/clock.ts'
import type { Entry, EntryKind } from '../domain/entry.ts'
import { ensureError } from '../domain/errors.ts'
import { foldInstance, type InstanceRecovery } from '../domain/incident.ts'
import type { Instance, InstanceId, Migration } from '../domain/instance.ts'
import type { HostName } from '../domain/service.ts'
import type { ExecutorContext } from '../executor/context.ts'
import { decideLateEvacuation, readLanded } from '../executor/late-evacuations.ts'
import type { Monitor } from '../monitor/monitor.ts'
import type { PollReport } from '../monitor/report.ts'

/**
 * How long after its outcome an instance is looked at. The first look shows what crossed our order; the last, an order from an API node that had
 * hung. Fewer or earlier looks leave a second guest unreported; each costs Nova two listings for all instances that are due.
 */
const looksAfterMs = [5_000, 60_000, 600_000]
const lastLookAfterMs = Math.max(...looksAfterMs)

/** The shortest pause between looks at an order that is not at its end; it grows with time. Longer tells people later; shorter costs more readings. */
const endsWithinMs = 5_000

/** Until an instance whose history could not be read is looked at again. Shorter asks a Nova that refuses as much more often. */
const failedLookPauseMs = 60_000

/** How long after its outcome an instance is let go of, even if it could never be read. Longer keeps asking for a history that Nova does not show. */
const givenUpAfterMs = 2 * lastLookAfterMs

/** How far a clock of Nova's, which stamps its records, may be behind ours. Smaller misses records; larger lists some that tell nothing. */
const clocksDifferByMs = 60_000

export interface LateEvacuationsParts {
  context: Pick<ExecutorContext, 'clock' | 'cloud' | 'journal' | 'observer' | 'permissions'>
  monitor: Pick<Monitor, 'verdict' | 'cloudNow'>
  signal: AbortSignal
}

/** What is remembered of an instance from its landing to the last look. Moments are of our monotonic clock. */
interface Landed {
  incident: string
  source: HostName
  host: HostName
  /** The record of the evacuation that brought it there. */
  migration: string
  landedAt: number
  /** When its outcome was written; null: its recovery goes on, and reports such orders itself. */
  endedAt: number | null
  nextLookAt: number
  wasAway: boolean
}

interface Found {
  instance: Instance
  /** Where the guest may run beside the host where Nova has it; null for a host that Nova does not tell. */
  hosts: readonly (HostName | null)[]
  /** The records of its evacuations since. */
  migrations: string[]
}

export class LateEvacuations {
  readonly #parts: LateEvacuationsParts
  readonly #landed = new Map<InstanceId, Landed>()
  #look: Promise<void> | null = null

  constructor(parts: LateEvacuationsParts) {
    this.#parts = parts
    const { journal, clock } = parts.context
    const since = new Date(clock.wall() - givenUpAfterMs).toISOString()
    for (const entry of journal.read({ kinds: ['step.confirmed', 'outcome.recorded', 'plan.made'], since }))
      this.#note(entry)
    journal.onAppend((entry) => this.#note(entry))
  }

  /** Takes in a poll. Never throws: what cannot be read is looked at after a later one. */
  consider(report: PollReport): void {
    const { context, monitor, signal } = this.#parts
    if (!report.ok || this.#landed.size === 0) return
    const now = context.clock.now()
    for (const [instance, landed] of this.#landed) {
      const evidence = monitor.verdict(landed.host)?.evidence
      // As Nova asks before it takes an evacuation. A host that died and came back while no daemon ran counts as up: then the alarm may be false.
      landed.wasAway ||= evidence === undefined || evidence.state === 'down' || evidence.forcedDown
      if (landed.endedAt !== null && now - landed.endedAt > givenUpAfterMs) this.#landed.delete(instance)
    }
    if (this.#look !== null || signal.aborted) return
    const due = [...this.#landed].filter(([, { nextLookAt }]) => now >= nextLookAt)
    if (due.length === 0) return
    this.#look = this.#lookAt(due, now)
      .catch((thrown: unknown) => {
        this.#tellOfFailure(thrown, {})
        for (const [, landed] of due) landed.nextLookAt = now + failedLookPauseMs
      })
      .finally(() => (this.#look = null))
  }

  /** Resolves when no look is under way. */
  async idle(): Promise<void> {
    await this.#look
  }

  #note(entry: Entry): void {
    const { incident, host: source, instance, at } = entry
    if (instance === null || incident === null || source === null) return
    const known = this.#landed.get(instance)
    const { clock } = this.#parts.context
    if (entry.kind === 'step.confirmed') {
      const { result } = entry.data
      if (!('migration' in result && 'host' in result) || result.host === null) return
      const { migration, host } = result
      const times = { landedAt: onOurClock(clock, at), endedAt: null, nextLookAt: Infinity }
      this.#landed.set(instance, { incident, source, host, migration, ...times, wasAway: false })
    } else if (entry.kind === 'plan.made') {
      // Where it landed has failed: it is brought back from there.
      if (known?.host === source) this.#landed.delete(instance)
    } else if (entry.kind === 'outcome.recorded') {
      if (entry.data.code === 'GUEST_ON_DESTINATION') return void this.#landed.delete(instance)
      // It landed long before a restart.
      if (known === undefined)
        for (const one of this.#parts.context.journal.read({ incident, instance, kinds: ['step.confirmed'] }))
          this.#note(one)
      const landed = this.#landed.get(instance)
      if (landed?.incident !== incident) return
      landed.endedAt = onOurClock(clock, at)
      landed.nextLookAt = nextLook(landed.endedAt, landed.endedAt)
    }
  }

  async #lookAt(due: readonly [InstanceId, Landed][], now: number): Promise<void> {
    const { context, monitor, signal } = this.#parts
    const since = monitor.cloudNow() - (now - Math.min(...due.map(([, { landedAt }]) => landedAt))) - clocksDifferByMs
    const type = 'evacuation' as const
    // One that nobody has taken yet was never updated. First: it may be taken between the two listings.
    const accepted = await context.cloud.listMigrations({ type, status: 'accepted' }, { signal })
    const changedSince = new Date(since).toISOString()
    const changed = await context.cloud.listMigrations({ type, changedSince }, { signal })
    for (const [instance, landed] of due) {
      if (signal.aborted) return
      // What crossed ours came from the dead host, or from where ours had brought it (docs/nova.md §8).
      const mayCross = ({ instanceId, sourceHost }: Migration): boolean =>
        instanceId === instance && (sourceHost === landed.source || sourceHost === landed.host)
      const own = [...accepted, ...changed].filter(mayCross)
      const found = [...new Set([landed.migration, ...own.map(({ uuid }) => uuid)])]
      try {
        if (found.length > 1) await this.#lookInto(instance, landed, found, now)
        else this.#lookedAt(instance, landed, now)
      } catch (thrown) {
        this.#tellOfFailure(thrown, { instance })
        landed.nextLookAt = now + failedLookPauseMs
      }
    }
  }

  async #lookInto(instance: InstanceId, landed: Landed, migrations: string[], now: number): Promise<void> {
    const { clock, cloud, journal, permissions } = this.#parts.context
    const { incident, endedAt } = landed
    const recovery = foldInstance(instance, journal.read({ incident, instance }))
    const read = recovery && (await readLanded({ cloud, clock, signal: this.#parts.signal }, recovery))
    // Reading took time: another incident may have it by now.
    if (this.#landed.get(instance) !== landed) return
    if (read === null) return this.#lookedAt(instance, landed, now)
    const isProvenDead = (host: HostName): boolean => permissions.isFenced(host) || this.#diedSince(host, read.begunAt)
    const facts = { ...read, wasAway: landed.wasAway, isProvenDead }
    const found = decideLateEvacuation(facts, now - (endedAt ?? now) >= lastLookAfterMs)
    if (found.is === 'twice' && recovery !== null) this.#tell(recovery, landed, { ...read, ...found, migrations })
    else if (found.is === 'wait') landed.nextLookAt = now + Math.max(endsWithinMs, (now - (endedAt ?? now)) / 2)
    else this.#lookedAt(instance, landed, now)
  }

  /** Its guest died with it, wherever the host is by now. */
  #diedSince(host: HostName, since: string): boolean {
    const kinds: EntryKind[] = ['proof.recorded', 'proof.voided']
    const read = this.#parts.context.journal.read({ host, kinds, since, newestFirst: true })
    // Where only a person's word was revoked, no proof was.
    return (
      read.find((entry) => entry.kind !== 'proof.voided' || entry.data.unproven !== true)?.kind === 'proof.recorded'
    )
  }

  #tell({ plan }: InstanceRecovery, landed: Landed, { instance, hosts: elsewhere, migrations }: Found): void {
    const { host, vmState, taskState, powerState, locked } = instance
    const destinations = [host, ...elsewhere].filter((at) => at !== null)
    const isTaken = elsewhere.some((at) => at !== null)
    const done = isTaken ? 'carried out another evacuation of it as well' : 'accepted another evacuation of it as well'
    const named = [...destinations, ...(elsewhere.includes(null) ? ['an unknown host'] : [])].join(' and on ')
    const message = `Nova ${done}: the guest may be running on ${named}`
    const after = { host, vmState, taskState, powerState, locked }
    const base = { incident: landed.incident, host: landed.source, instance: plan.instanceId }
    const crossed = { destinations, migrations }
    const outcome = { outcome: 'stuck', code: 'GUEST_ON_DESTINATION', message, after, crossed } as const
    this.#parts.context.journal.append([
      { kind: 'outcome.recorded', ...base, data: outcome },
      { kind: 'alarm.raised', ...base, data: { code: 'EVACUATED_TWICE', message: `${plan.name}: ${message}` } },
    ])
  }

  #lookedAt(instance: InstanceId, landed: Landed, now: number): void {
    landed.nextLookAt = nextLook(landed.endedAt ?? now, now)
    if (landed.nextLookAt === Infinity) this.#landed.delete(instance)
  }

  #tellOfFailure(thrown: unknown, about: { instance?: InstanceId }): void {
    const { observer } = this.#parts.context
    if (!this.#parts.signal.aborted) observer.log?.('warn', 'late_evacuations.look_failed', about, ensureError(thrown))
  }
}

/** Infinity: the last look is done. */
function nextLook(endedAt: number, now: number): number {
  return endedAt + (looksAfterMs.find((afterMs) => endedAt + afterMs > now) ?? Infinity)
}
