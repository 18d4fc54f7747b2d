/** The questions where the host lives: a nova-compute that failed, or a guest that crashed. Nothing is fenced or evacuated there. */
import { incidentPhases } from '../../../domain/incident-phases.ts'
import type { IncidentReview } from '../../../domain/review.ts'
import { between } from '../../../domain/text/span.ts'
import { Stamped, Tag, Time } from '../../parts/text.tsx'
import { Answer, Seen } from './answer.tsx'
import { endOf, ends } from './ends.ts'
import { whyOf } from './words.ts'

export function AnswersOnLivingHost({ review }: { review: IncidentReview }) {
  const { host, process, segment, crashed, openedAt, openedBy } = review
  if (crashed !== null)
    return (
      <dl class="answers">
        <Answer question="What failed">
          The guest of {crashed.name} on <strong>{host}</strong> of segment {segment}, reported at{' '}
          <Time at={openedAt} />. The host lives
        </Answer>
        <Answer question="How we know" later>
          {openedBy} reported it ({crashed.event})
        </Answer>
        <Answer question="Is it back">{isBack(review)}</Answer>
        <Answer question="How it stands">{howItStands(review)}</Answer>
      </dl>
    )
  return (
    <dl class="answers">
      <Answer question="What failed">
        {process} of <strong>{host}</strong> of segment {segment}, at <Time at={openedAt} />. The host lives
      </Answer>
      <Answer question="How we know" later>
        {howWeKnow(review)}
      </Answer>
      <Answer question="Its instances">Left alone: they run on</Answer>
      <Answer question="How it stands">{howItStands(review)}</Answer>
    </dl>
  )
}

/** Where a monitor reported it, heartbeats may still have looked well. */
function howWeKnow({ openedBy, verdict }: IncidentReview) {
  return (
    <>
      {openedBy !== 'daemon' && `${openedBy} reported it. Then Lifeboat saw: `}
      {verdict === null ? 'nothing of the host' : <Seen verdict={verdict} />}
    </>
  )
}

function isBack(review: IncidentReview) {
  const { lines, mode, openedAt } = review
  const [line] = lines
  if (line === undefined) return 'Nothing was decided yet'
  const { word, tone } = ends[endOf(line, mode)]
  const { code, message } = whyOf(line)
  return (
    <>
      <Tag tone={tone}>{word}</Tag>
      {line.outcome === 'recovered' && line.endedAt !== null && (
        <>
          {' '}
          at <Time at={line.endedAt} />, {between(openedAt, line.endedAt)} after the report
        </>
      )}
      <span class="under">
        <code>{code}</code> <Stamped text={message} />
      </span>
    </>
  )
}

function howItStands({ ended, held, phase }: IncidentReview) {
  if (ended !== null) return <Stamped text={ended.message} />
  if (held === null) return incidentPhases[phase].means
  return (
    <>
      <Tag tone="wait">held</Tag> <Stamped text={held.message} />
    </>
  )
}
