/**
 * How long recoveries took, from those on record: what an estimate is made of. Pure. Medians, for one incident that waited a night for a
 * person says nothing of the next.
 */
import type { IncidentLine } from '../journal/listing.ts'

export interface PastTimes {
  /** How many incidents say so. */
  incidents: number
  /** From the verdict to the proof of death, ms. */
  provenMs: number
  /** From the proof to the last outcome, for each instance that came back, ms. They run side by side, so it is less than one takes. */
  instanceMs: number
}

/** The newest of a segment, or of the cloud, that count. More remember hardware and versions of long ago. */
const mostCounted = 20

type Line = Pick<
  IncidentLine,
  'id' | 'segment' | 'mode' | 'process' | 'crashed' | 'openedAt' | 'lastLineAt' | 'outcome' | 'instances'
>

/** @param lines incidents, the newest first. @param provenAt when the host of an incident was proven dead, ISO */
export function pastTimes(
  lines: readonly Line[],
  provenAt: (incident: string) => string | null,
): (segment: string) => PastTimes | null {
  const known = lines.flatMap((line) => {
    const { id, segment, mode, process, crashed, openedAt, lastLineAt, outcome, instances } = line
    const proven = provenAt(id)
    const isRecovery = mode === 'armed' && outcome === 'done' && process === null && crashed === null
    if (!isRecovery || proven === null || lastLineAt === null || instances.recovered === 0) return []
    const provenMs = Math.max(0, Date.parse(proven) - Date.parse(openedAt))
    const instanceMs = Math.max(0, Date.parse(lastLineAt) - Date.parse(proven)) / instances.recovered
    return [{ segment, provenMs, instanceMs }]
  })
  const of = (times: readonly (typeof known)[number][]): PastTimes | null => {
    const counted = times.slice(0, mostCounted)
    if (counted.length === 0) return null
    return {
      incidents: counted.length,
      provenMs: median(counted.map(({ provenMs }) => provenMs)),
      instanceMs: median(counted.map(({ instanceMs }) => instanceMs)),
    }
  }
  const cloud = of(known)
  const segments = new Map<string, PastTimes | null>()
  return (segment) => {
    const before = segments.get(segment)
    if (before !== undefined) return before
    // Another segment has other disks and boards, but its times are better than none.
    const times = of(known.filter((time) => time.segment === segment)) ?? cloud
    segments.set(segment, times)
    return times
  }
}

function median(values: readonly number[]): number {
  const inOrder = values.toSorted((a, b) => a - b)
  const middle = Math.floor(inOrder.length / 2)
  const upper = inOrder[middle] ?? 0
  return inOrder.length % 2 === 1 ? upper : ((inOrder[middle - 1] ?? upper) + upper) / 2
}
