/** A daemon that is stopped in the middle of a recovery and continued once the host is back, on a real Nova. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Entry } from '../../src/domain/entry.ts'
import { until } from './daemon-process.ts'
import { lab } from './lab.ts'
import { LabStage, pauseMs } from './stage.ts'

const dead = 'cmp01'
let stage: LabStage

beforeAll(async () => {
  stage = await LabStage.open('stopped')
})

beforeEach(() => {
  stage.freshDaemon({ segment: { max_parallel_per_host: 1 } })
})

afterEach(async () => {
  stage.daemon.goOn()
  await stage.tidy()
})

afterAll(() => stage.close())

const taken = ({ kind, instance, step }: Entry, what: string): boolean =>
  kind === what && instance !== null && step?.includes('.evacuate.') === true
const moments: [string, (entry: Entry) => boolean][] = [
  ['the incident is opened', ({ kind }) => kind === 'incident.opened'],
  ['fencing begins', ({ kind }) => kind === 'fence.attempt'],
  ['the host is proven dead', ({ kind }) => kind === 'proof.recorded'],
  [
    'the host is to be forced down',
    ({ kind, step }) => kind === 'step.intended' && step?.startsWith('host.force-down') === true,
  ],
  [
    'the host is forced down',
    ({ kind, step }) => kind === 'step.confirmed' && step?.startsWith('host.force-down') === true,
  ],
  ['the survey begins', ({ kind, data }) => kind === 'incident.phase' && 'to' in data && data.to === 'surveying'],
  ['the plan is made', ({ kind }) => kind === 'plan.made'],
  ['the first evacuation is intended', (entry) => taken(entry, 'step.intended')],
  ['the first evacuation was taken', (entry) => taken(entry, 'step.issued')],
  ['the first evacuation has landed', (entry) => taken(entry, 'step.confirmed')],
]
/** One of them takes half a minute: three stand for all, and LIFEBOAT_LAB_SWEEP=all tries each. */
const tried = process.env['LIFEBOAT_LAB_SWEEP'] === 'all' ? moments : [moments[1]!, moments[2]!, moments[8]!]

describe('a process that is stopped', () => {
  it.each(tried)('as %s sends nothing more once it goes on, for the host is back', async (_moment, reached) => {
    const ids = await stage.watchBeside(stage.tenants.bootMany(4, dead))
    await lab('crash', dead)
    await until('the moment', () => Promise.resolve(stage.has(reached)))
    stage.daemon.standStill()
    const sent = async (): Promise<number> => (await Promise.all(ids.map((id) => stage.evacuations(id)))).flat().length
    const service = (): Promise<{ status: string; forced_down: boolean }> => stage.tenants.steps.service(dead)
    const flags = async (): Promise<unknown> => {
      const { status, forced_down: forcedDown } = await service()
      return { status, forcedDown }
    }
    await lab('bmc', dead, 'power=On')
    await lab('start', dead)
    await pauseMs(12_000)
    const before = { evacuations: await sent(), flags: await flags() }
    const rows = stage.daemon.entries().length
    stage.daemon.goOn()
    await until('it has said why it waits', () =>
      Promise.resolve(
        stage.daemon
          .entries()
          .slice(rows)
          .some(
            (entry) =>
              entry.kind === 'incident.closed' || (entry.kind === 'incident.held' && entry.data.code === 'HOST_ALIVE'),
          ),
      ),
    )
    await pauseMs(4_000)
    expect({ evacuations: await sent(), flags: await flags() }).toEqual(before)
    expect(JSON.parse(await lab('bmc', dead))).toMatchObject({ power: 'On' })
  })
})
