/**
 * A daemon that deals with the report of a dead host is killed before and after everything that it writes, from the report to the end of the
 * incident. The next daemon over the same journal recovers the host once, and settles the report: once it was answered with 202 it is never lost.
 */
import { describe, expect, it } from 'vitest'
import { foldIncidents } from '../../src/domain/incident.ts'
import { beatMs, inACloud, onRecord, workflow, type Place } from './living-host.ts'
import { MortalDaemon, type Death } from './mortal-daemon.ts'

/** Until Nova says down, its host is fenced, and its guest runs elsewhere. */
const recoveryMs = 75_000
/** Longer than a dead daemon's last request takes in the simulated cloud. */
const restMs = 10_000
/** Of the next daemon: it must first see again for itself that the host is silent. */
const againMs = 150_000

interface Ending {
  died: boolean
  /** Commits from the report on that wrote something. */
  acts: number[]
  /** Orders to Nova. */
  orders: string[]
  incidents: (string | undefined)[]
  reports: string[]
  runsOn: string[]
  doubles: unknown[]
  broken: unknown
}

function play(death?: Death): Promise<Ending> {
  return inACloud({ hosts: 4 }, async (place) => {
    const { clock, simulator } = place
    const options = { ...place, workflow, segment: { probes: ['network'] }, beatMs, longestRequestMs: 5_000 }
    const { uuid } = simulator.addInstance({ host: 'cmp01', name: 'web' })
    const acts: number[] = []
    const life = new MortalDaemon({
      ...{ ...options, death },
      onCommit: (nth, entries, written) => {
        if (!written && entries.length > 0) acts.push(nth)
      },
    })
    await clock.advance(6 * beatMs)
    acts.length = 0
    simulator.crash('cmp01')
    const taken = reported(life)
    await clock.advance(recoveryMs)
    const died = life.dead
    const last = life.commits
    if (!died) await life.stop()
    life.die()
    await clock.advance(restMs)
    const next = new MortalDaemon(options)
    await clock.advance(6 * beatMs)
    // A monitor that got no answer sends again.
    if (!taken) reported(next)
    await clock.advance(againMs)
    await next.stop()
    next.die()
    return { died, acts: acts.filter((nth) => nth <= last), ...endOf(place, uuid) }
  })
}

/** Whether it was answered: a daemon that dies over it answers nothing. One that knows it already says so, which ends it for the monitor. */
function reported(life: MortalDaemon): boolean {
  const payload = { event: 'STOPPED', host_status: 'NORMAL', cluster_status: 'OFFLINE' }
  const order = { about: 'COMPUTE_HOST' as const, host: 'cmp01', payload, by: 'monitor', via: null }
  try {
    life.daemon.reports.receive({ ...order, generatedAt: '2026-01-01T00:01:00Z' })
    return true
  } catch (thrown) {
    if (!life.dead) expect(thrown).toMatchObject({ code: 'REPORT_REPEATED' })
    return !life.dead
  }
}

function endOf(place: Place, guest: string): Omit<Ending, 'died' | 'acts'> {
  const { simulator } = place
  const { entries, reports, broken } = onRecord(place)
  const orders = simulator
    .requests()
    .filter(({ method, path }) => method !== 'GET' && path.startsWith('compute/'))
    .map(({ action, path }) => action ?? path.split('/')[2] ?? path)
  const { running, doubles } = simulator.truth()
  return {
    ...{ orders, reports, broken, doubles, runsOn: running[guest] ?? [] },
    incidents: [...foldIncidents(entries).values()].map(({ host, closed }) => `${host} ${closed?.outcome}`),
  }
}

describe('a dead host that is reported', () => {
  it('is disabled once and its guest evacuated once, in one incident, wherever the daemon is killed', async () => {
    const well = {
      ...{ orders: ['os-services', 'evacuate'], incidents: ['cmp01 done'], reports: ['finished'] },
      ...{ doubles: [], broken: null },
    }
    const whole = await play()
    expect(whole).toMatchObject({ died: false, ...well })
    expect(whole.acts.length).toBeGreaterThan(15)
    for (const nth of whole.acts)
      for (const death of [{ before: nth }, { after: nth }]) {
        const { runsOn, ...ending } = await play(death)
        expect(ending, JSON.stringify(death)).toMatchObject({ died: true, ...well })
        expect(runsOn, JSON.stringify(death)).toEqual([expect.not.stringContaining('cmp01')])
      }
  }, 180_000)
})
