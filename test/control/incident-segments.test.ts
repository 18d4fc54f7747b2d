/** Which segment's rules an open incident is under. */
import { describe, expect, it } from 'vitest'
import { segmentChanges, segmentOfIncident } from '../../src/control/incident-segments.ts'
import { builtInSettings, type Segment, type SegmentOf } from '../../src/domain/segment.ts'

const segment = (name: string): Segment => ({ name, ...builtInSettings })
const incident = { id: 'i1', host: 'a', segment: 'recorded' }

function monitor(row: string | null, others: string[] = []) {
  return {
    placed: (_host: string, rules: SegmentOf = () => segment(row ?? '')) =>
      row === null ? null : rules('a', null, []),
    segments: () => others.map(segment),
    segment: () => segment('by-name-only'),
  }
}

describe('the segment of an open incident', () => {
  it.each([
    ["is its host's, once the host's row has been read", monitor('now', ['recorded']), 'now'],
    ['is the one on record before that', monitor(null, ['recorded']), 'recorded'],
    ["is what the host's name alone says where the one on record is gone", monitor(null, ['other']), 'by-name-only'],
  ])('%s', (_rule, known, name) => expect(segmentOfIncident(incident, known).name).toBe(name))
})

describe('the journal is told of another segment', () => {
  it('once for each incident whose host moved', () =>
    expect(segmentChanges([incident, { ...incident, id: 'i2', segment: 'now' }], monitor('now'))).toEqual([
      { kind: 'incident.segment-changed', incident: 'i1', host: 'a', data: { from: 'recorded', to: 'now' } },
    ]))

  it('by the rules that a reload is about to put in force', () =>
    expect(segmentChanges([incident], monitor('recorded'), () => segment('next'))).toMatchObject([
      { data: { from: 'recorded', to: 'next' } },
    ]))

  it("never before the host's row has been read", () => expect(segmentChanges([incident], monitor(null))).toEqual([]))
})
