/** The timeline as it is told: what is tried again is one line, and so are instances that came back one after another. Pure. */
import type { TimelineEvent } from '../../../domain/review.ts'
import { span } from '../../../domain/text/span.ts'
import { counted } from '../../words/count.ts'

export type ToldEvent = TimelineEvent & {
  /** So many instances that came back. */
  count?: number
  /** It happened so often, the last time then. */
  times?: number
  lastAt?: string
}

/** What is tried again: the same trouble each time is one line, with how often. */
const tried: ReadonlySet<string> = new Set(['fence.attempt', 'step.failed', 'step.waiting'])

/** The same but for numbers and times. The number of a fencing method is a part of its name: two methods are two. */
function likeness({ kind, instance, text }: TimelineEvent): string {
  const named = kind === 'fence.attempt' ? text.indexOf(':') : 0
  return `${kind} ${instance} ${text.slice(0, named)}${text.slice(named).replace(/\d+/g, '#')}`
}

/** Tries and their failures, as long as nothing else happens in between. */
function folded(events: readonly TimelineEvent[]): ToldEvent[] {
  const told: ToldEvent[] = []
  let run = new Map<string, ToldEvent>()
  for (const event of events) {
    const fresh: ToldEvent = { ...event }
    if (!tried.has(event.kind)) {
      run = new Map()
      told.push(fresh)
      continue
    }
    const like = likeness(event)
    const same = run.get(like)
    if (same === undefined) {
      run.set(like, fresh)
      told.push(fresh)
    } else {
      same.times = (same.times ?? 1) + 1
      same.lastAt = event.at
    }
  }
  return told
}

/** Instances that came back one after another are one line: what did not come back must not drown in what did. */
export function shortened(events: readonly TimelineEvent[]): ToldEvent[] {
  const told: ToldEvent[] = []
  // The lines that stand for several instances, with the time at which the last of those came back.
  const many = new Map<ToldEvent, string>()
  for (const event of folded(events.filter((one) => !isMechanics(one)))) {
    const last = told.at(-1)
    if (!cameBack(event)) {
      told.push(event)
    } else if (last?.count !== undefined) {
      last.count += 1
      many.set(last, event.at)
    } else told.push({ ...event, count: 1 })
  }
  for (const [first, lastAt] of many) {
    first.text = `${counted(first.count ?? 1, 'instance')} recovered, the last ${span(Date.parse(lastAt) - Date.parse(first.at))} after the first`
    first.instance = null
  }
  return told
}

/**
 * True, and of no use to someone who wants the story: the proof says what the fence step says, the end what each phase says, and a
 * notice what stands beside it already. That people were not reached is news.
 */
function isMechanics({ kind, tone }: TimelineEvent): boolean {
  if (kind.startsWith('notice.')) return kind !== 'notice.dead-lettered'
  return kind === 'incident.phase' || (kind.startsWith('step.') && tone !== 'bad')
}

function cameBack({ kind, instance, tone }: TimelineEvent): boolean {
  return kind === 'outcome.recorded' && instance !== null && tone === 'good'
}
