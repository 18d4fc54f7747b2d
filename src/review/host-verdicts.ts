/**
 * The verdicts of an incident's host around it, for its plots. Keeps what it has read: a host of thousands of instances has tens of
 * thousands of entries, and each look at a page would go through them again.
 */
import type { Entry } from '../domain/entry.ts'
import type { Incident } from '../domain/incident.ts'
import type { Journal } from '../domain/journal.ts'

/** Verdicts of the host before its incident, and from then on, that are plotted. A flapping host has hundreds a day. */
const mostBefore = 20
const mostSince = 40

/**
 * How long before its incident a host's verdicts belong to it. Longer, and a suspicion of last month stretches the plots until
 * nothing is seen of the minutes that matter; shorter loses how it began.
 */
const leadUpMs = 3_600_000

export type VerdictEntry = Extract<Entry, { kind: 'verdict.changed' }>

export class HostVerdicts {
  #before: VerdictEntry[] | null = null
  readonly #since: VerdictEntry[] = []
  /** Up to this entry everything was seen. */
  #seenSeq = 0
  #complete = false

  /**
   * Oldest first, as of now.
   * @param place sequences of the entry that opened the incident, and of one up to which the incident was read
   */
  read(
    journal: Pick<Journal, 'read'>,
    { host, openedAt, closed }: Incident,
    place: { openedSeq: number; lastSeq: number },
  ): VerdictEntry[] {
    const { openedSeq, lastSeq } = place
    const kinds = ['verdict.changed' as const]
    const since = new Date(Date.parse(openedAt) - leadUpMs).toISOString()
    this.#before ??= journal
      .read({ host, kinds, before: openedSeq, since, newestFirst: true, limit: mostBefore })
      .toReversed()
      .filter(isVerdict)
    const left = mostSince - this.#since.length
    if (!this.#complete && left > 0) {
      const after = Math.max(openedSeq, this.#seenSeq)
      // What the host does after its incident is over is another story, and perhaps another incident.
      const end = closed === null ? {} : { until: closed.at }
      this.#since.push(...journal.read({ host, kinds, after, limit: left, ...end }).filter(isVerdict))
      this.#seenSeq = Math.max(lastSeq, this.#since.at(-1)?.seq ?? 0)
      this.#complete = closed !== null
    }
    return [...this.#before, ...this.#since]
  }
}

function isVerdict(entry: Entry): entry is VerdictEntry {
  return entry.kind === 'verdict.changed'
}
