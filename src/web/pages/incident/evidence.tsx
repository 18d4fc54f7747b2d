/** What was seen of the host's life: its heartbeats and what its witnesses said, plotted, and as tables. */
import { useMemo } from 'preact/hooks'
import type uPlot from 'uplot'
import type { EvidenceSeries, IncidentReview } from '../../../domain/review.ts'
import { Plot, type Colours } from '../../parts/plot.tsx'
import { Empty } from '../../parts/states.tsx'
import { Tag, Time } from '../../parts/text.tsx'
import { span } from '../../words/time.ts'
import { verdictTone } from '../../words/tone.ts'

type Shown = Pick<IncidentReview, 'evidence' | 'verdict' | 'proof'>

export function Evidence({ review }: { review: Shown }) {
  const { evidence } = review
  if (evidence.gaps.length === 0 && evidence.readings.length === 0 && evidence.silence.length === 0)
    return <Empty>Nothing is on record: a person opened this incident before anything was seen.</Empty>
  return (
    <div class="evidence">
      {evidence.gaps.length > 0 && <Heartbeats evidence={evidence} />}
      {evidence.readings.length > 0 && <Readings evidence={evidence} />}
      <Tables evidence={evidence} />
    </div>
  )
}

function Heartbeats({ evidence }: { evidence: EvidenceSeries }) {
  const { gaps, intervalMs } = evidence
  const data = useMemo((): uPlot.AlignedData => {
    const at = gaps.map((gap) => Date.parse(gap.at) / 1_000)
    return [
      at,
      gaps.map(({ gapMs, open }) => (open ? null : gapMs / 1_000)),
      gaps.map(({ gapMs, open }) => (open ? gapMs / 1_000 : null)),
      gaps.map(() => (intervalMs === null ? null : intervalMs / 1_000)),
    ]
  }, [gaps, intervalMs])
  const open = gaps.find((gap) => gap.open)
  const usual = intervalMs === null ? '' : `usually every ${span(intervalMs)}`
  const silent = open === undefined ? '' : `, then silent for ${span(open.gapMs)}`
  const label = `Time between heartbeats: ${usual}${silent}. The table below has each.`
  return (
    <figure>
      <figcaption>
        <strong>Time between heartbeats</strong> {usual}
        {silent}
      </figcaption>
      <Plot label={label} height={180} data={data} options={heartbeatOptions} />
      <Legend
        items={[
          ['live', 'bar', 'a beat, by the time since the one before'],
          ['bad', 'bar', 'silence at the verdict'],
          ['faint', 'line', 'the usual interval'],
        ]}
      />
    </figure>
  )
}

function Legend({ items }: { items: readonly (readonly [string, string, string])[] }) {
  return (
    <ul class="legend">
      {items.map(([tone, shape, text]) => (
        <li key={text}>
          <span class={`key ${tone} ${shape}`} aria-hidden="true" />
          {text}
        </li>
      ))}
    </ul>
  )
}

function axes(colours: Colours): uPlot.Axis[] {
  const base = {
    stroke: colours.text,
    grid: { stroke: colours.grid, width: 1 },
    ticks: { show: false },
    font: '12px system-ui',
  }
  return [base, { ...base, size: 56 }]
}

const quiet = { legend: { show: false }, cursor: { show: false } } as const

function heartbeatOptions(colours: Colours): Omit<uPlot.Options, 'width' | 'height'> {
  const [x, y] = axes(colours)
  return {
    ...quiet,
    padding: [10, 12, 0, 0],
    scales: {
      y: { range: (_plot, _min, max) => [0, max * 1.1] },
      x: { range: (_plot, min, max) => widened(min, max) },
    },
    axes: [x ?? {}, { ...y, values: (_plot, ticks) => ticks.map((tick) => `${tick} s`) }],
    series: [
      {},
      { stroke: colours.live, width: 3, paths: sticks, points: { show: true, size: 6, fill: colours.live } },
      { stroke: colours.bad, width: 5, paths: sticks, points: { show: true, size: 9, fill: colours.bad } },
      { stroke: colours.faint, dash: [6, 4], width: 1.5, points: { show: false } },
    ],
  }
}

/** A stick from the ground to each value. */
const sticks: uPlot.Series.PathBuilder = (plot, index) => {
  const stroke = new Path2D()
  const ground = plot.valToPos(0, 'y', true)
  for (const [place, value] of (plot.data[index] ?? []).entries()) {
    if (value === null || value === undefined) continue
    const x = Math.round(plot.valToPos(plot.data[0][place] ?? 0, 'x', true))
    stroke.moveTo(x, ground)
    stroke.lineTo(x, plot.valToPos(value, 'y', true))
  }
  return { stroke }
}

/** Room at both sides, so that the first and the last point are whole. */
function widened(min: number, max: number): [number, number] {
  const room = Math.max((max - min) * 0.04, 1)
  return [min - room, max + room]
}

const answers = ['alive', 'dead', 'unknown'] as const

function Readings({ evidence: { readings } }: { evidence: EvidenceSeries }) {
  const probes = useMemo(() => [...new Set(readings.map(({ probe }) => probe))], [readings])
  const data = useMemo((): uPlot.AlignedData => {
    const sorted = [...readings].sort((a, b) => (a.at < b.at ? -1 : 1))
    const lane = new Map(probes.map((probe, index) => [probe, probes.length - index]))
    return [
      sorted.map(({ at }) => Date.parse(at) / 1_000),
      ...answers.map((answer) =>
        sorted.map((reading) => (reading.answer === answer ? (lane.get(reading.probe) ?? null) : null)),
      ),
    ]
  }, [readings, probes])
  const options = useMemo(() => readingOptions(probes), [probes])
  const last = probes.map(
    (probe) => `${probe} ${readings.findLast((reading) => reading.probe === probe)?.answer ?? ''}`,
  )
  return (
    <figure>
      <figcaption>
        <strong>Probe readings</strong> at last {last.join(', ')}
      </figcaption>
      <Plot
        label={`Probe readings; at last ${last.join(', ')}. The table below has each.`}
        height={64 + 30 * probes.length}
        data={data}
        options={options}
      />
      <Legend
        items={[
          ['good', 'round', 'alive'],
          ['bad', 'cross', 'dead'],
          ['faint', 'hollow', 'unknown'],
        ]}
      />
    </figure>
  )
}

function readingOptions(probes: readonly string[]) {
  return (colours: Colours): Omit<uPlot.Options, 'width' | 'height'> => {
    const [x, y] = axes(colours)
    return {
      ...quiet,
      padding: [10, 12, 0, 0],
      scales: { y: { range: [0.4, probes.length + 0.6] }, x: { range: (_plot, min, max) => widened(min, max) } },
      axes: [
        x ?? {},
        {
          ...y,
          size: 96,
          splits: probes.map((_probe, index) => index + 1),
          values: (_plot, ticks) => ticks.map((tick) => probes[probes.length - tick] ?? ''),
        },
      ],
      series: [
        {},
        { paths: marksOf('round'), stroke: colours.good, fill: colours.good, points: { show: false } },
        { paths: marksOf('cross'), stroke: colours.bad, width: 2.5, points: { show: false } },
        { paths: marksOf('hollow'), stroke: colours.faint, width: 2, points: { show: false } },
      ],
    }
  }
}

/** Shapes differ, not colours alone. */
function marksOf(shape: 'round' | 'cross' | 'hollow'): uPlot.Series.PathBuilder {
  return (plot, index) => {
    const stroke = new Path2D()
    const size = 5 * devicePixelRatio
    for (const [place, value] of (plot.data[index] ?? []).entries()) {
      if (value === null || value === undefined) continue
      const x = plot.valToPos(plot.data[0][place] ?? 0, 'x', true)
      const y = plot.valToPos(value, 'y', true)
      if (shape === 'cross') {
        stroke.moveTo(x - size, y - size)
        stroke.lineTo(x + size, y + size)
        stroke.moveTo(x + size, y - size)
        stroke.lineTo(x - size, y + size)
      } else {
        stroke.moveTo(x + size, y)
        stroke.arc(x, y, size, 0, 2 * Math.PI)
      }
    }
    return { stroke, fill: shape === 'round' ? stroke : null }
  }
}

const rowsShown = 200

function Tables({ evidence: { gaps, readings, silence } }: { evidence: EvidenceSeries }) {
  return (
    <details class="tables">
      <summary>The same as tables</summary>
      <div class="table-row">
        <table>
          <caption>Heartbeats</caption>
          <thead>
            <tr>
              <th scope="col">At</th>
              <th scope="col">Since the one before</th>
            </tr>
          </thead>
          <tbody>
            {gaps.slice(-rowsShown).map((gap) => (
              <tr key={`${gap.at} ${gap.open}`}>
                <td>
                  <Time at={gap.at} />
                </td>
                <td class="number">
                  {span(gap.gapMs)}
                  {gap.open && ', still silent'}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        <table>
          <caption>Probe readings</caption>
          <thead>
            <tr>
              <th scope="col">At</th>
              <th scope="col">Probe</th>
              <th scope="col">Says</th>
              <th scope="col">Read</th>
            </tr>
          </thead>
          <tbody>
            {readings.slice(-rowsShown).map((reading) => (
              <tr key={`${reading.at} ${reading.probe}`}>
                <td>
                  <Time at={reading.at} />
                </td>
                <td>{reading.probe}</td>
                <td>
                  <Tag tone={reading.answer === 'alive' ? 'good' : reading.answer === 'dead' ? 'bad' : 'plain'}>
                    {reading.answer}
                  </Tag>
                </td>
                <td>{reading.detail}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <table>
          <caption>Verdicts</caption>
          <thead>
            <tr>
              <th scope="col">At</th>
              <th scope="col">Verdict</th>
              <th scope="col">Silent</th>
              <th scope="col">Suspicion</th>
            </tr>
          </thead>
          <tbody>
            {silence.slice(-rowsShown).map((one) => (
              <tr key={one.at}>
                <td>
                  <Time at={one.at} />
                </td>
                <td>
                  <Tag tone={verdictTone[one.verdict]}>{one.verdict}</Tag>
                </td>
                <td class="number">{span(one.silentMs)}</td>
                <td class="number">{one.suspicion === null ? '–' : one.suspicion.toFixed(1)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}
