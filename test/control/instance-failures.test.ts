/** Crash reports in the running daemon, where it is their number that counts. How single crashes end is told by the scenarios. */
import { describe, expect, it } from 'vitest'
import type { NewEntry } from '../../src/domain/entry.ts'
import type { Outcome } from '../../src/domain/outcome.ts'
import type { JournalWriter } from '../../src/journal/journal.ts'
import type { Deliver } from '../../src/notices/delivery.ts'
import { english, worded } from '../../src/notices/texts.ts'
import { People } from '../../src/rehearsal/people.ts'
import { SmallWorld } from '../daemon/small-world.ts'
import { everything, owners, taken } from '../notices/rig.ts'

const heldForMs = 600_000

/** Reads of one instance, aggregates, volumes and hypervisors at one look, and a few more. */
const readsALook = 5

describe('an instance that crashed and is held', () => {
  it(
    'is looked at twice a minute, and restarted as soon as nothing holds it',
    SmallWorld.run({}, async (world) => {
      const { simulator, daemon, clock } = world
      const { uuid } = simulator.addInstance({ host: 'cmp01', name: 'web', metadata: { HA_Enabled: 'true' } })
      await daemon.operations.pause({ by: 'ann', reason: 'network works', until: null })
      simulator.crashGuest(uuid, { unheard: true })
      const payload = { event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED', instance_uuid: uuid }
      const generatedAt = new Date(clock.wall()).toISOString()
      daemon.reports.receive({ about: 'VM', host: 'cmp01', payload, by: 'monitor', via: null, generatedAt })
      await world.until(() => world.incident('cmp01')?.held?.code === 'PAUSED')
      const before = asked(world, uuid)
      await clock.advance(heldForMs)
      expect(asked(world, uuid) - before).toBeLessThanOrEqual((readsALook * heldForMs) / 30_000)
      await daemon.operations.resume({ by: 'ann', reason: 'done' })
      await world.ended('cmp01')
      expect(simulator.truth().running[uuid]).toEqual(['cmp01'])
    }),
  )
})

describe('a guest that its owner wants restarted', () => {
  it(
    'is ordered to run again within ten seconds of the report, and its incident says by whose word, why, by which call and request',
    SmallWorld.run({}, async (world) => {
      const { simulator, clock, journal } = world
      const { uuid } = simulator.addInstance({ host: 'cmp01', name: 'web', metadata: { HA_Enabled: 'true' } })
      simulator.crashGuest(uuid, { unheard: true })
      const reportedAt = clock.wall()
      reportCrash(world, uuid)
      const incident = await world.ended('cmp01')
      const [issued] = journal.read({ incident: incident.id, kinds: ['step.issued'] })
      expect(Date.parse(issued?.at ?? '') - reportedAt).toBeLessThan(10_000)
      const order = simulator.requests().find(({ action }) => action === 'reboot')
      expect(issued?.data).toMatchObject({ requestId: order?.requestId })
      const [opened] = journal.read({ incident: incident.id, kinds: ['instance.failed'] })
      expect(opened).toMatchObject({ actor: 'operator:monitor', data: { event: 'STOPPED_FAILED' } })
      expect(incident.instances.get(uuid)?.plan).toMatchObject({
        rule: 'crashed',
        message: 'Its guest crashed: its hypervisor says that it does not run',
      })
      expect(world.writes()).toEqual(['POST reboot'])
      expect(world.daemon.operations.incidents({})).toHaveLength(1)
    }),
  )
})

describe('a crash that is reported again and again', () => {
  it(
    'is looked at ten seconds after the first report, though the reports go on',
    SmallWorld.run({}, async (world) => {
      const { simulator, clock } = world
      const { uuid } = simulator.addInstance({ host: 'cmp01', name: 'web', metadata: { HA_Enabled: 'true' } })
      simulator.crashGuest(uuid, { unheard: true })
      reportCrash(world, uuid)
      for (let seconds = 0; seconds < 12; seconds += 2) {
        await clock.advance(2_000)
        expect(() => reportCrash(world, uuid)).toThrow('duplicate')
      }
      expect(world.writes()).toEqual(['POST reboot'])
    }),
  )
})

describe('a report of a crash that its monitor only sends again, for it did not get the answer', () => {
  it(
    'tells of no other crash: nobody looks because of it',
    SmallWorld.run({}, async (world) => {
      const { simulator, daemon, clock } = world
      const { uuid } = simulator.addInstance({ host: 'cmp01', name: 'web', metadata: { HA_Enabled: 'true' } })
      await daemon.operations.pause({ by: 'ann', reason: 'network works', until: null })
      simulator.crashGuest(uuid, { unheard: true })
      const generatedAt = new Date(clock.wall()).toISOString()
      reportCrash(world, uuid, generatedAt)
      await world.until(() => world.incident('cmp01')?.held?.code === 'PAUSED')
      const before = asked(world, uuid)
      expect(() => reportCrash(world, uuid, generatedAt)).toThrow('duplicate')
      await clock.advance(10_000)
      expect(asked(world, uuid)).toBe(before)
      expect(() => reportCrash(world, uuid)).toThrow('duplicate')
      await clock.advance(10_000)
      expect(asked(world, uuid)).toBeGreaterThan(before)
    }),
  )
})

/** How a guest ends, or rests, that did not crash: shut down from within or by SIGTERM, destroyed, reset, suspended. */
const noCrash = [
  { event: 'LIFECYCLE', vir_domain_event: 'STOPPED_SHUTDOWN' },
  { event: 'LIFECYCLE', vir_domain_event: 'STOPPED_DESTROYED' },
  { event: 'LIFECYCLE', vir_domain_event: 'SHUTDOWN_FINISHED' },
  { event: 'LIFECYCLE', vir_domain_event: 'SUSPENDED_PAUSED' },
  { event: 'REBOOT', vir_domain_event: 'UNKNOWN' },
]

describe('ten thousand events of guests that did not crash', () => {
  it(
    'send nothing, and do not lengthen the journal',
    SmallWorld.run({ hosts: 9 }, async (world) => {
      const { daemon, clock, journal } = world
      const before = journal.read().length
      const received = Array.from({ length: 10_000 }, (_, n) => {
        const instance = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
        const host = `cmp0${(n % 9) + 1}`
        const payload = { ...noCrash[n % noCrash.length], instance_uuid: instance }
        const generatedAt = new Date(clock.wall() + n).toISOString()
        return daemon.reports.receive({ about: 'VM', host, payload, by: 'monitor', via: null, generatedAt })
      })
      expect(new Set(received.map(({ status }) => status))).toEqual(new Set(['ignored']))
      await clock.advance(60_000)
      expect(journal.read()).toHaveLength(before)
      expect(world.writes()).toEqual([])
    }),
  )
})

describe('fifty reports of crashes in the seconds before their host dies', () => {
  it(
    'give one incident, of the host, and no restart on it',
    SmallWorld.run({ hosts: 8 }, async (world) => {
      const { simulator, daemon, clock } = world
      const guests = Array.from({ length: 50 }, (_, n) =>
        simulator.addInstance({ host: 'cmp01', name: `web-${n}`, metadata: { HA_Enabled: 'true' } }),
      )
      await clock.advance(30_000)
      for (const { uuid } of guests) {
        const payload = { event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED', instance_uuid: uuid }
        const generatedAt = new Date(clock.wall()).toISOString()
        simulator.crashGuest(uuid, { unheard: true })
        daemon.reports.receive({ about: 'VM', host: 'cmp01', payload, by: 'monitor', via: null, generatedAt })
        await clock.advance(50)
      }
      simulator.crash('cmp01')
      await world.until(() => closedOfHost(world).length > 0)
      expect(closedOfHost(world)).toHaveLength(1)
      expect(world.writes().filter((write) => write.includes('reboot') || write.includes('start'))).toEqual([])
      expect(closedOfHost(world)[0]?.outcomes).toEqual({ recovered: 50 })
    }),
  )
})

describe('a crash that is reported in the moment in which the crash before it ends', () => {
  it('is looked at as any other', async () => {
    let receive = (): void => undefined
    const wrapJournal = (journal: JournalWriter): JournalWriter => ({
      ...journal,
      append: (entries) => {
        const appended = journal.append(entries)
        if (entries.some(({ kind }) => kind === 'report.settled')) queueMicrotask(() => receive())
        return appended
      },
    })
    await SmallWorld.run({ wrapJournal }, async (world) => {
      const { simulator, daemon, clock } = world
      const { uuid } = simulator.addInstance({ host: 'cmp01', name: 'web', metadata: { HA_Enabled: 'true' } })
      await clock.advance(30_000)
      const crash = (): void => {
        receive = () => undefined
        simulator.crashGuest(uuid, { unheard: true })
        const payload = { event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED', instance_uuid: uuid }
        const generatedAt = new Date(clock.wall()).toISOString()
        daemon.reports.receive({ about: 'VM', host: 'cmp01', payload, by: 'monitor', via: null, generatedAt })
      }
      crash()
      receive = crash
      await world.until(() => daemon.operations.incidents({ host: 'cmp01' }).length === 2)
      await world.until(() => daemon.operations.incidents({ host: 'cmp01' }).every(({ ended }) => ended !== null))
      expect(simulator.truth().running[uuid]).toEqual(['cmp01'])
      expect(daemon.reports.list().map(({ status }) => status)).toEqual(['finished', 'finished'])
    })()
  })
})

describe('a report of a crash whose incident a person has cancelled', () => {
  it(
    'restarts nothing',
    SmallWorld.run({}, async (world) => {
      const { simulator, daemon } = world
      const { uuid } = simulator.addInstance({ host: 'cmp01', name: 'web', metadata: { HA_Enabled: 'true' } })
      await daemon.operations.pause({ by: 'ann', reason: 'network works', until: null })
      simulator.crashGuest(uuid, { unheard: true })
      reportCrash(world, uuid)
      await world.until(() => world.incident('cmp01')?.held?.code === 'PAUSED')
      await daemon.operations.cancel(world.incident('cmp01')?.id ?? '', { by: 'ann', reason: 'it is to stay off' })
      await world.ended('cmp01')
      await daemon.operations.resume({ by: 'ann', reason: 'done' })
      const late = reportCrash(world, uuid)
      await world.until(() => statusOf(world, late) !== 'running')
      expect(statusOf(world, late)).toBe('ignored')
      expect(simulator.truth().running[uuid] ?? []).toEqual([])
    }),
  )
})

describe('a crash of which more than one incident could be open', () => {
  /** As another daemon on the same journal would have written them: the rows that opened the crash's newest incident. */
  const opensAgain = ({ journal }: SmallWorld, uuid: string, incident: string): void => {
    const rows = journal.read({ instance: uuid, kinds: ['instance.failed', 'plan.made'] }).slice(-2)
    journal.append(rows.map(({ kind, host, instance, data }) => ({ kind, host, instance, data, incident }) as NewEntry))
  }

  const crashes = (world: SmallWorld, uuid: string): string => {
    world.simulator.crashGuest(uuid, { unheard: true })
    return reportCrash(world, uuid)
  }

  const web = ({ simulator }: SmallWorld): string =>
    simulator.addInstance({ host: 'cmp01', name: 'web', metadata: { HA_Enabled: 'true' } }).uuid

  it(
    'gets no second one beside one that is open: the report goes on with that',
    SmallWorld.run({}, async (world) => {
      const uuid = web(world)
      const first = crashes(world, uuid)
      await world.until(() => statusOf(world, first) === 'finished')
      opensAgain(world, uuid, 'opened-by-another')
      const second = crashes(world, uuid)
      await world.until(() => statusOf(world, second) === 'finished')
      expect(world.daemon.reports.list()[0]?.incident).toBe('opened-by-another')
      expect(world.daemon.operations.incidents({ host: 'cmp01' })).toHaveLength(2)
      expect(open(world)).toEqual([])
    }),
  )

  /** A start finds two of one crash: the report's, which was held, and a newer one. Gives how both end. */
  const startsWithTwo = async (world: SmallWorld, uuid: string, between: NewEntry[] = []): Promise<string[]> => {
    const report = crashes(world, uuid)
    await world.until(() => world.incident('cmp01')?.held?.code === 'PAUSED')
    const incident = world.incident('cmp01')?.id ?? ''
    await world.clock.run(world.daemon.stop('test'))
    opensAgain(world, uuid, 'the newer one')
    world.journal.append(between.map((entry) => ({ ...entry, incident, host: 'cmp01' })))
    world.journal.close()
    world.compose()
    world.daemon.start()
    await world.daemon.operations.resume({ by: 'ann', reason: 'done' })
    await world.until(() => !['new', 'running'].includes(statusOf(world, report) ?? ''))
    expect(open(world)).toEqual([])
    return world.journal
      .read({ instance: uuid, kinds: ['outcome.recorded'] })
      .map((it) => `${it.incident === incident ? 'the first' : it.incident}: ${(it.data as Outcome).code}`)
  }

  it(
    'goes on with the newest where a start finds two, and ends the other one',
    SmallWorld.run({}, async (world) => {
      const uuid = web(world)
      await world.daemon.operations.pause({ by: 'ann', reason: 'network works', until: null })
      expect(await startsWithTwo(world, uuid)).toEqual(['the first: SAME_CRASH', 'the newer one: RESTARTED'])
      expect(world.writes()).toEqual(['POST reboot'])
    }),
  )

  it(
    'goes on with the one that a person cancelled, and a report that comes again restarts nothing either',
    SmallWorld.run({}, async (world) => {
      const uuid = web(world)
      await world.daemon.operations.pause({ by: 'ann', reason: 'network works', until: null })
      const cancelled: NewEntry = { kind: 'operator.cancelled', data: { by: 'ann', reason: 'it is to stay off' } }
      expect(await startsWithTwo(world, uuid, [cancelled])).toEqual([
        ...['the newer one: SAME_CRASH', 'the first: CANCELLED'],
      ])
      const again = reportCrash(world, uuid)
      await world.until(() => statusOf(world, again) !== 'running')
      expect(statusOf(world, again)).toBe('ignored')
      expect(world.writes()).toEqual([])
    }),
  )
})

describe('the journal of an instance', () => {
  it(
    'has its reports, whatever came of them, and all of its crashes, down to a hold and its end',
    SmallWorld.run({}, async (world) => {
      const { simulator, daemon, journal } = world
      const { uuid } = simulator.addInstance({ host: 'cmp01', name: 'web', metadata: { HA_Enabled: 'true' } })
      const other = simulator.addInstance({ host: 'cmp01', name: 'api' }).uuid
      await daemon.operations.pause({ by: 'ann', reason: 'network works', until: null })
      for (const id of [uuid, other]) {
        simulator.crashGuest(id, { unheard: true })
        reportCrash(world, id)
      }
      await world.until(() => world.incident('cmp01')?.held?.code === 'PAUSED')
      await daemon.operations.resume({ by: 'ann', reason: 'done' })
      await world.ended('cmp01')
      const kinds = (id: string) => journal.read({ allOfInstance: id }).map(({ kind }) => kind)
      expect(kinds(uuid)).toEqual([
        ...['report.received', 'instance.failed', 'plan.made', 'incident.held', 'incident.continued'],
        ...['step.intended', 'step.issued', 'step.confirmed', 'outcome.recorded', 'incident.closed', 'report.settled'],
      ])
      expect(kinds(other)).toEqual(['report.received', 'report.settled'])
    }),
  )
})

describe('a daemon whose clock is ahead of the clock of Nova', () => {
  const aheadMs = 60_000

  it(
    'finds and counts the reboot whose answer was lost',
    SmallWorld.run({}, async (world) => {
      const { simulator, journal } = world
      const { uuid } = simulator.addInstance({ host: 'cmp01', name: 'web', metadata: { HA_Enabled: 'true' } })
      world.stepWall(aheadMs)
      simulator.apiFault({ kind: 'drop-after', body: /reboot/, times: 1 })
      simulator.crashGuest(uuid, { unheard: true })
      reportCrash(world, uuid)
      const { instances } = await world.ended('cmp01')
      expect(instances.get(uuid)?.outcome?.code).toBe('RESTARTED')
      expect(journal.read({ instance: uuid, kinds: ['step.issued'] })).toHaveLength(1)
      expect(world.writes().filter((write) => write.includes('reboot'))).toHaveLength(1)
    }),
  )

  it(
    'finds the stop that its owner gave while it was rebooted',
    SmallWorld.run({}, async (world) => {
      const { simulator, journal, clock } = world
      const owners = new People(simulator, (id) => id)
      const { uuid } = simulator.addInstance({ host: 'cmp01', name: 'web', metadata: { HA_Enabled: 'true' } })
      world.stepWall(aheadMs)
      simulator.apiFault({ kind: 'act-late', body: /reboot/, times: 1, delayMs: 5_000 })
      simulator.crashGuest(uuid, { unheard: true })
      reportCrash(world, uuid)
      await world.until(() => journal.read({ instance: uuid, kinds: ['step.intended'] }).length > 0)
      await clock.run(owners.server({ instance: uuid, action: 'os-stop', as: 'tenant' }))
      await world.ended('cmp01')
      expect(simulator.truth().running[uuid] ?? []).toEqual([])
    }),
  )
})

describe('a guest that crashes again and again', () => {
  /** What each receiver was told, as people read it. */
  const told: Record<string, string[]> = {}
  const teller =
    (receiver: string): Deliver =>
    ({ notice }) => {
      const { text } = worded(notice, english, { cloud: null, link: null, showHosts: false })
      told[receiver] = [...(told[receiver] ?? []), text]
      return Promise.resolve(taken)
    }
  const limits = { freezeDelayMs: 30_000, giveUpAfterMs: 3_600_000, queueLimit: 100, maxInstances: 3 }
  const receivers = new Map([
    ['pager', { ...everything, least: 'critical' as const }],
    ['owners', { ...owners, least: 'critical' as const }],
  ])
  const notices = {
    rules: { ...limits, receivers },
    deliver: new Map([...receivers.keys()].map((name) => [name, teller(name)])),
  }

  it(
    'stays off after the third restart; its owner and the operators are told how often it was restarted and why no more, and a person lets it go on',
    SmallWorld.run({ parts: { notices } }, async (world) => {
      const { simulator, daemon, clock } = world
      const { uuid } = simulator.addInstance({ host: 'cmp01', name: 'web', metadata: { HA_Enabled: 'true' } })
      for (let restart = 0; restart < 3; restart++) {
        simulator.crashGuest(uuid, { unheard: true })
        const reported = reportCrash(world, uuid)
        await world.until(() => statusOf(world, reported) === 'finished')
        await clock.advance(1_000)
      }
      expect(told).toEqual({})
      simulator.crashGuest(uuid, { unheard: true })
      const last = reportCrash(world, uuid)
      await world.until(() => open(world)[0]?.held?.code === 'RESTARTS_SPENT')
      await clock.advance(heldForMs)
      expect([world.writes(), statusOf(world, last)]).toEqual([Array(3).fill('POST reboot'), 'error'])
      expect(told).toEqual({
        pager: [expect.stringContaining('web: recovery on hold: it crashed again after 3 restarts within 1 h')],
        owners: [
          expect.stringContaining(
            `- web (${uuid}): crashed after 3 restarts, and stays off until the operators have looked into it`,
          ),
        ],
      })
      await daemon.operations.override(open(world)[0]?.id ?? '', { by: 'ann', reason: 'its memory was too small' })
      await world.until(() => statusOf(world, last) === 'finished')
      expect(simulator.truth().running[uuid]).toEqual(['cmp01'])
    }),
  )
})

describe('a wall clock that is set', () => {
  it.each([['forward'], ['back']])(
    '%s gives a guest that crashes again and again no restarts beyond the allowed ones',
    async (direction) => {
      await SmallWorld.run({}, async (world) => {
        const { uuid } = world.simulator.addInstance({
          host: 'cmp01',
          name: 'web',
          metadata: { HA_Enabled: 'true' },
        })
        for (let crash = 0; crash < 3; crash++) {
          world.simulator.crashGuest(uuid, { unheard: true })
          const reported = reportCrash(world, uuid)
          await world.until(() => statusOf(world, reported) === 'finished')
          world.stepWall(direction === 'forward' ? 2 * 3_600_000 : -2 * 3_600_000)
          await world.clock.advance(1_000)
        }
        world.simulator.crashGuest(uuid, { unheard: true })
        reportCrash(world, uuid)
        await world.until(() => open(world)[0]?.held?.code === 'RESTARTS_SPENT')
      })()
    },
  )

  it(
    'back holds restarts on a host no longer than ten minutes after its last crash',
    SmallWorld.run({}, async (world) => {
      const guests = Array.from({ length: 6 }, (_, n) =>
        world.simulator.addInstance({ host: 'cmp01', name: `web-${n}`, metadata: { HA_Enabled: 'true' } }),
      )
      for (const { uuid } of guests) {
        world.simulator.crashGuest(uuid, { unheard: true })
        reportCrash(world, uuid)
      }
      await world.until(() => open(world).some(({ held }) => held?.code === 'CRASHES_ON_HOST'))
      world.stepWall(-6 * 3_600_000)
      await world.until(() => open(world).length === 0, 660_000)
      expect(guests.map(({ uuid }) => world.simulator.truth().running[uuid])).toEqual(guests.map(() => ['cmp01']))
    }),
  )
})

function reportCrash(
  { daemon, clock }: SmallWorld,
  uuid: string,
  generatedAt = new Date(clock.wall()).toISOString(),
): string {
  const payload = { event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED', instance_uuid: uuid }
  const order = { about: 'VM' as const, host: 'cmp01', payload, by: 'monitor', via: null, generatedAt }
  return daemon.reports.receive(order).uuid
}

function statusOf({ daemon }: SmallWorld, uuid: string): string | undefined {
  return daemon.reports.list().find((report) => report.uuid === uuid)?.status
}

const open = ({ daemon }: SmallWorld) => daemon.operations.incidents({ host: 'cmp01', open: true })

const closedOfHost = ({ daemon }: SmallWorld) =>
  daemon.operations.incidents({ host: 'cmp01' }).filter(({ crashed, ended }) => crashed === null && ended !== null)

function asked({ simulator }: SmallWorld, uuid: string): number {
  return simulator.requests().filter(({ path }) => path.includes(uuid)).length
}
