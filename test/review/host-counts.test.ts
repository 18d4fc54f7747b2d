/** What is on a host that is held: read while someone looks, and never waited for. */
import { expect, it } from 'vitest'
import type { HeldGroup } from '../../src/domain/brake.ts'
import type { IncidentSummary } from '../../src/domain/operations.ts'
import { countedGroup, HostCounts, withCount } from '../../src/review/host-counts.ts'
import { VirtualClock } from '../../src/simulator/index.ts'
import { instance } from '../journal/fixtures.ts'

const minuteMs = 60_000

function counting() {
  const clock = new VirtualClock(0)
  const asked: string[] = []
  let works = true
  const listInstances = async (host: string) => {
    asked.push(host)
    if (!works) throw new Error('Nova is away')
    return [instance('1'), instance('2', { powerState: 4, projectId: 'project-2' })]
  }
  const counts = new HostCounts({ cloud: { listInstances }, clock })
  return { clock, asked, counts, fail: (now: boolean) => (works = !now) }
}

it('is unknown at first, known soon after, and asked again after a minute at the earliest', async () => {
  const { clock, asked, counts } = counting()
  expect(counts.of('c1')).toBeNull()
  await clock.advance(1)
  expect(counts.of('c1')).toMatchObject({ instances: 2, running: 1, projects: 2 })
  await clock.advance(minuteMs - 2)
  counts.of('c1')
  expect(asked).toEqual(['c1'])
  await clock.advance(2)
  counts.of('c1')
  expect(asked).toEqual(['c1', 'c1'])
})
it('stays known while Nova is away, which is asked again', async () => {
  const { clock, asked, counts, fail } = counting()
  counts.of('c1')
  await clock.advance(minuteMs + 1)
  fail(true)
  counts.of('c1')
  await clock.advance(1)
  expect(counts.of('c1')).toMatchObject({ instances: 2 })
  await clock.advance(10_000)
  counts.of('c1')
  expect(asked).toHaveLength(3)
})
it('a hundred hosts are read two at a time', async () => {
  const { clock, asked, counts } = counting()
  for (let n = 0; n < 100; n++) counts.of(`c${n}`)
  expect(asked).toHaveLength(2)
  await clock.advance(1)
  expect(new Set(asked).size).toBe(100)
})
it('a group adds up those that are known, and says how many are not', () => {
  const group = { members: ['c1', 'c2', 'c3'].map((host) => ({ host })) } as HeldGroup
  const count = { instances: 5, running: 4, projects: 2, at: '' }
  expect(countedGroup(group, (host) => (host === 'c3' ? null : count))).toMatchObject({
    ...{ instances: 10, running: 8, uncounted: 1 },
    members: [{ count }, { count }, { count: null }],
  })
})
it.each([
  ['an open incident without instances', {}, { instances: 5 }],
  ['one whose instances are listed', { instances: 3 }, undefined],
  ['one that is over', { ended: { outcome: 'done', message: '', at: '' } }, undefined],
  ['one whose host lives', { process: 'nova-compute' }, undefined],
])('%s says what is on its host, where nothing else does', (_what, own, onHost) => {
  const incident = { host: 'c1', ended: null, process: null, crashed: null, instances: 0, ...own } as IncidentSummary
  const counted = withCount(incident, () => ({ instances: 5, running: 4, projects: 2, at: '' }))
  expect(counted.onHost).toEqual(onHost === undefined ? undefined : expect.objectContaining(onHost))
})
