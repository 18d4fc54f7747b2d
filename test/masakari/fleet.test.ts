/**
 * The monitors of a whole fleet: that all begin at once, and report much at once. What it costs is measured (bench/rows/reports.mjs); that
 * nobody is refused, and that detection waits for none of it, is shown here.
 */
import { expect, it } from 'vitest'
import { person } from '../api/people.ts'
import { beatMs, SmallWorld } from '../daemon/small-world.ts'
import { played, project } from './cloud.ts'

interface Report {
  type: 'VM' | 'PROCESS'
  hostname: string
  payload: Record<string, string>
}

/** Of a guest that was shut down, each another one. */
const shutDown = (nth: number): Report => ({
  type: 'VM',
  hostname: `cmp0${(nth % 3) + 2}`,
  payload: {
    ...{ event: 'LIFECYCLE', vir_domain_event: 'STOPPED_SHUTDOWN' },
    instance_uuid: `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`,
  },
})

/** What is on record, and told to people. */
const processIsDown = (nth: number): Report => ({
  ...{ type: 'PROCESS', hostname: `cmp0${(nth % 3) + 2}` },
  payload: { event: 'STOPPED', process_name: `agent-${nth}` },
})

it(
  'two hundred monitors that begin at once, each with a token that Keystone has to be asked about, are all answered 202',
  played(async ({ world, people, server }) => {
    const scope = { kind: 'project', id: project, name: 'service', domain: 'Default' } as const
    const names = Array.from({ length: 200 }, (_, n) => `monitor-${n}`)
    for (const name of names) people.tokens.set(name, person(name, ['monitor'], { scope }))
    const known = people.holder.bind(people)
    people.holder = async (token) => {
      await new Promise<void>((resolve) => world.clock.after(300, resolve))
      return known(token)
    }
    const post = (name: string, nth: number) =>
      server.inject({
        ...{ method: 'POST', url: '/v1/notifications', headers: { 'x-auth-token': name } },
        payload: { notification: { generated_time: '2026-01-01T00:00:01', ...shutDown(nth) } },
      })
    const answers = await world.clock.run(Promise.all(names.map(post)))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(names.map(() => 202))
  }),
)

/** A report makes Lifeboat look at once, so the looks come at other moments, and are never further apart than this. */
const pollMs = beatMs / 2

it('a thousand reports within a minute are all taken, and a host that dies among them is found no more than a poll later', async () => {
  const foundAfterMs = async (reports: number): Promise<number> => {
    let foundMs = NaN
    await SmallWorld.run({}, async (world) => {
      const { simulator, clock, daemon } = world
      const diedAt = clock.wall()
      simulator.crash('cmp01')
      for (let nth = 0; nth < 1_000; nth++) {
        const generatedAt = new Date(clock.wall()).toISOString()
        const { type, hostname, payload } = nth % 25 === 0 ? processIsDown(nth) : shutDown(nth)
        // Throws where it is not taken.
        if (nth < reports)
          daemon.reports.receive({ about: type, host: hostname, payload, by: 'monitor', via: null, generatedAt })
        await clock.advance(60)
      }
      await world.until(() => world.incident('cmp01') !== undefined)
      foundMs = Date.parse(world.incident('cmp01')?.openedAt ?? '') - diedAt
    })()
    return foundMs
  }
  expect(await foundAfterMs(1_000)).toBeLessThanOrEqual((await foundAfterMs(0)) + pollMs)
})
