/** The readiness of one host on one line, and what it lacks: above the plan of that host. */
import { fencingStates, type HostReadiness } from '../../domain/readiness.ts'
import { backText, estimateText, fencingWord, holdWord, isOut } from '../words/readiness.ts'
import { fencingTone, hostTone } from '../../domain/text/tone.ts'
import { verdictWord } from '../../domain/verdict.ts'
import { Fact, Facts } from './facts.tsx'
import { Ago, Stamped, Tag } from './text.tsx'

export function ReadinessLine({ host }: { host: HostReadiness }) {
  const { plan, holds, missing, probes } = host
  return (
    <div class="panel readiness-line">
      <Facts kind="facts grid">
        <Fact name="Verdict">
          <Tag tone={hostTone(host)}>{verdictWord({ ...host, kind: host.verdict })}</Tag>
        </Fact>
        <Fact name="Fencing">
          <FencingWord host={host} />
          <FencingDetail host={host} />
        </Fact>
        <Fact name="Would come back">
          {backText(host)}
          {plan !== null && !isOut(host) && (
            <>
              , read <Ago at={plan.at} />
            </>
          )}
        </Fact>
        <Fact name="Would take">{estimateText(host)}</Fact>
        <Fact name="Probes">{probes.length === 0 ? 'none' : probes.map(({ probe }) => probe).join(', ')}</Fact>
        <Fact name="Held by">
          {holds.length === 0
            ? 'nothing'
            : holds.map(({ code, message }) => (
                <span key={code + message} class="stacked">
                  {holdWord[code]}: <Stamped text={message} />
                </span>
              ))}
        </Fact>
      </Facts>
      {missing.length > 0 && (
        <ul class="missing">
          {missing.map(({ code, message }) => (
            <li key={code + message}>
              <Stamped text={message} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

export function FencingWord({ host: { fencing } }: { host: HostReadiness }) {
  return (
    <Tag tone={fencingTone[fencing.state]} title={fencingStates[fencing.state]}>
      {fencingWord[fencing.state]}
    </Tag>
  )
}

/** Each method with its last answer and how old that is. */
export function FencingDetail({ host: { fencing } }: { host: HostReadiness }) {
  if (fencing.methods.length === 0) return null
  return (
    <span class="under">
      {fencing.methods.map(({ method, power, detail, at }, place) => (
        <span key={method} title={detail}>
          {place > 0 && '; '}
          {method} {power === 'unknown' ? 'no answer' : (power ?? 'not read')}
          {at !== null && (
            <>
              , <Ago at={at} />
            </>
          )}
        </span>
      ))}
    </span>
  )
}
