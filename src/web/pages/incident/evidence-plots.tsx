/** The plots of a host's heartbeats and of its probes. Own how they are drawn; what they say is in the tables beside them too. */
import { useMemo } from 'preact/hooks'
import type uPlot from 'uplot'
import type { EvidenceSeries, IncidentReview } from '../../../domain/review.ts'
import { Plot, type Colours } from '../../parts/plot.tsx'
import { span } from '../../../domain/text/span.ts'
import { provenWord } from './answers.tsx'

type Shown = Pick<IncidentReview, 'evidence' | 'verdict' | 'proof'>

/** Both plots have one time axis, so that a silence and what the witnesses said meanwhile stand above each other. */
interface Shared {
  from: number
  to: number
  moments: { at: number; text: string }[]
}

export function sharedAxis({ evidence, verdict, proof }: Shown): Shared {
  const moments = [
    ...(verdict === null ? [] : [{ at: seconds(verdict.at), text: verdict.kind }]),
    ...(proof === null ? [] : [{ at: seconds(proof.provenAt), text: provenWord(proof) }]),
  ]
  const seen = evidence.gaps.flatMap(({ at, gapMs }) => [seconds(at) - gapMs / 1_000, seconds(at)])
  const read = evidence.readings.map(({ at }) => seconds(at))
  const all = [...seen, ...read, ...moments.map(({ at }) => at)]
  const first = all.reduce((a, b) => Math.min(a, b), Infinity)
  const last = all.reduce((a, b) => Math.max(a, b), -Infinity)
  const room = Math.max((last - first) * 0.03, 1)
  return { from: first - room, to: last + room, moments }
}

function seconds(iso: string): number {
  return Date.parse(iso) / 1_000
}

interface PlotProps {
  evidence: EvidenceSeries
  shared: Shared
}

export function Heartbeats({ evidence, shared }: PlotProps) {
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
  const options = useMemo(() => heartbeatOptions(shared), [shared])
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
      <Plot label={label} height={180} data={data} options={options} />
      <Legend
        items={[
          ['live', 'bar', 'a heartbeat, and the time since the one before'],
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

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hour12: false,
})

/** Room for the names of probes, in both plots. */
const leftPx = 96

function frame(shared: Shared, colours: Colours) {
  const base = {
    stroke: colours.text,
    grid: { stroke: colours.grid, width: 1 },
    ticks: { show: false },
    font: '12px system-ui',
  }
  const x: uPlot.Axis = {
    ...base,
    space: 90,
    values: (_plot, ticks) => ticks.map((tick) => clock.format(tick * 1_000)),
  }
  const y: uPlot.Axis = { ...base, size: leftPx }
  return {
    x,
    y,
    common: {
      legend: { show: false },
      cursor: { show: false },
      padding: [18, 16, 0, 0] as uPlot.Padding,
      hooks: { draw: [(plot: uPlot) => drawMoments(plot, shared.moments, colours)] },
    },
    range: (): [number, number] => [shared.from, shared.to],
  }
}

/** A line through the plot for the verdict and the proof, with its word at the top. */
function drawMoments(plot: uPlot, moments: Shared['moments'], colours: Colours): void {
  const { ctx, bbox } = plot
  ctx.save()
  ctx.strokeStyle = colours.text
  ctx.fillStyle = colours.text
  ctx.font = `${11 * devicePixelRatio}px system-ui`
  ctx.textAlign = 'left'
  ctx.lineWidth = devicePixelRatio
  let taken = Infinity
  for (const { at, text } of [...moments].sort((a, b) => b.at - a.at)) {
    const x = Math.round(plot.valToPos(at, 'x', true))
    ctx.beginPath()
    ctx.moveTo(x, bbox.top - 4 * devicePixelRatio)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
    const { width } = ctx.measureText(text)
    const end = Math.min(x + width / 2, taken - 8 * devicePixelRatio, bbox.left + bbox.width + 14 * devicePixelRatio)
    ctx.fillText(text, end - width, bbox.top - 7 * devicePixelRatio)
    taken = end - width
  }
  ctx.restore()
}

function heartbeatOptions(shared: Shared) {
  return (colours: Colours): Omit<uPlot.Options, 'width' | 'height'> => {
    const { x, y, common, range } = frame(shared, colours)
    return {
      ...common,
      scales: { y: { range: (_plot, _min, max) => [0, Math.max(max, 1) * 1.1] }, x: { range } },
      axes: [x, { ...y, values: (_plot, ticks) => ticks.map((tick) => `${tick} s`) }],
      series: [
        {},
        { stroke: colours.live, width: 3, paths: sticks, points: { show: true, size: 6, fill: colours.live } },
        { stroke: colours.bad, width: 5, paths: sticks, points: { show: true, size: 9, fill: colours.bad } },
        { stroke: colours.faint, dash: [6, 4], width: 1.5, points: { show: false } },
      ],
    }
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

const answers = ['alive', 'dead', 'unknown'] as const

export function Readings({ evidence: { readings }, shared }: PlotProps) {
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
  const options = useMemo(() => readingOptions(probes, shared), [probes, shared])
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

function readingOptions(probes: readonly string[], shared: Shared) {
  return (colours: Colours): Omit<uPlot.Options, 'width' | 'height'> => {
    const { x, y, common, range } = frame(shared, colours)
    return {
      ...common,
      scales: { y: { range: [0.4, probes.length + 0.6] }, x: { range } },
      axes: [
        x,
        {
          ...y,
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
