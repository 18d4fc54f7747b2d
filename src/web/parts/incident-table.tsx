/** Incidents as a list: on the overview, on their own page, on a host's. */
import type { IncidentSummary } from '../../domain/operations.ts'
import { link } from '../router.ts'
import { counted } from '../words/count.ts'
import { span } from '../words/time.ts'
import { heldText, outcomeOrder, outcomeTone, standing } from '../words/tone.ts'
import { Ago, Tag, Time } from './text.tsx'

export function IncidentTable({ incidents, caption }: { incidents: readonly IncidentSummary[]; caption: string }) {
  return (
    <table class="list" role="table">
      <caption class="visually-hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col">
            Host
          </th>
          <th role="columnheader" scope="col">
            State
          </th>
          <th role="columnheader" scope="col">
            Instances
          </th>
          <th role="columnheader" scope="col">
            Opened
          </th>
          <th role="columnheader" scope="col">
            Took
          </th>
          <th role="columnheader" scope="col">
            Segment
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {incidents.map((incident) => (
          <Row key={incident.id} incident={incident} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ incident }: { incident: IncidentSummary }) {
  const { id, host, segment, openedAt, ended, held, fencing, mode } = incident
  const { text, tone } = standing(incident)
  const why = (held === null ? null : heldText(held)) ?? fencing ?? ended?.message ?? null
  return (
    <tr role="row">
      <td role="cell" class="name">
        <a class="primary-text" href={link.incident(id)}>
          {host}
        </a>
        <span class="under">{id}</span>
      </td>
      <td role="cell" class="state">
        <Tag tone={tone}>{text}</Tag>
        {mode === 'observe' && ended === null && <span class="faint"> observe mode</span>}
        {why !== null && <span class="under">{why}</span>}
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
      <td role="cell" class="number">
        {ended === null ? <span class="faint">open</span> : span(Date.parse(ended.at) - Date.parse(openedAt))}
      </td>
      <td role="cell">{segment}</td>
    </tr>
  )
}

function Outcomes({ incident: { instances, outcomes, mode, ended } }: { incident: IncidentSummary }) {
  if (instances === 0) return <span class="faint">{ended === null ? 'not listed yet' : 'none'}</span>
  if (mode === 'observe') return <>{counted(instances, 'instance')} decided</>
  return (
    <span class="outcome-counts">
      {outcomeOrder
        .filter((kind) => (outcomes[kind] ?? 0) > 0)
        .map((kind) => (
          <Tag key={kind} tone={outcomeTone[kind]}>
            {outcomes[kind]} {kind}
          </Tag>
        ))}
    </span>
  )
}
