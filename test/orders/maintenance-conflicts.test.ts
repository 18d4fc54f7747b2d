/** What stands against maintenance: incidents that it holds, and segments that it takes in whole. */
import { expect, it } from 'vitest'
import { maintenanceConflicts, type HostInSegments, type Span } from '../../src/orders/maintenance-conflicts.ts'
import { cloud, host, hour, segment } from './orders-rig.ts'

const hosts: HostInSegments[] = [
  { host: 'a1', segments: ['a'], incident: null },
  { host: 'a2', segments: ['a', 'of-masakari'], incident: null },
  { host: 'b1', segments: ['b'], incident: 'i-b1' },
  { host: 'b2', segments: ['b'], incident: null },
  { host: 'alone', segments: ['c'], incident: null },
]

function told(...spans: Span[]): string[] {
  return maintenanceConflicts(spans, hosts).map(
    ({ code, from, message }) => `${from === null ? 'now' : from.slice(11, 16)} ${code}: ${message}`,
  )
}

const now = (scope: Span['scope'], until: number | null = null): Span => ({ scope, from: null, until })
const later = (scope: Span['scope'], from: number, until: number | null = from + 1): Span => ({
  ...{ scope, from: from * hour },
  until: until === null ? null : until * hour,
})

it('a host with an open incident: held now, or at the beginning if it is still open then', () => {
  expect(told(now(host('b1')))).toEqual(['now OPEN_INCIDENT: b1 has an open incident, and its maintenance holds it'])
  expect(told(later(host('b1'), 2))).toEqual([
    '02:00 OPEN_INCIDENT: b1 has an open incident now; if it is still open when the maintenance begins, it is held',
  ])
})

it('all hosts of a segment at once, by one order or by several that overlap', () => {
  const all = 'WHOLE_SEGMENT: All 2 hosts of a are in maintenance at once: Lifeboat recovers none of them'
  expect(told(later(segment('a'), 2))).toEqual([`02:00 ${all}`])
  expect(told(now(host('a1')), later(host('a2'), 2))).toEqual([`02:00 ${all}`])
  expect(told(now(host('a1')), later(segment('of-masakari'), 2))).toEqual([`02:00 ${all}`])
})

it('orders that follow each other do not meet', () => {
  expect(told(later(host('a1'), 2), later(host('a2'), 3))).toEqual([])
  expect(told(now(host('a1'), 2 * hour), later(host('a2'), 2))).toEqual([])
})

it('a segment of one host is said by its host’s maintenance already', () => {
  expect(told(later(host('alone'), 2))).toEqual([])
})

it('each conflict is said once, at the first moment at which it stands', () => {
  expect(told(later(cloud, 5), later(segment('a'), 2, 8)).map((line) => line.slice(0, 20))).toEqual([
    '02:00 WHOLE_SEGMENT:',
    '05:00 OPEN_INCIDENT:',
    '05:00 WHOLE_SEGMENT:',
  ])
})
