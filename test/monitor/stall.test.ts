/** What we did not see because we ourselves stood still is no silence of a host's. */
import { expect, test } from 'vitest'
import { Fleet } from './setup.ts'

const four = ['a', 'b', 'c', 'd']

async function watched(): Promise<Fleet> {
  const fleet = new Fleet(four, { probes: ['tcp', 'ping'] })
  await fleet.run(20_000)
  expect(four.map((name) => fleet.kind(name))).toEqual(four.map(() => 'healthy'))
  return fleet
}

test.each([3_000, 10_000, 60_000, 3_600_000])(
  'after a stall of %i ms every living host is healthy, and none was ever anything else',
  async (stallMs) => {
    const fleet = await watched()
    const before = fleet.reports.length
    fleet.pass(stallMs)
    await fleet.run(10_000)
    expect(fleet.reports.slice(before).flatMap(({ changed }) => changed)).toEqual([])
    expect(fleet.reports.slice(before).every(({ frozen }) => frozen === null)).toBe(true)
  },
)

test('a host whose last beat was before the stall is given its full silence again, whatever its probes say', async () => {
  const fleet = await watched()
  fleet.silence('b')
  fleet.probe('tcp', { b: 'dead' })
  fleet.probe('ping', { b: 'dead' })
  fleet.pass(60_000)
  const resumedAt = fleet.clock.now()
  // As soon as the first look: nothing was watched for a minute, so nothing is known.
  await fleet.run(0)
  expect(fleet.kind('b')).not.toBe('host-down')
  await fleet.run(30_000, () => fleet.kind('b') === 'host-down')
  expect(fleet.kind('b')).toBe('host-down')
  expect(fleet.clock.now() - resumedAt).toBeGreaterThanOrEqual(fleet.settings.confirmAfterBeats * 2_000)
})

test('when the whole machine slept and our clock with it, hosts that beat meanwhile are healthy at the first look', async () => {
  const fleet = await watched()
  const before = fleet.reports.length
  fleet.sleep(3_600_000)
  await fleet.run(10_000)
  expect(fleet.reports.slice(before).flatMap(({ changed }) => changed)).toEqual([])
})

test('a wall clock that jumps by hours changes no verdict', async () => {
  const fleet = await watched()
  const before = fleet.reports.length
  for (const jumpMs of [-7_200_000, 14_400_000, -3_600_000]) {
    fleet.clock.stepWall(jumpMs)
    await fleet.run(10_000)
  }
  expect(fleet.reports.slice(before).flatMap(({ changed }) => changed)).toEqual([])
  fleet.silence('b')
  fleet.probe('tcp', { b: 'dead' })
  fleet.probe('ping', { b: 'dead' })
  fleet.clock.stepWall(-7_200_000)
  await fleet.run(30_000, () => fleet.kind('b') === 'host-down')
  expect(fleet.reason('b')).toBe('SILENT_AND_PROBES_DEAD')
})
