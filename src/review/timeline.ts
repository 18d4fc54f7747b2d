/** What happened, one line an entry, in the order in which it is on record. Pure. */
import type { Entry, EntryData } from '../domain/entry.ts'
import type { TimelineEvent } from '../domain/review.ts'
import { sentenceOf } from './report-sentences.ts'

type Tone = TimelineEvent['tone']

/** The line of an entry; null for one that says nothing to a reader. */
export function timelineEvent(entry: Entry): TimelineEvent | null {
  const text = sentenceOf(entry)
  if (text === null) return null
  const { seq, at, kind, actor, instance } = entry
  const requestId = entry.kind === 'step.issued' ? entry.data.requestId : null
  return { seq, at, kind, actor, text, tone: toneOf(entry), instance, requestId }
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

function closedTone({ outcome, counts }: EntryData['incident.closed']): Tone {
  if (outcome === 'observed') return 'plain'
  if (outcome === 'cancelled' || (counts['failed'] ?? 0) + (counts['stuck'] ?? 0) > 0) return 'bad'
  return (counts['left'] ?? 0) > 0 ? 'wait' : 'good'
}

function toneOf(entry: Entry): Tone {
  switch (entry.kind) {
    case 'incident.held':
    case 'incident.segment-changed':
    case 'step.waiting':
    case 'operator.paused':
    case 'operator.maintenance':
      return 'wait'
    case 'step.failed':
    case 'debt.recorded':
    case 'proof.voided':
    case 'alarm.raised':
    case 'operator.cancelled':
      return 'bad'
    case 'proof.recorded':
    case 'incident.continued':
    case 'service.restored':
      return 'good'
    case 'fence.attempt':
      return entry.data.phase === 'failed' ? 'bad' : entry.data.phase === 'succeeded' ? 'good' : 'plain'
    case 'verdict.changed':
      return entry.data.kind === 'healthy' ? 'good' : entry.data.kind === 'suspect' ? 'wait' : 'plain'
    case 'outcome.recorded': {
      const tones: Record<typeof entry.data.outcome, Tone> = {
        recovered: 'good',
        left: 'wait',
        failed: 'bad',
        stuck: 'bad',
      }
      return tones[entry.data.outcome]
    }
    case 'incident.closed':
      return closedTone(entry.data)
    case 'instances.watched':
      return entry.data.off > 0 ? 'bad' : entry.data.to === 'known' ? 'good' : 'wait'
    case 'return.changed':
      return entry.data.to === 'back' ? 'good' : entry.data.to === 'kept-out' ? 'bad' : 'plain'
    default:
      return 'plain'
  }
}
