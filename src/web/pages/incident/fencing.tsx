/** How the host was fenced: every attempt, and the proof or a person's word. */
import type { IncidentReview } from '../../../domain/review.ts'
import { Stamped, Tag, Time } from '../../parts/text.tsx'
import { Empty } from '../../parts/states.tsx'
import { between, span } from '../../../domain/text/span.ts'
import { StepList } from './steps.tsx'
import { strengthMeans } from './answers.tsx'

const attemptsShown = 30

export function Fencing({ review }: { review: IncidentReview }) {
  const { fenceAttempts, hostSteps } = review
  const shown = fenceAttempts.slice(-attemptsShown)
  return (
    <>
      <Proof review={review} />
      {shown.length === 0 ? (
        <Empty>No fencing method was tried.</Empty>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Fencing attempts">
          <table>
            <caption>
              Attempts
              {shown.length < fenceAttempts.length && `: the last ${shown.length} of ${fenceAttempts.length}`}
            </caption>
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">Method</th>
                <th scope="col">Result</th>
                <th scope="col">Message</th>
                <th scope="col">Took</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((attempt) => (
                <Attempt key={`${attempt.at} ${attempt.method} ${attempt.phase}`} attempt={attempt} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {hostSteps.length > 0 && (
        <>
          <h3>What Lifeboat did to the host</h3>
          <StepList steps={hostSteps} />
        </>
      )}
    </>
  )
}

function Attempt({ attempt }: { attempt: IncidentReview['fenceAttempts'][number] }) {
  const {
    at,
    method,
    phase,
    message,
    position,
    of,
    attempt: nth,
    attempts,
    startedAt,
    endedAt,
    limitMs,
    certainty,
  } = attempt
  const tone = phase === 'succeeded' ? 'good' : phase === 'failed' ? 'bad' : 'live'
  const place = [
    position === undefined || of === undefined ? null : `method ${position} of ${of}`,
    (attempts ?? 1) > 1 ? `try ${nth ?? 1} of ${attempts ?? 1}` : null,
  ].filter((part) => part !== null)
  return (
    <tr>
      <td>
        <Time at={at} />
      </td>
      <td>
        {method}
        {place.length > 0 && <span class="under">{place.join(', ')}</span>}
      </td>
      <td>
        <Tag tone={tone}>{phase}</Tag>
      </td>
      <td>
        <Stamped text={message} />
        {phase === 'failed' && certainty === 'unknown' && (
          <span class="under">Nobody knows whether it took effect.</span>
        )}
      </td>
      <td class="number">
        {startedAt !== undefined && endedAt !== undefined
          ? between(startedAt, endedAt)
          : limitMs !== undefined && `at most ${span(limitMs)}`}
      </td>
    </tr>
  )
}

function Proof({ review: { proof, voided, statement, ended } }: { review: IncidentReview }) {
  if (proof === null && voided !== null)
    return (
      <div class="notice bad">
        <strong>The proof of death was revoked</strong>
        <p>
          {voided.strength} by {voided.method} at <Time at={voided.provenAt} />; at <Time at={voided.at} /> it showed
          life: <Stamped text={voided.message} />. Instances evacuated by then stay where they are.
        </p>
      </div>
    )
  if (proof === null)
    return (
      <div class="notice wait">
        <strong>No proof of death</strong>
        <p>{ended === null ? 'Lifeboat evacuates nothing without one.' : 'Nothing was evacuated.'}</p>
      </div>
    )
  return (
    <div class={`notice ${proof.strength === 'statement' ? 'wait' : 'good'}`}>
      <strong>
        {proof.strength} by {proof.method}
        {proof.statedBy !== null && `, attested by ${proof.statedBy}`}
      </strong>
      <p>
        {strengthMeans[proof.strength]}, last at <Time at={proof.provenAt} />
        {proof.proves === 'storage' && '. It cut off the storage: the host itself may still run'}
      </p>
      {proof.evidence.length > 0 && (
        <ol class="evidence-lines">
          {proof.evidence.map((line) => (
            <li key={line}>
              <Stamped text={line} />
            </li>
          ))}
        </ol>
      )}
      {statement !== null && (
        <p>
          Attested by {statement.by}
          {statement.unixUser !== undefined && statement.unixUser !== statement.by && ` (as ${statement.unixUser})`}: “
          {statement.statement}”
        </p>
      )}
    </div>
  )
}
