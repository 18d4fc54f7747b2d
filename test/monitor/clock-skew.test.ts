/** How far the API's clock is from those that stamp heartbeats. */
import { expect, it } from 'vitest'
import type { ServiceRecord } from '../../src/domain/service.ts'
import { clockSkewMs } from '../../src/monitor/clock-skew.ts'

const noon = Date.parse('2030-01-01T12:00:00Z')

it.each<[string, number | null, (string | null)[], number | null]>([
  [
    'is counted from the newest stamp',
    noon,
    ['2030-01-01T11:59:50', '2030-01-01T11:59:58', '2030-01-01T11:59:55'],
    2_000,
  ],
  ['is negative when a stamp is ahead of the API', noon, ['2030-01-01T12:00:03', '2030-01-01T11:00:00'], -3_000],
  ['passes over rows that never beat', noon, [null, '2030-01-01T11:59:59', null], 1_000],
  ['is none without stamps', noon, [null, null], null],
  ['is none without rows', noon, [], null],
  ["is none without the API's own time", null, ['2030-01-01T11:59:59'], null],
])('the skew %s', (_what, serverTimeMs, stamps, skew) => {
  const services = stamps.map((updatedAt) => ({ updatedAt }) as ServiceRecord)
  expect(clockSkewMs({ serverTimeMs, services, tookMs: 1, showsLostCells: true })).toBe(skew)
})
