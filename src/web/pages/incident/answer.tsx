/** A question about an incident with its answer, and what was seen of its host. */
import type { ComponentChildren } from 'preact'
import type { IncidentReview } from '../../../domain/review.ts'
import { Stamped } from '../../parts/text.tsx'

interface AnswerProps {
  question: string
  /** On a phone it stands below what to do. */
  later?: boolean
  children: ComponentChildren
}

export function Answer({ question, later = false, children }: AnswerProps) {
  return (
    <div class={later ? 'later' : undefined}>
      <dt>{question}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** What the verdict says, and what it came from. */
export function Seen({ verdict: { message, evidence } }: { verdict: NonNullable<IncidentReview['verdict']> }) {
  const { status, state, forcedDown, probes } = evidence
  // Then, and no more: what could not tell may have proven it dead since.
  const said = [
    ...probes.map(({ probe, answer }) => `${probe} ${answer === 'unknown' ? 'could not tell' : `said ${answer}`}`),
    `Nova said ${status}, ${state ?? 'no state'}${forcedDown ? ', forced down' : ''}`,
  ]
  return (
    <>
      <Stamped text={message} />
      <span class="under">{said.join(' · ')}</span>
    </>
  )
}
