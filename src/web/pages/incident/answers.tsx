/** The questions of someone woken at night, each with its answer, from the record alone. */
import { failureOf } from '../../../domain/incident.ts'
import type { IncidentReview } from '../../../domain/review.ts'
import type { ProofStrength } from '../../../domain/fencing.ts'
import { incidentPhases } from '../../../domain/incident-phases.ts'
import { returnWord } from '../../../domain/host-return.ts'
import { verdictWord } from '../../../domain/verdict.ts'
import { Share } from '../../parts/share.tsx'
import { Ago, Stamped, Tag, Time } from '../../parts/text.tsx'
import { useNow } from '../../parts/ticker.ts'
import { link } from '../../router.ts'
import { counted, number, onHostText } from '../../words/count.ts'
import { between, span } from '../../../domain/text/span.ts'
import { dayAndTime, zoneName } from '../../words/time.ts'
import { Answer, Seen } from './answer.tsx'
import { AnswersOnLivingHost } from './answers-living-host.tsx'
import { ends, groupsOf, isFine } from './ends.ts'
import { Names } from './names.tsx'
import { paceOf, paceText } from './pace.ts'
import { backBetween } from './words.ts'

export function Answers({ review }: { review: IncidentReview }) {
  if (failureOf(review) !== 'host') return <AnswersOnLivingHost review={review} />
  return (
    <dl class="answers">
      <Answer question="What died">{whatDied(review)}</Answer>
      <Answer question="How we know" later>
        {howWeKnow(review)}
      </Answer>
      <Answer question="Was it fenced">{fenced(review)}</Answer>
      <Answer question="What came back" later>
        {cameBack(review)}
      </Answer>
      <Answer question="What did not, and why">{didNot(review)}</Answer>
      {review.ended !== null && (
        <Answer question="The host now" later>
          {hostNow(review)}
        </Answer>
      )}
    </dl>
  )
}

function whatDied({ host, segment, verdict, openedAt, openedBy }: IncidentReview) {
  return (
    <>
      <strong>{host}</strong> of segment {segment},{' '}
      {verdict === null ? `on the word of ${openedBy}` : verdictWord(verdict)} at <Time at={verdict?.at ?? openedAt} />
    </>
  )
}

function howWeKnow({ verdict, statement }: IncidentReview) {
  if (verdict === null)
    return statement === null ? 'No verdict: a person opened this incident' : <Stated {...statement} />
  return <Seen verdict={verdict} />
}

function Stated({ by, statement }: { by: string; statement: string }) {
  return (
    <>
      Attested by {by}: “{statement}”
    </>
  )
}

/** What each strength of a proof means, for those who read it at night. */
export const strengthMeans: Record<ProofStrength, string> = {
  'power-off': 'its power was read back as off',
  'agent-verified': 'a fence agent verified it',
  'command-verified': 'your fencing command verified it',
  statement: 'a person said so: no machine checked it',
}

/** A host without its storage may live on, and does no harm. */
export function provenWord({ proves }: Pick<NonNullable<IncidentReview['proof']>, 'proves'>): string {
  return proves === 'storage' ? 'cut off from its storage' : 'proven dead'
}

function fenced({ proof, voided, statement, fencing, fenceAttempts, held, ended, mode }: IncidentReview) {
  if (proof !== null)
    return (
      <>
        <Tag tone={proof.strength === 'statement' ? 'wait' : 'good'}>
          {proof.strength === 'statement' ? 'on a person’s word' : provenWord(proof)}
        </Tag>{' '}
        by <strong>{proof.method}</strong> at <Time at={proof.provenAt} />: {strengthMeans[proof.strength]}
        {statement !== null && (
          <span class="under">
            <Stated {...statement} />
          </span>
        )}
      </>
    )
  if (voided !== null)
    return (
      <>
        <Tag tone="bad">it showed life</Tag> after it was proven dead by <strong>{voided.method}</strong> at{' '}
        <Time at={voided.provenAt} />: <Stamped text={voided.message} />
        <span class="under">
          since <Time at={voided.at} />. Instances evacuated by then stay where they are; the rest wait until the host
          is silent and fenced again
        </span>
      </>
    )
  if (mode === 'observe') return 'No: in observe mode nothing is sent'
  if (ended !== null) return 'No: nothing was evacuated'
  if (held !== null)
    return (
      <>
        <Tag tone="wait">not yet</Tag> {fenceAttempts.length === 0 && 'no method was tried: '}
        <Stamped text={held.message} />
      </>
    )
  return (
    <>
      <Tag tone="live">not yet</Tag> <Stamped text={fencing ?? 'fencing has not begun'} />
    </>
  )
}

function cameBack(review: IncidentReview) {
  const { lines, outcomes, ended, mode, proof, verdict, openedAt, watched } = review
  const total = lines.length
  if (watched !== null && total === 0) return <Stamped text={watched.message} />
  if (total === 0 && ended?.outcome === 'cancelled')
    return 'Nothing: it was cancelled before any instance was on record'
  if (total === 0 && ended !== null)
    return proof === null && mode === 'armed' ? 'Nothing: no instance was touched' : 'The host had no instances'
  if (total === 0) return 'Nothing yet'
  if (mode === 'observe')
    return (
      <>
        Nothing: in observe mode nothing is sent. Armed,{' '}
        <strong>
          {lines.filter(({ decision }) => decision === 'recover').length} of {counted(total, 'instance')}
        </strong>{' '}
        would have been recovered
      </>
    )
  const back = backBetween(lines)
  return (
    <>
      <strong>
        {outcomes.recovered ?? 0} of {counted(total, 'instance')}
      </strong>
      {back !== null && (
        <>
          {back.first === back.last ? ', at ' : ', from '}
          {back.first !== back.last && (
            <>
              <Time at={back.first} /> to{' '}
            </>
          )}
          <Time at={back.last} />
          <span class="under">the last {between(verdict?.at ?? openedAt, back.last)} after the verdict</span>
        </>
      )}
      {watched !== null && (
        <span class="under">
          <Stamped text={watched.message} />
        </span>
      )}
      <Share outcomes={outcomes} />
      <PaceLine review={review} />
    </>
  )
}

/** While it runs: how fast it is, and how long it will still take. */
function PaceLine({ review }: { review: IncidentReview }) {
  const running = review.ended === null
  const now = useNow(running)
  const pace = paceOf(review, now)
  return pace === null ? null : <span class="under pace">{paceText(pace)}</span>
}

function didNot(review: IncidentReview) {
  const { lines, ended, mode } = review
  if (lines.length === 0)
    return ended === null ? notListed(review) : <Stamped text={`Nothing was moved: ${ended.message}`} />
  const groups = groupsOf(review).filter(({ end }) => !isFine(end))
  const waiting = ended === null ? underWay(review) : null
  if (groups.length === 0)
    return waiting ?? (mode === 'observe' ? 'All of them would have been recovered' : 'Everything came back')
  return (
    <>
      <ul class="plain">
        {groups.map(({ end, code, message, count, members }) => (
          <li key={`${end} ${code}`}>
            <Tag tone={ends[end].tone}>
              {count} {ends[end].word}
            </Tag>{' '}
            <Names review={review} of={members} />
            <span class="under">
              <code>{code}</code> <Stamped text={message} />
            </span>
          </li>
        ))}
      </ul>
      {waiting !== null && <span class="under">{waiting}</span>}
    </>
  )
}

/** 12 instances under way: 3 evacuate, 1 start, 8 not begun */
function underWay({ lines, outcomes }: IncidentReview): string | null {
  const open = outcomes.open ?? 0
  if (open === 0) return null
  const steps = new Map<string, number>()
  for (const { outcome, current, startedAt } of lines) {
    if (outcome !== 'open') continue
    const what =
      (current?.waitsUntil ?? null) === null
        ? (current?.kind ?? (startedAt === null ? 'not begun' : 'between two steps'))
        : 'waiting for an evacuation that Nova may still carry out'
    steps.set(what, (steps.get(what) ?? 0) + 1)
  }
  const parts = [...steps].sort(([, a], [, b]) => b - a).map(([what, count]) => `${number(count)} ${what}`)
  return `${counted(open, 'instance')} still under way: ${parts.join(', ')}`
}

function hostNow({ host, hostReturn }: IncidentReview) {
  if (hostReturn === null)
    return (
      <>
        It carries no flag of this incident. <a href={link.host(host)}>See the host now</a>
      </>
    )
  const { state, message, since } = hostReturn
  return (
    <>
      <Tag tone={state === 'back' ? 'good' : 'wait'}>{returnWord(state)}</Tag> <Stamped text={message} />
      {since !== null && (
        <span class="under">
          since <Time at={since} />
        </span>
      )}
    </>
  )
}

/** Before there are lines: all that is on the host is off with it. */
function notListed({ host, held, phase, onHost }: IncidentReview) {
  return (
    <>
      {onHostText(onHost)}; none is back yet.{' '}
      {held === null ? incidentPhases[phase].means : 'Nothing goes on: it is held'}
      <span class="under">
        What would happen to each: <a href={link.plan(host)}>the plan as of now</a>
      </span>
    </>
  )
}

export function Since({ review }: { review: IncidentReview }) {
  const { ended, openedAt } = review
  return (
    <>
      <time dateTime={openedAt}>{dayAndTime(openedAt)}</time>
      {ended === null ? (
        <>
          , <Ago at={openedAt} />
        </>
      ) : (
        <>
          {' '}
          to <Time at={ended.at} />, {span(Date.parse(ended.at) - Date.parse(openedAt))}
        </>
      )}
      {' · '}times are {zoneName(openedAt)}
    </>
  )
}
