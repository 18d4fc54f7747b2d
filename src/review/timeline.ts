/** What happened, one line an entry, in the order in which it is on record. Pure. */
import type { Entry } from '../domain/entry.ts'
import type { TimelineEvent } from '../domain/review.ts'
import { lineOf, sentenceOf } from '../domain/text/entry-sentence.ts'

/** The line of an entry. */
export function timelineEvent(entry: Entry): TimelineEvent {
  const { seq, at, kind, actor, instance } = entry
  const requestId = entry.kind === 'step.issued' ? entry.data.requestId : null
  return { seq, at, kind, actor, text: lineOf(entry), tone: sentenceOf(entry).tone, instance, requestId }
}

/**
 * Whether the page of the incident shows it: everything of the host, and of each instance what ended it, went wrong or keeps it waiting. The steps
 * of thousands of instances are on the instances' own pages.
 */
export function isOfTheIncident(entry: Entry): boolean {
  if (entry.instance === null) return true
  return (
    entry.kind === 'outcome.recorded' ||
    entry.kind === 'debt.recorded' ||
    entry.kind === 'debt.settled' ||
    entry.kind === 'step.failed' ||
    entry.kind === 'step.waiting'
  )
}
