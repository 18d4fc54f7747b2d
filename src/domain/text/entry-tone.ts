/** Whether an entry tells of something good, bad or waited for. Pages colour it so; the words stand beside the colour. Pure. */
import type { Entry, EntryData } from '../entry.ts'
import type { Tone as AnyTone } from './tone.ts'

/** No entry is urgent or under way by itself: what asks for a person now is how its incident stands. */
export type Tone = Extract<AnyTone, 'plain' | 'good' | 'bad' | 'wait'>

function closedTone({ outcome, counts }: EntryData['incident.closed']): Tone {
  if (outcome === 'observed' || outcome === 'host-failed') return 'plain'
  if (outcome === 'left-to-people') return 'wait'
  if (outcome === 'cancelled' || (counts['failed'] ?? 0) + (counts['stuck'] ?? 0) > 0) return 'bad'
  return (counts['left'] ?? 0) > 0 ? 'wait' : 'good'
}

/** The tone of an entry. */
export function toneOf(entry: Entry): Tone {
  switch (entry.kind) {
    case 'incident.held':
    case 'incident.segment-changed':
    case 'step.waiting':
    case 'operator.paused':
    case 'operator.maintenance':
    case 'operator.maintenance-planned':
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
