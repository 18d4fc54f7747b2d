/**
 * A daemon that deals with a reported nova-compute is killed at every commit, before it and after it, from the report to the end of its
 * incident. The next daemon over the same journal disables the service once, enables it once, and settles the report.
 */
import { describe, expect, it } from 'vitest'
import { defaultReturnRules } from '../../src/domain/host-return.ts'
import { foldIncidents } from '../../src/domain/incident.ts'
import { beatMs, deathsAt, inACloud, onRecord, workflow, type Place } from './living-host.ts'
import { MortalDaemon, type Death } from './mortal-daemon.ts'

/** Longer than a dead daemon's last request takes in the simulated cloud. */
const restMs = 10_000

/** While it is down, and until it has been well for the healthy time and is enabled. */
const downMs = 30_000
const wellMs = 90_000
const segment = { probes: ['network'], return: { ...defaultReturnRules, healthyMs: 30_000 } }

interface Ending {
  died: boolean
  /** Its commits from the report on. */
  first: number
  last: number
  /** How often something was written on its service. */
  writes: number
  service: string
  incidents: (string | undefined)[]
  reports: string[]
  guestRuns: boolean
  broken: unknown
}

function play(death?: Death): Promise<Ending> {
  return inACloud({ hosts: 4 }, async (place) => {
    const { clock, simulator } = place
    const options = { ...place, workflow, segment, beatMs, longestRequestMs: 5_000 }
    const { uuid } = simulator.addInstance({ host: 'cmp01', name: 'web' })
    const life = new MortalDaemon({ ...options, death })
    await clock.advance(6 * beatMs)
    const first = life.commits + 1
    simulator.isolate('cmp01')
    const taken = reported(life)
    await clock.advance(downMs)
    simulator.start('cmp01')
    await clock.advance(wellMs)
    const last = life.commits
    const died = life.dead
    if (!died) await life.stop()
    life.die()
    await clock.advance(restMs)
    const next = new MortalDaemon(options)
    await clock.advance(6 * beatMs)
    // A monitor that got no answer sends again.
    if (!taken) reported(next)
    await clock.advance(wellMs)
    await next.stop()
    next.die()
    return { died, first, last, ...endOf(place, uuid) }
  })
}

/** Whether it was answered: a daemon that dies over it answers nothing. One that knows it already says so, which ends it for the monitor. */
function reported(life: MortalDaemon): boolean {
  const payload = { event: 'STOPPED', process_name: 'nova-compute' }
  const order = { about: 'PROCESS' as const, host: 'cmp01', payload, by: 'monitor', via: null }
  try {
    life.daemon.reports.receive({ ...order, generatedAt: '2026-01-01T00:01:00Z' })
    return true
  } catch (thrown) {
    if (!life.dead) expect(thrown).toMatchObject({ code: 'REPORT_REPEATED' })
    return !life.dead
  }
}

function endOf(place: Place, guest: string): Omit<Ending, 'died' | 'first' | 'last'> {
  const { simulator } = place
  const { entries, reports, broken } = onRecord(place)
  const writes = simulator.requests().filter(({ method, path }) => method === 'PUT' && path.includes('os-services'))
  return {
    ...{ reports, broken, writes: writes.length },
    service: simulator.world.host('cmp01').service.status,
    incidents: [...foldIncidents(entries).values()].map(({ closed }) => closed?.outcome),
    guestRuns: simulator.truth().running[guest]?.join() === 'cmp01',
  }
}

describe('a nova-compute that is reported down', () => {
  it('has its service disabled once and enabled once, wherever the daemon is killed', async () => {
    const well = {
      ...{ writes: 2, service: 'enabled', incidents: ['returned'], reports: ['finished'] },
      ...{ guestRuns: true, broken: null },
    }
    const whole = await play()
    expect(whole).toMatchObject({ died: false, ...well })
    for (const death of deathsAt(whole))
      expect(await play(death), JSON.stringify(death)).toMatchObject({ died: true, ...well })
  }, 600_000)
})
