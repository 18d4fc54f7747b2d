/** A question about an incident with its answer, and what was seen of its host. */
import type { ComponentChildren } from 'preact'
import type { IncidentReview } from '../../../domain/review.ts'
import { Stamped } from '../../parts/text.tsx'

export function Answer({ question, children }: { question: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{question}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** What the verdict says, and what it came from. */
export function Seen({ verdict: { message, evidence } }: { verdict: NonNullable<IncidentReview['verdict']> }) {
  const { status, state, forcedDown, probes } = evidence
  const said = [
    ...probes.map(({ probe, answer }) => `${probe} says ${answer}`),
    `Nova said ${status}, ${state ?? 'no state'}${forcedDown ? ', forced down' : ''}`,
  ]
  return (
    <>
      <Stamped text={message} />
      <span class="under">{said.join(' · ')}</span>
    </>
  )
}
