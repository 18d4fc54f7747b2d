/**
 * All that the journal says of one incident, folded entry by entry: a page that is asked for again costs only what was written
 * since. Owns no clock and reads nothing itself.
 */
import type { Entry, IncidentId } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import { applyEntry, type Incident } from '../domain/incident.ts'
import type { InstanceId } from '../domain/instance.ts'
import type { IncidentDetail } from '../domain/operations.ts'
import type { InstanceLine, ReviewNote, TimelineEvent } from '../domain/review.ts'
import { HostVerdicts } from './host-verdicts.ts'
import { instanceLine, type Span } from './instance-lines.ts'
import { isOfTheIncident, timelineEvent } from './timeline.ts'

/** Kinds of entries that open an incident. */
const opens: ReadonlySet<Entry['kind']> = new Set<Entry['kind']>([
  'incident.opened',
  'process.failed',
  'instance.failed',
])

export class IncidentRecord {
  readonly id: IncidentId
  readonly timeline: TimelineEvent[] = []
  readonly attempts: IncidentDetail['fenceAttempts'] = []
  readonly notes: ReviewNote[] = []
  readonly verdicts = new HostVerdicts()
  signOff: ReviewNote | null = null
  lastSeq = 0
  /** The entry that opened it. */
  openedSeq = 0
  readonly #folded = new Map<IncidentId, Incident>()
  readonly #spans = new Map<InstanceId, Span>()
  /** Those that were asked for and still hold. */
  readonly #lines = new Map<InstanceId, InstanceLine>()

  constructor(id: IncidentId) {
    this.id = id
  }

  /** Whether its opening was taken in. */
  get begun(): boolean {
    return this.#folded.has(this.id)
  }

  /** Throws INVARIANT before it has begun. */
  get incident(): Incident {
    const incident = this.#folded.get(this.id)
    if (incident === undefined) throw new LifeboatError('INVARIANT', `the record of ${this.id} holds no incident`)
    return incident
  }

  span(instance: InstanceId): Span {
    return this.#spans.get(instance) ?? { startedAt: null, endedAt: null }
  }

  /**
   * Undefined for what is none of its instances. A line is made once for each change, and never changed after: the same object says the same, and what
   * was written of it may be kept (api/pieces.ts).
   */
  line(instance: InstanceId): InstanceLine | undefined {
    const recovery = this.incident.instances.get(instance)
    if (recovery === undefined) return undefined
    const line = this.#lines.get(instance) ?? instanceLine(recovery, this.span(instance), this.incident)
    this.#lines.set(instance, line)
    return line
  }

  /** Makes so many of the lines that are missing; true when some are missing still. */
  makeLines(most: number): boolean {
    let left = most
    for (const id of this.incident.instances.keys()) {
      if (this.#lines.has(id)) continue
      if (left === 0) return true
      left -= 1
      this.line(id)
    }
    return false
  }

  /** Takes in the next entry of this incident. */
  take(entry: Entry): void {
    applyEntry(this.#folded, entry)
    this.lastSeq = entry.seq
    if (isOfTheIncident(entry)) this.timeline.push(timelineEvent(entry))
    if (entry.instance !== null) {
      this.#takeSpan(entry.instance, entry)
      this.#lines.delete(entry.instance)
    }
    if (opens.has(entry.kind)) this.openedSeq = entry.seq
    else if (entry.kind === 'fence.attempt') this.attempts.push({ at: entry.at, ...entry.data })
    else if (entry.kind === 'review.noted') this.notes.push(reviewNote(entry))
    else if (entry.kind === 'review.signed-off') this.signOff = reviewNote(entry)
  }

  #takeSpan(instance: InstanceId, entry: Entry): void {
    const { kind, at } = entry
    if (kind === 'plan.made') this.#spans.set(instance, { startedAt: null, endedAt: null })
    else if (kind === 'step.intended') {
      const span = this.span(instance)
      if (span.startedAt === null) this.#spans.set(instance, { ...span, startedAt: at })
    }
    // One that is corrected later took no longer for it.
    else if (entry.kind === 'outcome.recorded' && entry.data.crossed === undefined)
      this.#spans.set(instance, { ...this.span(instance), endedAt: at })
  }
}

export function reviewNote({
  seq,
  at,
  data,
}: Extract<Entry, { kind: 'review.noted' | 'review.signed-off' }>): ReviewNote {
  return { seq, at, by: data.by, text: data.text }
}
