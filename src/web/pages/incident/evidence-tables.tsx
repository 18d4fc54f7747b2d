/** What was seen of the host's life, as tables: for those who do not see the plots, and for exact numbers. */
import type { ComponentChildren } from 'preact'
import type { EvidenceSeries } from '../../../domain/review.ts'
import { Tag, Time } from '../../parts/text.tsx'
import { span } from '../../../domain/text/span.ts'
import { verdictWord } from '../../../domain/verdict.ts'
import { probeTone, verdictTone } from '../../../domain/text/tone.ts'

/** Of each kind, the newest. A host that flaps for hours has thousands, and the journal has them all. */
const rowsShown = 200

export function EvidenceTables({ evidence: { gaps, readings, silence } }: { evidence: EvidenceSeries }) {
  return (
    <details class="tables">
      <summary>As tables</summary>
      <div class="table-row">
        <Table caption="Heartbeats" columns={['At', 'After the one before']}>
          {gaps.slice(-rowsShown).map(({ at, gapMs, open }) => (
            <tr key={`${at} ${open}`}>
              <td>
                <Time at={at} />
              </td>
              <td class="number">
                {span(gapMs)}
                {open && ', still silent'}
              </td>
            </tr>
          ))}
        </Table>
        <Table caption="Probe readings" columns={['At', 'Probe', 'Says', 'Read']}>
          {readings.slice(-rowsShown).map(({ at, probe, answer, detail }) => (
            <tr key={`${at} ${probe}`}>
              <td>
                <Time at={at} />
              </td>
              <td>{probe}</td>
              <td>
                <Tag tone={probeTone[answer]}>{answer}</Tag>
              </td>
              <td>{detail}</td>
            </tr>
          ))}
        </Table>
        <Table caption="Verdicts" columns={['At', 'Verdict', 'Silent', 'Suspicion']}>
          {silence.slice(-rowsShown).map(({ at, verdict, silentMs, suspicion }) => (
            <tr key={at}>
              <td>
                <Time at={at} />
              </td>
              <td>
                <Tag tone={verdictTone[verdict]}>{verdictWord({ kind: verdict })}</Tag>
              </td>
              <td class="number">{span(silentMs)}</td>
              <td class="number">{suspicion === null ? '–' : suspicion.toFixed(1)}</td>
            </tr>
          ))}
        </Table>
      </div>
    </details>
  )
}

interface TableProps {
  caption: string
  columns: readonly string[]
  /** Its rows. */
  children: ComponentChildren
}

function Table({ caption, columns, children }: TableProps) {
  return (
    <table>
      <caption>{caption}</caption>
      <thead>
        <tr>
          {columns.map((title) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}
