/**
 * A guest crashed and its report is not settled when the active one of two daemons on one journal ends. Until then the other one, which was started
 * again meanwhile, only stands by; from then on it alone deals with the crash, and once.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { startSimulator, VirtualClock, type Simulator } from '../../src/simulator/index.ts'
import { MemoryCluster } from '../journal/shared/memory.ts'
import { beatMs, workflow } from './living-host.ts'
import { SharingDaemon } from './sharing-daemon.ts'

const host = 'cmp01'
const ann = { by: 'ann', reason: 'network works' }

/** A run that went on beside the daemon that acts would take some turns in it. */
const whileMs = 120_000

interface Site {
  clock: VirtualClock
  simulator: Simulator
  start: (name: string) => SharingDaemon
}

async function onASite(play: (site: Site) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'lifeboat-crash-taken-over-'))
  const clock = new VirtualClock()
  const simulator = await startSimulator({ clock, hosts: 2, port: null, reportIntervalMs: beatMs })
  const cluster = new MemoryCluster(clock, 'blue')
  const all: SharingDaemon[] = []
  const start = (name: string): SharingDaemon => {
    const path = join(directory, `${name}.db`)
    const daemon = new SharingDaemon({ name, clock, simulator, cluster, workflow, path, beatMs })
    all.push(daemon)
    return daemon
  }
  try {
    await play({ clock, simulator, start })
  } finally {
    for (const daemon of all) daemon.die()
    await clock.advance(10)
    await simulator.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function untilItActs({ clock }: Site, daemon: SharingDaemon): Promise<Daemon> {
  await clock.until(() => daemon.acting !== null, 60_000)
  const { acting } = daemon
  if (acting === null) throw new Error('it does not act')
  return acting
}

/** One daemon acts and holds the crash of a guest, for recoveries are paused; another one was started again with the report in its copy. */
async function heldCrash(site: Site): Promise<{ uuid: string; old: SharingDaemon; next: SharingDaemon }> {
  const { clock, simulator, start } = site
  const { uuid } = simulator.addInstance({ host, name: 'web', metadata: { HA_Enabled: 'true' } })
  const old = start('ctl1')
  const acting = await untilItActs(site, old)
  const before = start('ctl2')
  await clock.advance(4 * beatMs)
  await clock.run(acting.operations.pause({ ...ann, until: null }))
  simulator.crashGuest(uuid, { unheard: true })
  const payload = { event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED', instance_uuid: uuid }
  const generatedAt = new Date(clock.wall()).toISOString()
  acting.reports.receive({ about: 'VM', host, payload, by: 'monitor', via: null, generatedAt })
  await clock.until(() => acting.store.openCrashes()[0]?.held?.code === 'PAUSED')
  await clock.advance(2_000)
  before.die()
  await clock.advance(1_000)
  return { uuid, old, next: start('ctl2') }
}

test('a daemon that stands by asks nothing about a guest whose report is not settled', () =>
  onASite(async (site) => {
    const { uuid, next } = await heldCrash(site)
    await site.clock.advance(whileMs)
    expect(next.shared.tenure.state).toBe('standby')
    expect(next.reads.filter((url) => url.includes('os-services'))).not.toEqual([])
    expect(next.reads.filter((url) => url.includes(uuid))).toEqual([])
  }))

/** The active one dies, and recoveries are resumed once the other one has taken over. */
async function takenOver(site: Site): Promise<{ uuid: string; acting: Daemon; watching: Daemon | null }> {
  const { uuid, old, next } = await heldCrash(site)
  old.die()
  const acting = await untilItActs(site, next)
  await site.clock.advance(whileMs)
  await site.clock.run(acting.operations.resume(ann))
  await site.clock.advance(whileMs)
  return { uuid, acting, watching: next.watching }
}

test('the one that takes over goes on with the incident of the crash, and restarts the guest once', () =>
  onASite(async (site) => {
    const { simulator } = site
    const { uuid, acting } = await takenOver(site)
    const incidents = acting.operations.incidents({ host })
    expect(incidents.map(({ outcomes }) => outcomes)).toEqual([{ recovered: 1 }])
    expect(acting.reports.list()).toMatchObject([{ status: 'finished', incident: incidents[0]?.id }])
    expect(simulator.requests().flatMap(({ action }) => (action === 'reboot' ? [action] : []))).toHaveLength(1)
    expect(simulator.truth().running[uuid]).toEqual([host])
  }))

test('what it stood by with keeps no incident in memory that is over', () =>
  onASite(async (site) => expect((await takenOver(site)).watching?.store.size).toBe(0)))
