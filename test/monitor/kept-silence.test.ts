/** A monitor that starts again and again, each time with what the run before put on record. Beats of 2 s, start silence of 8 s. */
import { expect, it } from 'vitest'
import type { SilenceOnRecord } from '../../src/domain/silence.ts'
import { Fleet } from './setup.ts'

const names = ['cmp01', 'cmp02', 'cmp03', 'cmp04']

/** Runs of 1.5 s with a pause of half a second between, until `ms` are over. Gives what ended it and the records written. */
async function looping(fleet: Fleet, ms: number): Promise<{ dead: string[]; froze: string[]; records: number }> {
  let record: (SilenceOnRecord & { at: string }) | null = null
  const seen = { dead: [] as string[], froze: [] as string[], records: 0 }
  for (const end = fleet.clock.now() + ms; fleet.clock.now() < end; fleet.pass(500)) {
    fleet.startAgain(record)
    await fleet.run(1_500, (report) => {
      for (const { host, kind } of report.changed) if (kind === 'host-down') seen.dead.push(host)
      if (report.froze) seen.froze.push(report.froze.reason)
      if (report.silence) {
        record = { ...report.silence, at: new Date(fleet.clock.wall()).toISOString() }
        seen.records += 1
      }
      return false
    })
    if (seen.dead.length > 0 || seen.froze.length > 0) return seen
  }
  return seen
}

it('finds a dead host, though no run sees more than a heartbeat of it', async () => {
  const fleet = new Fleet(names)
  await fleet.run(20_000)
  fleet.silence('cmp01')
  expect((await looping(fleet, 40_000)).dead).toEqual(['cmp01'])
})

it('asks the witnesses before it concludes anything of a silence that began before', async () => {
  const fleet = new Fleet(names, { probes: ['tcp', 'ping'] })
  await fleet.run(20_000)
  fleet.silence('cmp01')
  fleet.probe('ping', { cmp01: 'alive' })
  expect((await looping(fleet, 60_000)).dead).toEqual([])
  expect(fleet.kind('cmp01')).toBe('service-down')
})

it('calls nobody dead while no heartbeat gets through, and freezes', async () => {
  const fleet = new Fleet(names)
  await fleet.run(20_000)
  fleet.silence(...names)
  expect(await looping(fleet, 60_000)).toMatchObject({ dead: [], froze: ['MASS_SILENCE'] })
})

it('puts nothing on record of a fleet that beats, nor in a run that stands alone', async () => {
  const fleet = new Fleet(names)
  await fleet.run(20_000)
  expect((await looping(fleet, 20_000)).records).toBe(0)
  const alone = new Fleet(names)
  alone.silence('cmp01')
  await alone.run(30_000)
  expect(alone.reports.flatMap(({ silence }) => silence ?? [])).toEqual([])
})

it('puts nothing on record any more once the run is long enough to judge', async () => {
  const fleet = new Fleet(names)
  fleet.silence('cmp01')
  fleet.startAgain(null)
  await fleet.run(60_000)
  const last = fleet.reports.findLast(({ silence }) => silence !== undefined)
  expect(last?.silence?.hosts[0]?.silentMs).toBeLessThan(8_000 + 2.5 * 2_000 + 4_000 + 1)
  expect(fleet.reports.filter(({ silence }) => silence !== undefined).length).toBeGreaterThan(10)
})
