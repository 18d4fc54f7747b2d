/** What the daemon does when its own machine lets it down: its disk, its memory, its clock, its journal, its stop. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkJournal } from '../../src/control/journal-guard.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { JournalWriter } from '../../src/journal/journal.ts'
import Database from 'better-sqlite3'
import { SmallWorld } from '../daemon/small-world.ts'

const dead = 'cmp01'

/** Evacuations that Nova was asked for, against rows that say so: law L2. */
function recordedWrites(world: SmallWorld): { sent: number; intended: number } {
  const rows = world.journal
    .read({ kinds: ['step.intended'] })
    .filter((entry) => entry.kind === 'step.intended' && entry.data.kind === 'evacuate')
  return { sent: world.writes().filter((write) => write.endsWith('evacuate')).length, intended: rows.length }
}

test(
  'the verdict on each host is recorded, however many change in one poll',
  SmallWorld.run({ hosts: 3_000 }, ({ journal, simulator }) => {
    const named = journal.read({ kinds: ['verdict.changed'] }).map(({ host }) => host)
    expect(new Set(named)).toEqual(new Set(simulator.world.hosts.keys()))
    return Promise.resolve()
  }),
)

describe('a full disk in the middle of a recovery', () => {
  /** Nothing is sent while it lasts, the daemon lives and says so, and goes on by itself when there is space again. */
  const fills =
    (fill: (world: SmallWorld) => void, free: () => void) =>
    async (world: SmallWorld): Promise<void> => {
      const { clock, simulator, telemetry } = world
      const instances = Array.from({ length: 12 }, () => simulator.addInstance({ host: dead, state: 'paused' }).uuid)
      for (const host of simulator.world.hosts.keys()) simulator.fault(host, { slowSpawnMs: 20_000 })
      simulator.crash(dead)
      await world.until(() => world.writes().filter((write) => write.endsWith('evacuate')).length >= 3)
      fill(world)
      // What is being answered at this moment still ends; then everything stands still.
      await clock.advance(30_000)
      const before = world.writes()
      const polls = telemetry.health.progress().lastPollMs ?? 0
      await clock.advance(120_000)
      expect(world.writes()).toEqual(before)
      expect(telemetry.health.live()).toMatchObject({ ok: true })
      expect(telemetry.health.progress().lastPollMs).toBeGreaterThan(polls + 100_000)
      expect(telemetry.health.ready()).toMatchObject({
        ok: false,
        problems: [expect.stringContaining('The journal cannot be written')],
      })
      expect(world.log.map(({ event }) => event)).toContain('journal.unavailable')
      expect(await telemetry.metricsText()).toMatch(
        /lifeboat_journal_append_duration_seconds_count\{result="failed"\} [1-9]/,
      )
      free()
      const { closed } = await world.ended(dead)
      expect(closed?.outcome).toBe('done')
      expect(telemetry.health.ready()).toEqual({ ok: true, problems: [] })
      expect(world.alarms()).toContain('JOURNAL_UNAVAILABLE')
      expect(world.journal.verify().broken).toBeNull()
      const { sent, intended } = recordedWrites(world)
      expect(sent).toBe(instances.length)
      expect(intended).toBeGreaterThanOrEqual(sent)
      expect(simulator.truth().doubles).toEqual([])
      for (const uuid of instances)
        expect(simulator.instance(uuid)).toMatchObject({ vmState: 'stopped', locked: false })
    }

  // A file system of its own that is really full needs root.
  const mounted = process.getuid?.() === 0 ? mount() : null
  test.skipIf(mounted === null)('as a file system has it', async () => {
    if (mounted === null) return
    const filler = join(mounted.directory, 'filler')
    const fill = (): void => {
      const { bavail, bsize } = statfsSync(mounted.directory)
      writeFileSync(filler, Buffer.alloc(bavail * bsize))
    }
    try {
      await SmallWorld.run(
        { directory: mounted.directory },
        fills(fill, () => rmSync(filler)),
      )()
    } finally {
      mounted.unmount()
    }
  })

  test('as SQLite says it', async () => {
    let full = false
    const wrapJournal = (journal: JournalWriter): JournalWriter => ({
      ...journal,
      append: (entries) => {
        if (!full) return journal.append(entries)
        world?.telemetry.journalWrite({ tookMs: 1, problem: 'the disk is full' })
        throw new LifeboatError('JOURNAL_UNAVAILABLE', 'the disk is full')
      },
    })
    let world: SmallWorld | null = null
    const fill = (here: SmallWorld): void => {
      world = here
      full = true
    }
    await SmallWorld.run(
      { wrapJournal },
      fills(fill, () => (full = false)),
    )()
  })

  test(
    'a daemon that has nothing to do is ready again as soon as it can write',
    SmallWorld.run({}, async ({ clock, telemetry, journal, daemon }) => {
      const blocker = new Database(journal.path)
      blocker.exec('BEGIN IMMEDIATE')
      expect(() => void daemon.operations.pause({ by: 'ann', reason: 'x', until: null })).toThrow(
        'another process holds a lock',
      )
      expect(telemetry.health.ready().ok).toBe(false)
      blocker.exec('ROLLBACK')
      blocker.close()
      await clock.advance(6_000)
      expect(telemetry.health.ready()).toEqual({ ok: true, problems: [] })
    }),
  )
})

function mount(): { directory: string; unmount: () => void } | null {
  const directory = mkdtempSync(join(tmpdir(), 'lifeboat-full-'))
  const unmount = (): void => {
    execFileSync('umount', [directory], { stdio: 'ignore' })
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', directory], { stdio: 'ignore' })
    return { directory, unmount }
  } catch {
    rmSync(directory, { recursive: true, force: true })
    return null
  }
}

test(
  'a journal that is moved away under a quiet daemon shows at the next poll, nothing is done, and once it is back it goes on',
  SmallWorld.run({}, async (world) => {
    const { clock, simulator, telemetry, journal } = world
    simulator.addInstance({ host: dead, state: 'active' })
    renameSync(journal.path, `${journal.path}.away`)
    await clock.advance(6_000)
    expect(telemetry.health.ready()).toMatchObject({
      ok: false,
      problems: [expect.stringContaining('is not there any more')],
    })
    simulator.crash(dead)
    const before = world.writes()
    await clock.advance(120_000)
    expect(world.writes()).toEqual(before)
    renameSync(`${journal.path}.away`, journal.path)
    const { closed } = await world.ended(dead)
    expect(closed?.outcome).toBe('done')
    expect(telemetry.health.ready()).toEqual({ ok: true, problems: [] })
  }),
)

describe('a journal that no longer verifies', () => {
  const alter = (path: string, seq: number): void => {
    const db = new Database(path)
    db.exec(`DROP TRIGGER IF EXISTS entries_never_change; UPDATE entries SET actor = 'someone' WHERE seq = ${seq}`)
    db.close()
  }
  const check = ({ journal, telemetry }: SmallWorld): Promise<void> =>
    checkJournal({ journal, observer: telemetry.observer, pause: () => Promise.resolve() })

  test(
    'is alarmed, and recoveries are paused until a person resumes, over a restart too',
    SmallWorld.run({}, async (world) => {
      const { clock, simulator } = world
      await check(world)
      expect(world.alarms()).toEqual([])
      // Beyond what a start looks at.
      const filler = { kind: 'monitor.thawed', data: { reason: 'FILLER', frozenForMs: 1 } } as const
      world.journal.append(Array.from({ length: 1_100 }, () => filler))
      alter(world.path, 2)
      await check(world)
      expect(world.alarms()).toEqual(['JOURNAL_CORRUPT'])
      expect(world.daemon.operations.status().paused).toMatchObject({
        by: 'lifeboat',
        reason: expect.stringContaining('entry 2 does not fit the chain') as string,
        until: null,
      })
      expect(await world.telemetry.metricsText()).toContain('lifeboat_paused 1')
      await world.stop()
      world.compose()
      world.daemon.start()
      simulator.addInstance({ host: dead })
      await clock.advance(60_000)
      simulator.crash(dead)
      await world.until(() => world.incident(dead)?.held?.code === 'PAUSED')
      await clock.advance(120_000)
      expect(world.writes()).toEqual([])
      const until = new Date(world.clock.wall() + 7_200_000).toISOString()
      expect(() => void world.daemon.operations.pause({ by: 'ann', reason: 'looking', until })).toThrow(
        /^Recoveries are paused by lifeboat until ended .*; an order that ends sooner would replace that one/,
      )
      await world.daemon.operations.resume({ by: 'ann', reason: 'looked at it' })
      expect((await world.ended(dead)).closed?.outcome).toBe('done')
      // The next night: said again, and nothing is paused over what a person has seen.
      await check(world)
      expect(world.alarms()).toEqual(['JOURNAL_CORRUPT', 'JOURNAL_CORRUPT'])
      expect(world.daemon.operations.status().paused).toBeNull()
      alter(world.path, 1)
      await check(world)
      expect(world.daemon.operations.status().paused).toMatchObject({ by: 'lifeboat' })
    }),
  )
})

describe('memory', () => {
  test(
    'closed incidents are let go, and are read from the journal when someone asks',
    SmallWorld.run({}, async (world) => {
      const { clock, simulator, daemon } = world
      for (let round = 0; round < 3; round++) {
        simulator.addInstance({ host: dead })
        simulator.crash(dead)
        await world.until(() => daemon.store.open().length === 1)
        const { id } = await world.ended(dead)
        await clock.advance(1_000)
        expect(daemon.store.size).toBe(0)
        expect(daemon.operations.incident(id).instanceList).toHaveLength(1)
        expect(daemon.store.get(id).closed?.outcome).toBe('done')
        simulator.start(dead)
        simulator.world.host(dead).service.forcedDown = false
        simulator.world.host(dead).service.status = 'enabled'
        await world.until(() => daemon.monitor.verdict(dead)?.kind === 'healthy')
      }
      expect(daemon.operations.incidents({})).toHaveLength(3)
    }),
  )

  test('over the soft limit a new recovery waits for the one under way, and never for nothing', async () => {
    let rss = 100
    const parts = {
      memory: { rssBytes: () => rss, limitBytes: 1_000 },
      cloudBrake: { maxHosts: 9, maxShare: 1, failureDomain: null, coolDownMs: 0, steadyMs: 0, siteLossShare: 1 },
    }
    await SmallWorld.run({ hosts: 6, parts }, async (world) => {
      const { clock, simulator } = world
      for (const host of ['cmp01', 'cmp02']) simulator.addInstance({ host })
      for (const host of simulator.world.hosts.keys()) simulator.fault(host, { slowSpawnMs: 120_000 })
      simulator.crash('cmp01')
      await world.until(() => world.incident('cmp01')?.phase === 'recovering')
      rss = 2_000
      await clock.advance(20_000)
      expect(world.alarms()).toEqual(['MEMORY_HIGH'])
      simulator.crash('cmp02')
      await world.until(() => world.incident('cmp02')?.held?.code === 'MEMORY')
      expect(world.incident('cmp02')?.held?.message).toContain('finishes the recovery of cmp01 first')
      expect(world.incident('cmp01')?.held).toBeNull()
      // The first goes on and ends; only then the second begins, though there is no more memory than before.
      await world.ended('cmp01')
      expect(world.incident('cmp02')?.proof).toBeNull()
      expect((await world.ended('cmp02')).closed?.outcome).toBe('done')
      expect(world.alarms()).toEqual(['MEMORY_HIGH'])
    })()
  })
})

describe('an orderly stop', () => {
  test(
    'with fifty instances under way and answers that never come, it is over within the time limit of the unit',
    SmallWorld.run({ hosts: 6 }, async (world) => {
      const { clock, simulator } = world
      const instances = Array.from({ length: 50 }, () => simulator.addInstance({ host: dead, state: 'paused' }).uuid)
      simulator.apiFault({ kind: 'hang-after', method: 'POST', path: /\/action$/, body: /evacuate/, times: 30 })
      simulator.crash(dead)
      await world.until(() => world.writes().filter((write) => write.endsWith('evacuate')).length >= 25)
      const before = clock.now()
      simulator.apiFault({ kind: 'hang-before' })
      await world.stop()
      expect(clock.now() - before).toBeLessThan(75_000)
      const sentBefore = world.writes().length
      simulator.clearApiFaults()
      await clock.advance(60_000)
      expect(world.writes()).toHaveLength(sentBefore)
      world.compose()
      world.daemon.start()
      expect((await world.ended(dead)).closed?.outcome).toBe('done')
      expect(simulator.truth().doubles).toEqual([])
      for (const uuid of instances) {
        expect(simulator.instance(uuid)).toMatchObject({ vmState: 'stopped', locked: false })
        expect(simulator.evacuationsOf(uuid)).toHaveLength(1)
      }
    }),
    60_000,
  )
})

describe('a wall clock that is set back or forward by hours', () => {
  test.each([-7_200_000, 7_200_000])(
    'in the middle of a recovery (%i ms) changes nothing but the times that people read',
    (jump) =>
      SmallWorld.run({}, async (world) => {
        const { clock, simulator, journal } = world
        for (const host of simulator.world.hosts.keys()) simulator.fault(host, { slowSpawnMs: 30_000 })
        const { uuid } = simulator.addInstance({ host: dead, state: 'paused' })
        simulator.crash(dead)
        await world.until(() => world.incident(dead)?.phase === 'recovering')
        await clock.advance(2_000)
        const jumpedAt = clock.now()
        world.stepWall(jump)
        const { closed } = await world.ended(dead)
        expect(closed?.outcome).toBe('done')
        expect(clock.now() - jumpedAt).toBeLessThan(120_000)
        expect(simulator.evacuationsOf(uuid)).toHaveLength(1)
        const entries = journal.read()
        expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
        const goesBack = entries.some(({ at }, index) => at < (entries[index - 1]?.at ?? ''))
        expect(goesBack).toBe(jump < 0)
        expect(journal.verify().broken).toBeNull()
      })(),
  )

  test(
    'a pause lasts as long as its person meant it, whatever is done to the clocks',
    SmallWorld.run({}, async (world) => {
      const { clock, daemon } = world
      const until = new Date(clock.wall() + 600_000).toISOString()
      await daemon.operations.pause({ by: 'ann', reason: 'work on the storage', until })
      world.stepWall(14_400_000)
      await clock.advance(300_000)
      expect(daemon.operations.status().paused).toMatchObject({ by: 'ann', until })
      world.stepWall(-28_800_000)
      await clock.advance(330_000)
      expect(daemon.operations.status().paused).toBeNull()
    }),
  )
})
