/** The act that tries again what an incident that is over did not bring back: what it would do is said by name, beforehand. */
import type { TryAgain } from '../../../domain/operations.ts'
import type { IncidentReview } from '../../../domain/review.ts'
import { paths } from '../../api/paths.ts'
import type { Act } from '../../parts/act.tsx'
import { deathWords, TwiceWarning } from '../../parts/host-acts.tsx'
import { link } from '../../router.ts'
import { counted } from '../../words/count.ts'

/** Names in a sentence: more than these hide how many there are. */
const namesShown = 10

/** Null: nothing is left to try. */
export function tryAgain(review: IncidentReview): Act | null {
  const { id, host, again } = review
  if (again === null) return null
  const { needsStatement } = again
  return {
    title: 'Try again',
    role: 'admin',
    danger: true,
    consequence: `Opens a new incident for ${counted(again.instances.length, 'instance')}.`,
    path: paths.incidentAct(id, 'again'),
    words: needsStatement
      ? deathWords
      : { field: 'reason', label: 'Reason', hint: 'What has changed since, e.g. "there is room again".' },
    effect: (
      <>
        <p>
          {needsStatement ? (
            <>
              Opens a new incident of <strong>{host}</strong>, with your word as the proof of death.
            </>
          ) : (
            <>
              Opens a new incident of <strong>{host}</strong> and fences the host again first.
            </>
          )}{' '}
          <WhatOf again={again} review={review} />
        </p>
        {needsStatement && (
          <p>
            <TwiceWarning />
          </p>
        )}
      </>
    ),
    senseless: again.refused?.message ?? null,
    done: (answer) => `Incident ${openedBy(answer)} of ${host} is open`,
  }
}

function WhatOf({ again: { instances, unsure }, review }: { again: TryAgain; review: IncidentReview }) {
  const names = new Map(review.lines.map(({ id, name }) => [id, name]))
  const named = (ids: readonly string[]): string => {
    const rest = ids.length - namesShown
    const shown = ids.slice(0, namesShown).map((id) => names.get(id) ?? id)
    return rest > 0 ? `${shown.join(', ')} and ${counted(rest, 'other')}` : shown.join(', ')
  }
  return (
    <>
      {instances.length === 0 ? (
        'It evacuates nothing yet.'
      ) : (
        <>
          It brings back <strong>{counted(instances.length, 'instance')}</strong> if still on the host:{' '}
          {named(instances)}.
        </>
      )}
      {unsure.length > 0 && (
        <>
          {' '}
          It does not touch <strong>{counted(unsure.length, 'instance')}</strong> that may be running elsewhere, until
          Nova shows where each runs: {named(unsure)}.
        </>
      )}
    </>
  )
}

/** Where to go on reading. */
export function Later({ review: { again } }: { review: IncidentReview }) {
  if (again === null || again.later === null) return null
  return (
    <p class="under">
      A later incident of this host: <a href={link.incident(again.later)}>{again.later}</a>
    </p>
  )
}

function openedBy(answer: unknown): string {
  return typeof answer === 'object' && answer !== null && 'incident' in answer ? String(answer.incident) : ''
}
