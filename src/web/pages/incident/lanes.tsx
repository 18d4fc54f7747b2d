/**
 * The recovery as a picture: one time axis, and a lane for each instance that is brought back. Each lane says the same in words, for
 * those who do not see it.
 */
import { Icon } from '../../parts/icons.tsx'
import { Component } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { StepKind } from '../../../domain/plan.ts'
import type { IncidentReview, InstanceLine } from '../../../domain/review.ts'
import { between, span } from '../../../domain/text/span.ts'
import { useNow } from '../../parts/ticker.ts'
import { counted } from '../../words/count.ts'
import { outcomeTone } from '../../../domain/text/tone.ts'
import { axisOf, foldedOf, lanesOf, mostLanes, type Axis } from './lane.ts'

export function Lanes({ review }: { review: IncidentReview }) {
  const [all, setAll] = useState(false)
  const { openedAt, proof } = review
  const lanes = useMemo(() => lanesOf(review), [review.lines])
  const open = lanes.some(({ outcome }) => outcome === 'open')
  const now = useNow(open)
  const axis = axisOf({ openedAt, proof }, lanes, now)
  if (lanes.length > mostLanes)
    return (
      <p class="empty">
        No lanes are drawn for {counted(lanes.length, 'instance')}: above {mostLanes} they cannot be told apart. The
        table has each of them, and its groups count them.
      </p>
    )
  const folded = foldedOf(lanes)
  const shown = all ? lanes : lanes.filter((line) => !folded.lines.has(line))
  return (
    <div class="lanes">
      <Marks axis={axis} />
      <ol>
        {shown.map((line) => (
          <Lane
            key={line.id}
            line={line}
            from={axis.from}
            length={axis.length}
            until={line.outcome === 'open' ? axis.until : 0}
          />
        ))}
      </ol>
      {folded.lines.size > 0 && (
        <button type="button" class="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
          <Icon name={all ? 'down' : 'right'} /> {folded.text}
        </button>
      )}
      <ul class="legend">
        {keys.map(({ kind, text }) => (
          <li key={kind}>
            <svg class="lane-key" aria-hidden="true">
              <rect class={kind} x="0" width="100%" {...shapes[kind]} />
            </svg>
            {text}
          </li>
        ))}
        <li>
          <span class="key round good" /> recovered
        </li>
        <li>
          <span class="key round bad" /> failed or stuck
        </li>
      </ul>
    </div>
  )
}

type Shape = 'queued' | 'evacuate' | 'start' | 'other'

/** Told apart by their height as well as by their colour. */
const shapes: Record<Shape, { y: number; height: number }> = {
  queued: { y: 6, height: 2 },
  other: { y: 5, height: 4 },
  start: { y: 3, height: 8 },
  evacuate: { y: 1, height: 12 },
}

const keys: { kind: Shape; text: string }[] = [
  { kind: 'queued', text: 'waits' },
  { kind: 'evacuate', text: 'evacuate' },
  { kind: 'start', text: 'start' },
  { kind: 'other', text: 'another step' },
]

function shapeOf(kind: StepKind): Shape {
  return kind === 'evacuate' || kind === 'start' ? kind : 'other'
}

/** Ms from the beginning as a part of the axis, in percent. */
function placed(ms: number, { length }: Pick<Axis, 'length'>): number {
  return Math.min(100, Math.max(0, (ms * 100) / length))
}

function Marks({ axis }: { axis: Axis }) {
  const marks = Array.from({ length: axis.length / axis.step + 1 }, (_, nth) => nth * axis.step)
  return (
    <svg class="lane-axis" aria-hidden="true">
      {marks.map((ms, nth) => (
        <text
          key={ms}
          x={`${placed(ms, axis)}%`}
          y="12"
          text-anchor={nth === 0 ? 'start' : nth === marks.length - 1 ? 'end' : 'middle'}
        >
          {nth === 0 ? '0' : `+${span(ms)}`}
        </text>
      ))}
    </svg>
  )
}

interface LaneProps {
  line: InstanceLine
  /** Of the axis, ms. */
  from: number
  length: number
  /** Until when it is drawn while it is under way, ms; 0: it is over. */
  until: number
}

/** Drawn again only when it changed: hundreds stand still while one moves. */
class Lane extends Component<LaneProps> {
  override shouldComponentUpdate(next: LaneProps): boolean {
    const { line, from, length, until } = this.props
    return next.line !== line || next.from !== from || next.length !== length || next.until !== until
  }

  override render({ line, from, length, until }: LaneProps) {
    const { name, outcome, endedAt, stages } = line
    const at = (time: string | null): number => placed((time === null ? until : Date.parse(time)) - from, { length })
    const end = at(endedAt)
    return (
      <li>
        <span class="lane-name" title={name}>
          {name}
        </span>
        <svg class="lane" role="img" aria-label={laneText(line)}>
          <rect class="queued" x="0" width={`${end}%`} {...shapes.queued} />
          {stages.map(({ kind, from: began, to }) => (
            <rect
              key={began}
              class={shapeOf(kind)}
              x={`${at(began)}%`}
              width={`${Math.max(0.4, at(to ?? endedAt) - at(began))}%`}
              {...shapes[shapeOf(kind)]}
            />
          ))}
          {endedAt !== null && <circle class={outcomeTone[outcome]} cx={`${end}%`} cy="7" r="4" />}
        </svg>
      </li>
    )
  }
}

/** evacuate 4 s, start 1 s; recovered */
function laneText({ stages, outcome }: InstanceLine): string {
  const done = stages.map(({ kind, from, to }) => (to === null ? `${kind} under way` : `${kind} ${between(from, to)}`))
  const stands = outcome === 'open' ? (stages.length === 0 ? 'waits for its turn' : 'open') : outcome
  return [done.join(', '), stands].filter((text) => text !== '').join('; ')
}
