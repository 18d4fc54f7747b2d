/** What happened, in the order in which it is on record; each line leads to its journal entry. */
import { useMemo, useState } from 'preact/hooks'
import type { IncidentReview, TimelineEvent } from '../../../domain/review.ts'
import { Copy, Stamped, Tag, Time } from '../../parts/text.tsx'
import { link } from '../../router.ts'
import { counted } from '../../words/count.ts'
import { later, span } from '../../../domain/text/span.ts'

/** Lines shown at first and with each press. More at once is a wall. */
const pageSize = 100

export function Timeline({ review }: { review: IncidentReview }) {
  const [all, setAll] = useState(false)
  const [limit, setLimit] = useState(pageSize)
  const told = useMemo(() => (all ? review.timeline : shortened(review.timeline)), [all, review.timeline])
  const shown = told.slice(0, limit)
  const began = review.timeline[0]?.at ?? review.openedAt
  const names = useMemo(() => new Map(review.lines.map(({ id, name }) => [id, name])), [review.lines])
  const short = told.length < review.timeline.length || all
  return (
    <>
      {short && (
        <label class="toggle">
          <input type="checkbox" checked={all} onChange={(event) => setAll(event.currentTarget.checked)} /> Show all:
          phases, steps of the host, notices, each instance that came back
        </label>
      )}
      <EventList events={shown} began={began} names={names} incident={review.id} />
      {told.length > shown.length && (
        <button type="button" class="quiet" onClick={() => setLimit(limit + pageSize)}>
          Show more ({counted(told.length - shown.length, 'line')} left)
        </button>
      )}
    </>
  )
}

type ToldEvent = TimelineEvent & {
  /** So many instances that came back. */
  count?: number
  /** It happened so often, the last time then. */
  times?: number
  lastAt?: string
}

interface EventListProps {
  events: readonly ToldEvent[]
  began: string
  names: ReadonlyMap<string, string>
  incident: string
}

export function EventList({ events, began, names, incident }: EventListProps) {
  return (
    <ol class="timeline">
      {events.map((event) => (
        <li key={event.seq} class={event.tone}>
          <span class="when">
            <Time at={event.at} />
            <span class="since">{later(began, event.at)}</span>
          </span>
          <span class="dot" aria-hidden="true" />
          <span class="told">
            <Told event={event} names={names} incident={incident} />
          </span>
          <a class="seq" href={link.journal({ seq: String(event.seq) })} title="Journal entry">
            #{event.seq}
          </a>
        </li>
      ))}
    </ol>
  )
}

/** Round, recipe, step and try: `0.evacuate-running.evacuate.1`. Which step it was is all that people want of it. */
const stepKey = /^step (?:\S+\.)?([a-z][^.\s]*)(?:\.\d+)+ /i

const toneWord = { good: 'good', bad: 'trouble', wait: 'waits', plain: null } as const

function Told({ event, names, incident }: { event: ToldEvent; names: ReadonlyMap<string, string>; incident: string }) {
  const { text, instance, tone, actor, requestId, times, lastAt } = event
  const told = (instance === null ? text : text.replace(`${instance}: `, '')).replace(stepKey, '$1 ')
  // It stands behind the words, where it can be copied.
  const words = requestId === null ? told : told.replace(`, ${requestId}`, '')
  return (
    <>
      {toneWord[tone] !== null && <span class="visually-hidden">{toneWord[tone]}: </span>}
      {instance !== null && <a href={link.instance(incident, instance)}>{names.get(instance) ?? instance}</a>}
      {instance !== null && ' '}
      <Stamped text={words} />
      {times !== undefined && lastAt !== undefined && (
        <span class="faint">
          {' '}
          ({times} times, the last at <Time at={lastAt} />)
        </span>
      )}
      {actor !== 'daemon' && (
        <>
          {' '}
          <Tag tone="plain">{actor.replace('operator:', '')}</Tag>
        </>
      )}
      {requestId !== null && ' '}
      {requestId !== null && <Copy text={requestId} what="Nova's request id" />}
    </>
  )
}

/** What is tried again: the same trouble each time is one line, with how often. */
const tried: ReadonlySet<string> = new Set(['fence.attempt', 'step.failed', 'step.waiting'])

/** The same but for numbers and times. */
function likeness({ kind, instance, text }: TimelineEvent): string {
  return `${kind} ${instance} ${text.replace(/\d+/g, '#')}`
}

/** Tries and their failures, as long as nothing else happens in between. */
function folded(events: readonly TimelineEvent[]): ToldEvent[] {
  const told: ToldEvent[] = []
  let run = new Map<string, ToldEvent>()
  for (const event of events) {
    if (!tried.has(event.kind)) run = new Map()
    const like = likeness(event)
    const same = run.get(like)
    if (same !== undefined) {
      same.times = (same.times ?? 1) + 1
      same.lastAt = event.at
      continue
    }
    const fresh: ToldEvent = { ...event }
    if (tried.has(event.kind)) run.set(like, fresh)
    told.push(fresh)
  }
  return told
}

/** Instances that came back one after another are one line: what did not come back must not drown in what did. */
function shortened(events: readonly TimelineEvent[]): ToldEvent[] {
  const told: ToldEvent[] = []
  for (const event of folded(events.filter((one) => !isMechanics(one)))) {
    const last = told.at(-1)
    if (!cameBack(event)) {
      told.push(event)
    } else if (last?.count !== undefined) {
      last.count += 1
      last.text = `${counted(last.count, 'instance')} recovered, the last ${span(Date.parse(event.at) - Date.parse(last.at))} after the first`
      last.instance = null
    } else told.push({ ...event, count: 1 })
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
