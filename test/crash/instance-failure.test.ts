/**
 * A daemon that deals with a crashed guest is killed at every commit, before it and after it. The next daemon over the same journal brings
 * the guest back, orders no second restart, and settles the report: once it was answered with 202 it is never lost.
 */
import { describe, expect, it } from 'vitest'
import { People } from '../../src/rehearsal/people.ts'
import { beatMs, deathsAt, inACloud, onRecord, workflow, type Place } from './living-host.ts'
import { MortalDaemon, type Death } from './mortal-daemon.ts'

/** As Nova's libvirt driver keeps a guest's end to itself, and as long as a reboot takes there. */
const timings = { lifecycleDelayMs: 15_000, rebootMs: 2_000 }

/** When the report comes: while Nova still shows the guest active, and after its power sync has stopped it. */
const reportedAfter = { 'before Nova has noticed': 800, 'after Nova stopped it': 20_000 } as const

/** Longer than a dead daemon's last request takes in the simulated cloud. */
const restMs = 30_000

interface Ending {
  died: boolean
  /** Its commits from the report on. */
  first: number
  last: number
  /** Restarts that a person or Lifeboat ordered. */
  restarts: string[]
  runs: boolean
  outcomes: string[]
  reports: string[]
  broken: unknown
}

interface Crash {
  reportMs: number
  /** Its owner stops it right after our reboot was sent, and Nova serves the reboot only then. */
  isStopped?: boolean
}

/** How long Nova lets the reboot lie, and when the owner's stop comes, counted from the report. */
const lateMs = 4_000
const stoppedMs = 3_050

function play({ reportMs, isStopped = false }: Crash, death?: Death): Promise<Ending> {
  return inACloud({ hosts: 2, timings }, async (place) => {
    const { clock, simulator } = place
    const options = { ...place, workflow, segment: {}, beatMs, longestRequestMs: 2 * lateMs }
    const { uuid } = simulator.addInstance({ host: 'cmp01', name: 'web', metadata: { HA_Enabled: 'true' } })
    const life = new MortalDaemon({ ...options, death })
    await clock.advance(4 * beatMs)
    const first = life.commits + 1
    simulator.crashGuest(uuid)
    await clock.advance(reportMs)
    const crashedAt = new Date(clock.wall() - reportMs).toISOString()
    const taken = reported(life, uuid, crashedAt)
    if (isStopped) {
      simulator.apiFault({ kind: 'act-late', body: /reboot/, times: 1, delayMs: lateMs })
      await clock.advance(stoppedMs)
      const owner = new People(simulator, (id) => id)
      await clock.run(owner.server({ instance: uuid, action: 'os-stop', as: 'tenant' }))
    }
    await clock.advance(40_000)
    const last = life.commits
    const died = life.dead
    if (!died) await life.stop()
    life.die()
    await clock.advance(restMs)
    const next = new MortalDaemon(options)
    await clock.advance(2 * beatMs)
    // A monitor that got no answer sends again.
    if (!taken) reported(next, uuid, crashedAt)
    await clock.advance(120_000)
    await next.stop()
    next.die()
    return { died, first, last, ...endOf(place, uuid) }
  })
}

/** Whether it was answered: a daemon that dies over it answers nothing. */
function reported(life: MortalDaemon, instance: string, generatedAt: string): boolean {
  const payload = { event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED', instance_uuid: instance }
  try {
    life.daemon.reports.receive({ about: 'VM', host: 'cmp01', payload, by: 'monitor', via: null, generatedAt })
    return true
  } catch {
    expect(life.dead).toBe(true)
    return false
  }
}

function endOf(place: Place, uuid: string): Omit<Ending, 'died' | 'first' | 'last'> {
  const { simulator } = place
  const { entries, reports, broken } = onRecord(place)
  return {
    ...{ reports, broken },
    restarts: simulator
      .requests()
      .flatMap(({ action }) => (action === 'reboot' || action === 'os-start' ? [action] : [])),
    runs: simulator.truth().running[uuid]?.length === 1,
    outcomes: entries.flatMap((entry) => (entry.kind === 'outcome.recorded' ? [entry.data.code] : [])),
  }
}

describe.each(Object.entries(reportedAfter))('a crash that is reported %s', (_when, reportMs) => {
  it('is dealt with once, wherever the daemon is killed', async () => {
    const whole = await play({ reportMs })
    const order = reportMs < 15_000 ? 'reboot' : 'os-start'
    const well = { restarts: [order], runs: true, outcomes: ['RESTARTED'], reports: ['finished'], broken: null }
    expect(whole).toMatchObject({ died: false, ...well })
    for (const death of deathsAt(whole)) {
      const { restarts, ...ending } = await play({ reportMs }, death)
      const at = JSON.stringify(death)
      expect(ending, at).toMatchObject({ died: true, runs: true, broken: null })
      // A monitor whose report was recorded and not answered sends it again.
      expect(new Set(ending.reports), at).toEqual(new Set(['finished']))
      // Nova stops a guest whose reboot was never sent while nobody ran; it is started then.
      expect(restarts, at).toHaveLength(1)
      expect(ending.outcomes, at).toHaveLength(1)
    }
  }, 600_000)
})

describe('a stop of its owner that Nova takes before our reboot, and carries out before it', () => {
  it('is given again, wherever the daemon is killed', async () => {
    const crash = { reportMs: 800, isStopped: true }
    const whole = await play(crash)
    expect(whole).toMatchObject({ died: false, restarts: ['reboot'], runs: false, outcomes: ['STOPPED_BY_OWNER'] })
    for (const death of deathsAt(whole)) {
      const { died, runs, broken, outcomes } = await play(crash, death)
      const at = JSON.stringify(death)
      expect({ died, runs, broken }, at).toEqual({ died: true, runs: false, broken: null })
      expect(
        outcomes.filter((code) => code !== 'STOPPED_BY_OWNER'),
        at,
      ).toEqual([])
    }
  }, 600_000)
})
