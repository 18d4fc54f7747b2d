/** Steps with all that is known of them: what was found, what was sent, what came of it, and Nova's request id. */
import type { StepReview } from '../../../domain/review.ts'
import { Fact, Facts } from '../../parts/facts.tsx'
import { Copy, Data, Stamped, Tag, Time } from '../../parts/text.tsx'
import { span } from '../../../domain/text/span.ts'
import type { Tone } from '../../../domain/text/tone.ts'

const tones: Record<StepReview['status'], Tone> = { intended: 'live', issued: 'live', confirmed: 'good', failed: 'bad' }

export function StepList({ steps }: { steps: readonly StepReview[] }) {
  return (
    <ol class="steps">
      {steps.map((step) => (
        <li key={step.key}>
          <Step step={step} />
        </li>
      ))}
    </ol>
  )
}

function Step({ step }: { step: StepReview }) {
  const { kind, attempt, status, requestId, globalRequestId, intendedAt, tookMs, error } = step
  const data = [
    ['Before', step.before],
    ['Sent', step.request],
    ['After', step.result],
  ] as const
  return (
    <details open={status !== 'confirmed'}>
      <summary>
        <Tag tone={tones[status]}>{status}</Tag>
        <strong>{kind}</strong>
        {attempt > 1 && <span class="faint">attempt {attempt}</span>}
        <span class="push">
          <Time at={intendedAt} />
          {tookMs !== null && <span class="faint">, {span(tookMs)}</span>}
        </span>
      </summary>
      {error !== null && (
        <div class="notice bad">
          <strong>{error.code}</strong>
          <p>
            <Stamped text={error.message} />
          </p>
          {error.chain.map((cause) => (
            <p key={cause} class="under">
              because: <Stamped text={cause} />
            </p>
          ))}
        </div>
      )}
      <Facts>
        <Fact name="Nova's request id">
          {requestId === null ? <span class="faint">none</span> : <Copy text={requestId} what="request id" />}
        </Fact>
        {globalRequestId !== null && (
          <Fact name="Our request id">
            <Copy text={globalRequestId} what="our request id" />
            <span class="under">Nova's log has it too, even if the answer was lost</span>
          </Fact>
        )}
        {data.map(([name, value]) => (
          <Fact key={name} name={name}>
            <Data value={value} label={`${kind}: ${name}`} />
          </Fact>
        ))}
      </Facts>
    </details>
  )
}
