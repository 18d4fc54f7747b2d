/** What happened, in the order in which it is on record; each line leads to its journal entry. */
import { useMemo, useState } from 'preact/hooks'
import type { IncidentReview } from '../../../domain/review.ts'
import { Copy, Stamped, Tag, Time } from '../../parts/text.tsx'
import { link } from '../../router.ts'
import { counted } from '../../words/count.ts'
import { later } from '../../../domain/text/span.ts'
import { shortened, type ToldEvent } from './told.ts'

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
