/**
 * Journals of incidents of hosts that live, as earlier code wrote them: of nova-compute, and of what monitors reported. They are opened,
 * proven, listed and reported as they were, whatever their kinds of entries have come to mean since.
 */
import { copyFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { failureOf, foldIncidents, type Failure } from '../../src/domain/incident.ts'
import { openJournal } from '../../src/journal/journal.ts'
import { openJournalReader } from '../../src/journal/reader.ts'
import { SmallWorld } from '../daemon/small-world.ts'
import { temporaryDirectory, testClock } from './fixtures.ts'
import { reports } from './release-reports.ts'

const folder = fileURLToPath(new URL('./releases-living-hosts/', import.meta.url))

interface Told {
  /** How each incident of a process ended, in the order in which they were opened. */
  processes: (string | undefined)[]
  /** How each incident of a guest ended, likewise. */
  guests: (string | undefined)[]
  /** How each report was settled, likewise. */
  reports: string[]
}

const told: Record<string, Told> = {
  'a-reported-nova-compute-is-disabled-at-once': { processes: ['returned'], guests: [], reports: ['finished'] },
  'a-nova-compute-is-down': { processes: [undefined], guests: [], reports: [] },
  'a-guest-crashes-and-is-restarted': { processes: [], guests: ['done'], reports: ['finished'] },
  'a-crashed-guest-waits': { processes: [], guests: [undefined], reports: [] },
  'more-nova-computes-are-reported-than-the-brake-allows': {
    processes: ['returned', 'returned', 'returned', 'returned', 'returned'],
    guests: [],
    reports: ['finished', 'finished', 'finished', 'finished', 'finished'],
  },
}

const recorded = readdirSync(folder).flatMap((release) =>
  readdirSync(join(folder, release)).map((file) => [release, file.slice(0, -'.db'.length)] as const),
)

describe.each(recorded)('%s, %s', (release, name) => {
  const copy = (): string => {
    const path = join(temporaryDirectory(), 'journal.db')
    copyFileSync(join(folder, release, `${name}.db`), path)
    return path
  }

  test('verifies, tells how each incident and each report ended, and is reported word by word as before', () => {
    const reader = openJournalReader(copy())
    expect(reader.verify()).toMatchObject({ broken: null })
    const entries = reader.read()
    const incidents = [...foldIncidents(entries).values()]
    const ended = (failure: Failure) =>
      incidents.filter((incident) => failureOf(incident) === failure).map(({ closed }) => closed?.outcome)
    const settled = entries.flatMap((entry) => (entry.kind === 'report.settled' ? [entry.data.status] : []))
    expect({ processes: ended('process'), guests: ended('instance'), reports: settled }).toEqual(told[name])
    const { now, known } = reports(
      release,
      name,
      new Map(incidents.map(({ id }) => [id, reader.read({ incident: id })])),
    )
    expect(now).toBe(known)
    reader.close()
  })

  test('is listed alike before and after its tables are made again', () => {
    const journal = openJournal(copy(), { clock: testClock() })
    const listed = journal.incidents({})
    expect(listed.filter(({ process }) => process === 'nova-compute')).toHaveLength(told[name]?.processes.length ?? -1)
    expect(listed.filter(({ crashed }) => crashed !== null)).toHaveLength(told[name]?.guests.length ?? -1)
    journal.rebuild()
    expect(journal.incidents({})).toEqual(listed)
    journal.close()
  })
})

/** A daemon of today over a journal whose incidents began without a workflow of their own. */
function goesOn(name: string, test: (world: SmallWorld) => Promise<void>): () => Promise<void> {
  return SmallWorld.run({}, async (world) => {
    await world.stop()
    for (const beside of ['-wal', '-shm', '.head']) rmSync(`${world.path}${beside}`, { force: true })
    copyFileSync(join(folder, '0.1.0-2026-11-25', `${name}.db`), world.path)
    // Later than its last entry.
    await world.clock.advance(600_000)
    world.compose()
    await test(world)
  })
}

describe('an incident of an older release that is open', () => {
  test(
    'of a guest is ended by the workflow in force, and its report with it',
    goesOn('a-crashed-guest-waits', async (world) => {
      const { simulator, daemon, journal } = world
      const uuid = journal.read({ kinds: ['instance.failed'] })[0]?.instance ?? ''
      simulator.addInstance({ uuid, host: 'cmp01', name: 'web', metadata: { HA_Enabled: 'true' } })
      simulator.crashGuest(uuid, { unheard: true })
      daemon.start()
      await world.until(() => world.incident('cmp01')?.held?.code === 'PAUSED')
      await daemon.operations.resume({ by: 'ann', reason: 'done' })
      const { instances, closed } = await world.ended('cmp01')
      expect([closed?.outcome, instances.get(uuid)?.outcome?.code]).toEqual(['done', 'RESTARTED'])
      expect(world.writes()).toEqual(['POST reboot'])
      expect(daemon.reports.list()).toMatchObject([{ status: 'finished' }])
      expect(journal.verify().broken).toBeNull()
    }),
  )

  test(
    'of a nova-compute is ended, and its service enabled as its segment says',
    goesOn('a-nova-compute-is-down', async (world) => {
      const { simulator, daemon, journal } = world
      const { service } = simulator.world.host('cmp01')
      const [aside] = journal
        .read({ kinds: ['service.set-aside'] })
        .flatMap(({ data }) => ('serviceId' in data && 'reason' in data ? [data] : []))
      Object.assign(service, { uuid: aside?.serviceId, status: 'disabled', disabledReason: aside?.reason })
      daemon.start()
      expect((await world.ended('cmp01')).closed?.outcome).toBe('returned')
      await world.until(() => service.status === 'enabled')
      expect(world.writes()).toHaveLength(1)
      expect(journal.verify().broken).toBeNull()
    }),
  )
})
