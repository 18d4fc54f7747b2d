/**
 * The segment of an open incident is that of its host, as the configuration in force and the host's zone and aggregates say:
 * fencing methods, storage, limits and rules come from it at each use. Pure.
 */
import type { NewEntry } from '../domain/entry.ts'
import type { Incident } from '../domain/incident.ts'
import type { Segment, SegmentOf } from '../domain/segment.ts'
import type { Monitor } from '../monitor/monitor.ts'

/**
 * The rules that an incident is under. Right after a restart the host's zone is not known yet, and so not its segment: until its
 * row has been read, the segment on record counts.
 */
export function segmentOfIncident(
  { host, segment: recorded }: Pick<Incident, 'host' | 'segment'>,
  monitor: Pick<Monitor, 'placed' | 'segments' | 'segment'>,
): Segment {
  return monitor.placed(host) ?? monitor.segments().find(({ name }) => name === recorded) ?? monitor.segment(host)
}

/**
 * One entry for each open incident whose host is in another segment than the one on record.
 *
 * @param rules those that are about to be in force. Default: those that are.
 */
export function segmentChanges(
  open: readonly Pick<Incident, 'id' | 'host' | 'segment'>[],
  monitor: Pick<Monitor, 'placed'>,
  rules?: SegmentOf,
): NewEntry[] {
  return open.flatMap(({ id, host, segment: from }): NewEntry[] => {
    const to = monitor.placed(host, rules)?.name
    if (to === undefined || to === from) return []
    return [{ kind: 'incident.segment-changed', incident: id, host, data: { from, to } }]
  })
}
