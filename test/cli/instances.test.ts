/** `lifeboat instance show`, and names where an instance is asked for. */
import { expect, it } from 'vitest'
import type { FoundInstance, InstanceHistory } from '../../src/domain/review.ts'
import { fakeJournal, run } from './fake-commands.ts'

const found = (id: string, name: string): FoundInstance => ({
  id,
  name,
  projectId: 'p1',
  incident: 'i-1',
  host: 'cmp01',
  openedAt: '2026-01-02T03:04:05.000Z',
  outcome: 'recovered',
  landedOn: 'cmp04',
  incidents: 1,
})
const record = (id: string): InstanceHistory => ({
  id,
  name: 'web-7',
  projectId: 'p1',
  headline: 'web-7 was on cmp01.',
  now: {
    host: 'cmp04',
    state: 'active',
    at: '2026-01-02T03:04:19.000Z',
    outcome: 'recovered',
    code: 'RUNNING',
    message: 'ran',
  },
  stays: [],
})
const known = [found('1', 'web-7'), found('2', 'web-70'), found('3', 'db'), found('4', 'db')]
const openReader = () =>
  fakeJournal({
    instances: (text) => known.filter(({ id, name }) => id === text || name.includes(text.toLowerCase())),
    instance: record,
    incidents: ({ instance }) => {
      expect(instance).toBe('1')
      return []
    },
  })

it.each(['web-7', 'WEB-7', '1'])('%s means one instance: its record is shown', async (given) => {
  const { exit, out } = await run(['instance', 'show', given], { openReader })
  expect([exit, out]).toEqual([0, expect.stringContaining('web-7 was on cmp01.')])
})
it('programs get the record field by field', async () => {
  const { out } = await run(['instance', 'show', 'web-7', '-f', 'json'], { openReader })
  expect(JSON.parse(out)).toMatchObject({ ID: '1', Now: { host: 'cmp04' } })
})
it('a name that several have is a slip that names their UUIDs', async () => {
  const { exit, err } = await run(['instance', 'show', 'db'], { openReader })
  expect([exit, err]).toEqual([2, expect.stringMatching(/give a UUID .*\n {2}3 .*\n {2}4 /)])
})
it('a part of a name is not enough, and those that come close are named', async () => {
  const { exit, err } = await run(['instance', 'show', 'web'], { openReader })
  expect([exit, err]).toEqual([1, expect.stringMatching(/come close .*\n {2}1 {2}web-7/)])
})
it('an unset variable is a slip', async () => {
  expect((await run(['instance', 'show', ''], { openReader })).exit).toBe(2)
})
it('incidents are listed by the name of an instance', async () => {
  expect((await run(['incident', 'list', '--instance', 'web-7'], { openReader })).exit).toBe(0)
})
