/** The lanes of an incident as numbers: which instances, in which order, on which axis. Pure. */
import { failureOf } from '../../../domain/incident.ts'
import type { IncidentReview, InstanceLine } from '../../../domain/review.ts'
import { number } from '../../words/count.ts'

/** More are drawn as none: no picture tells so many apart, and the table has them all. */
export const mostLanes = 400

/** More that are back, or wait for their turn, are folded: they have nothing to say that the others do not. */
const mostAlike = 20

export interface Axis {
  /** Ms since 1970 where it begins, and its length. */
  from: number
  length: number
  /** Between two of its marks, ms. */
  step: number
  /** Until when something is known, ms since 1970: the browser's clock may be behind the daemon's. */
  until: number
}

type Laned = Pick<InstanceLine, 'decision' | 'outcome' | 'startedAt' | 'endedAt' | 'stages'>

/** Nothing is moved where the host lives, nor while the daemon only observes. */
export function hasLanes(review: Pick<IncidentReview, 'mode' | 'process' | 'crashed' | 'lines'>): boolean {
  return failureOf(review) === 'host' && review.mode === 'armed' && review.lines.some(isBrought)
}

/** The instances that are brought back, those under way first, then what went wrong, what waits, and what is back. */
export function lanesOf({ lines }: Pick<IncidentReview, 'lines'>): InstanceLine[] {
  return lines.filter(isBrought).sort((one, other) => rankOf(one) - rankOf(other) || timeOf(one) - timeOf(other))
}

function isBrought({ decision, startedAt }: Laned): boolean {
  return decision === 'recover' || startedAt !== null
}

/** Those that are folded at first, and what they are. */
export function foldedOf(lanes: readonly InstanceLine[]): { lines: ReadonlySet<InstanceLine>; text: string } {
  const alike = [
    { lines: lanes.filter((line) => rankOf(line) === rank.waiting), word: 'waiting' },
    { lines: lanes.filter((line) => rankOf(line) === rank.back), word: 'recovered' },
  ].filter((one) => one.lines.length > mostAlike)
  return {
    lines: new Set(alike.flatMap((one) => one.lines)),
    text: alike.map((one) => `${number(one.lines.length)} ${one.word}`).join(', '),
  }
}

const rank = { underWay: 0, wrong: 1, waiting: 2, back: 3 } as const

function rankOf({ outcome, startedAt }: Laned): number {
  if (outcome === 'open') return startedAt === null ? rank.waiting : rank.underWay
  return outcome === 'recovered' ? rank.back : rank.wrong
}

/** Those that take longest first. */
function timeOf({ startedAt, endedAt }: Laned): number {
  return Date.parse(startedAt ?? endedAt ?? '') || 0
}

/** Lengths between two marks that people can read, s. */
const steps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400]

/** A phone has room for this many marks. */
const mostMarks = 5

/** From when recovery could begin until the last outcome, or `nowMs` while some have none; it ends at a mark, so that it seldom moves. */
export function axisOf(
  { openedAt, proof }: Pick<IncidentReview, 'openedAt' | 'proof'>,
  lanes: readonly Laned[],
  nowMs: number,
): Axis {
  const starts = lanes.flatMap(({ startedAt }) => (startedAt === null ? [] : [Date.parse(startedAt)]))
  const from = starts.reduce((first, at) => Math.min(first, at), Date.parse(proof?.provenAt ?? openedAt))
  const ends = lanes.flatMap(({ endedAt, stages }) => {
    const last = endedAt ?? stages.at(-1)?.to ?? stages.at(-1)?.from ?? null
    return last === null ? [] : [Date.parse(last)]
  })
  const open = lanes.some(({ outcome }) => outcome === 'open')
  const until = ends.reduce((latest, at) => Math.max(latest, at), open ? Math.max(nowMs, from) : from)
  const seconds = Math.max(1, (until - from) / 1_000)
  const step = steps.find((one) => seconds / one <= mostMarks) ?? Math.ceil(seconds / mostMarks / 86_400) * 86_400
  return { from, length: Math.ceil(seconds / step) * step * 1_000, step: step * 1_000, until }
}
