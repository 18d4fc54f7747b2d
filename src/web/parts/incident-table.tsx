/** Incidents as a list: on the overview, on their own page, on a host's. */
import { useMemo } from 'preact/hooks'
import type { IncidentSummary } from '../../domain/operations.ts'
import { link } from '../router.ts'
import { counted, number, onHostText } from '../words/count.ts'
import { span } from '../../domain/text/span.ts'
import { byUrgency, outcomeOrder, outcomeTone, standing } from '../../domain/text/tone.ts'
import { isUnsettled } from '../words/unsettled.ts'
import { useScreenfulFirst } from './page.tsx'
import { Share } from './share.tsx'
import { Ago, Stamped, Tag, Time } from './text.tsx'

const columns = ['Host', 'State', 'Instances', 'Opened', 'Open for', 'Segment']

/** Two of the incidents, to be compared. */
export interface Choice {
  chosen: readonly string[]
  choose: (id: string) => void
}

interface IncidentTableProps {
  incidents: readonly IncidentSummary[]
  caption: string
  /** Each row can be chosen. */
  choice?: Choice
}

export function IncidentTable({ incidents, caption, choice }: IncidentTableProps) {
  const sorted = useMemo(() => byUrgency(incidents), [incidents])
  const shown = useScreenfulFirst(sorted)
  return (
    <table class={choice === undefined ? 'list' : 'list choosing'} role="table">
      <caption class="visually-hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((title) => (
            <th key={title} role="columnheader" scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {shown.map((incident) => (
          <Row key={incident.id} incident={incident} {...(choice !== undefined && { choice })} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ incident, choice }: { incident: IncidentSummary; choice?: Choice }) {
  const { id, host, process, crashed, segment, openedAt, ended, held, fencing, mode, signedOff } = incident
  const { text, tone } = standing(incident)
  const why = held?.message ?? fencing ?? endedBecause(ended)
  return (
    <tr role="row">
      <td role="cell" class="name">
        {choice !== undefined && <ChooseBox incident={incident} choice={choice} />}
        <a class="primary-text" href={link.incident(id)}>
          {host}
        </a>
        {process !== null && <span class="faint"> {process}</span>}
        {crashed !== null && <span class="faint"> {crashed.name}</span>}
        <span class="under">{id}</span>
      </td>
      <td role="cell" class="state">
        <Tag tone={tone}>{text}</Tag>
        {mode === 'observe' && ended === null && <span class="faint"> observe mode</span>}
        {why !== null && (
          <span class="under" title={why}>
            <Stamped text={why} />
          </span>
        )}
        {signedOff !== undefined && signedOff !== null && <span class="under">signed off by {signedOff.by}</span>}
        {isUnsettled(incident) && <span class="under">not signed off</span>}
      </td>
      <td role="cell">
        <Outcomes incident={incident} />
      </td>
      <td role="cell">
        <Time at={openedAt} />
        <span class="under">
          <Ago at={openedAt} />
        </span>
      </td>
      <td role="cell" class="number" data-title={ended === null ? undefined : 'open for'}>
        {ended === null ? <span class="faint">still open</span> : span(Date.parse(ended.at) - Date.parse(openedAt))}
      </td>
      <td role="cell">{segment}</td>
    </tr>
  )
}

function ChooseBox({
  incident: { id, host },
  choice: { chosen, choose },
}: {
  incident: IncidentSummary
  choice: Choice
}) {
  const checked = chosen.includes(id)
  const full = !checked && chosen.length === 2
  return (
    <input
      type="checkbox"
      class="choose"
      aria-label={`Compare ${host}, ${id}`}
      title={full ? 'Two are chosen' : 'Choose two to compare them'}
      checked={checked}
      disabled={full}
      onChange={() => choose(id)}
    />
  )
}

/** Of one that ran to its end the counts beside it say more than any sentence. */
function endedBecause(ended: IncidentSummary['ended']): string | null {
  return ended === null || ended.outcome === 'done' ? null : ended.message
}

function Outcomes({ incident }: { incident: IncidentSummary }) {
  const { process, instances, outcomes, mode, ended, onHost } = incident
  if (process !== null) return <span class="faint">left alone</span>
  if (instances === 0) return <span class={onHost ? '' : 'faint'}>{ended === null ? onHostText(onHost) : 'none'}</span>
  if (mode === 'observe') return <>{counted(instances, 'instance')} decided</>
  if (ended === null)
    return (
      <>
        {number(outcomes.recovered ?? 0)} of {counted(instances, 'instance')}
        <Share outcomes={outcomes} />
        <Counts of={outcomes} kinds={outcomeOrder.filter((kind) => kind !== 'open' && kind !== 'recovered')} />
      </>
    )
  return <Counts of={outcomes} kinds={outcomeOrder} />
}

interface CountsProps {
  of: IncidentSummary['outcomes']
  kinds: typeof outcomeOrder
}

function Counts({ of: outcomes, kinds }: CountsProps) {
  return (
    <span class="outcome-counts">
      {kinds
        .filter((kind) => (outcomes[kind] ?? 0) > 0)
        .map((kind) => (
          <Tag key={kind} tone={outcomeTone[kind]}>
            {outcomes[kind]} {kind}
          </Tag>
        ))}
    </span>
  )
}
