/** The stage of one round: the lab's hosts, guests of every kind, a daemon of its own, and what the judge needs to know of them. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { mayRunTwice } from '../../src/domain/host-return.ts'
import { nova, type CloudUnderTest } from '../contract/cloud-under-test.ts'
import { DaemonProcess, until } from '../nova/daemon-process.ts'
import { bringBack, lab } from '../nova/lab.ts'
import { pauseMs } from '../nova/stage.ts'
import { Tenants } from '../nova/tenants.ts'
import { judge, type Judgement, type Shown, type Truth } from './judge.ts'
import { wantedOf, type LivingGuest } from './owners.ts'
import { hosts, type Guest, type Moment, type Script } from './script.ts'

/** Hosts come back quickly and as often as they like, and one that is cut off from Nova is fenced, so that its guests come back. */
const segment = {
  return: { mode: 'automatic', healthy: '4s', max_returns: 50, within: '30m' },
  on_service_down: 'fence',
}

/** A cancelled incident waits for the writes that are on their way. Too short fails rounds with a slow destination. */
const cancelLimitMs = 60_000

/** How long a daemon that was just started again may take to answer a command. Too short fails a round that kills it late. */
const answersWithinMs = 15_000

/** How long a host may take from its start until the daemon has let it back, and how often it is started. */
const backWithinMs = 45_000
const mostStarts = 3

/** Nova shows a dead host as up for 8 s, and an incident opens a little later. Too short ends a round before it has begun. */
const noticedWithinMs = 15_000

/** How long a guest may be shown as `deleting` or rebooting. Too short judges what goes well; longer delays only rounds that fail. */
const servedSeconds = 20

export class ChaosStage {
  readonly cloud: CloudUnderTest
  readonly script: Script
  readonly daemon: DaemonProcess
  readonly guests: LivingGuest[] = []
  readonly began = Date.now()
  /** Hosts that were taken away in this round. */
  readonly gone = new Set<string>()
  readonly #tenants: Tenants
  #lastDeath = 0

  constructor(cloud: CloudUnderTest, script: Script, cloudsFile: string, directory: string) {
    this.cloud = cloud
    this.script = script
    this.#tenants = new Tenants(cloud)
    const own = mkdtempSync(join(directory, `seed-${script.seed}-`))
    const config = parse(readFileSync('config/lab.yaml', 'utf8')) as {
      segments: object[]
      web?: object
      executor?: object
    }
    config.segments = config.segments.map((one) => ({ ...one, ...segment }))
    config.web = { listen: false }
    // No trouble here keeps a request or a message for longer, and a round cannot wait ten minutes for what was lost.
    config.executor = { ...config.executor, longest_request: '1m' }
    const file = join(own, 'lifeboat.yaml')
    writeFileSync(file, stringify(config))
    this.daemon = new DaemonProcess({ cloudsFile, config: file, stateDir: own })
  }

  /** Guests first those that need the other hosts disabled for a moment, which a daemon that watches would take note of. */
  async set(): Promise<void> {
    const { guests } = this.script
    for (const guest of guests.filter(({ kind }) => kind.startsWith('resized'))) await this.#boot(guest)
    await Promise.all([
      this.daemon.start().then(() => this.daemon.watched()),
      ...guests.filter(({ kind }) => !kind.startsWith('resized')).map((guest) => this.#boot(guest)),
    ])
  }

  async #boot(guest: Guest): Promise<void> {
    const { name, host, kind } = guest
    const from = hosts.find((other) => other !== host && other !== this.script.second) ?? 'cmp04'
    const id = await (kind === 'stopped'
      ? this.#tenants.stopped(name, host)
      : kind === 'paused'
        ? this.#tenants.paused(name, host)
        : kind.startsWith('resized')
          ? this.#tenants.resized(name, from, host, kind === 'resized-stopped')
          : this.#tenants.boot(name, host))
    if (kind === 'locked') await this.#tenants.steps.act(id, { lock: { locked_reason: 'its owner did' } })
    this.guests.push({ ...guest, id, wanted: wantedOf(guest), orders: [] })
  }

  /** A tenant boots one more server, on a host that has not died. */
  async bootLater(): Promise<void> {
    const host = hosts.find((name) => !this.gone.has(name)) ?? 'cmp01'
    await this.#boot({ name: 'later', host, kind: 'running' })
  }

  guest(name: string): LivingGuest {
    const found = this.guests.find((guest) => guest.name === name)
    if (found === undefined) throw new Error(`the round has no guest ${name}`)
    return found
  }

  /** Whether the recovery of the host that died has come that far. */
  reached(moment: Moment): boolean {
    if (moment === 'death') return true
    const entries = this.daemon.entries().filter(({ host, incident }) => host === this.script.dead || incident !== null)
    return entries.some((entry) => {
      if (moment === 'incident') return entry.kind === 'incident.opened'
      if (moment === 'proof') return entry.kind === 'proof.recorded'
      if (moment === 'forced-down') return entry.kind === 'service.marked'
      if (moment === 'evacuating') return entry.kind === 'step.issued' && entry.step?.includes('evacuate') === true
      return entry.kind === 'outcome.recorded' && entry.data.outcome === 'recovered'
    })
  }

  /** A host dies, in whatever way. */
  async die(host: string, way: string): Promise<void> {
    this.gone.add(host)
    await lab(way, host)
    this.#lastDeath = Date.now()
  }

  /**
   * Whether every incident that there is has ended, and every host that is gone has had one or beats again, once Nova has had the
   * time to notice a death.
   */
  async over(): Promise<boolean> {
    if (Date.now() - this.#lastDeath < noticedWithinMs) return false
    const incidents = this.daemon.incidents()
    // A host that came back in the middle holds its incident until a person decides: at the end of the round one does.
    if (incidents.some(({ closed, held }) => closed === null && held?.code !== 'HOST_ALIVE')) return false
    const unheard = [...this.gone].filter((host) => !incidents.some((incident) => incident.host === host))
    // It was back before an incident of it was opened. A daemon that stood still meanwhile may be about to open one, and to close it.
    const services = await this.services()
    return services
      .filter(({ host }) => unheard.includes(host))
      .every(({ host, state }) => state === 'up' && this.#isHealthy(host))
  }

  /** By the daemon's last word of it. */
  #isHealthy(host: string): boolean {
    const last = this.daemon.entries().findLast((it) => it.kind === 'verdict.changed' && it.host === host)
    return last?.kind === 'verdict.changed' && last.data.kind === 'healthy'
  }

  async services(): Promise<{ host: string; state: string; status: string; forced_down: boolean }[]> {
    const reply = await nova(this.cloud, 'GET', '/os-services?binary=nova-compute')
    if (reply.status !== 200) throw new Error(`os-services: ${reply.status}`)
    return reply.body.services
  }

  async judgement(): Promise<Judgement> {
    const servers = new Map<string, Shown | null>()
    for (const guest of this.guests) servers.set(guest.id, await this.#shownWhenServed(guest))
    const truth = await truthNow()
    const { guests, began, gone: died } = this
    const struck = this.daemon
      .entries()
      .flatMap((it) => (it.kind === 'alarm.raised' && it.data.code === 'STALE_ORDER_STRUCK' ? (it.instance ?? []) : []))
    return judge({
      ...{ guests, servers, truth, died, began },
      ...{ incidents: this.daemon.incidents(), struck: new Set(struck) },
    })
  }

  async runsSomewhere(id: string): Promise<boolean> {
    return ((await truthNow()).running[id] ?? []).length > 0
  }

  /** A host that runs takes some seconds to delete or reboot a guest. */
  async #shownWhenServed(guest: LivingGuest): Promise<Shown | null> {
    for (let tries = 1; ; tries += 1) {
      const shown = await this.#shown(guest)
      if (!/^(deleting|reboot)/.test(shown?.task ?? '') || this.gone.has(shown?.host ?? '') || tries === servedSeconds)
        return shown
      await pauseMs(1_000)
    }
  }

  async #shown({ id, orders }: LivingGuest): Promise<Shown | null> {
    const { status, body } = await nova(this.cloud, 'GET', `/servers/${id}`)
    if (status === 404) return null
    if (status !== 200) throw new Error(`server ${id}: ${status}`)
    const { server } = body
    return {
      vm: server['OS-EXT-STS:vm_state'],
      task: server['OS-EXT-STS:task_state'],
      host: server['OS-EXT-SRV-ATTR:host'],
      locked: server.locked,
      orderFailed: orders.length > 0 && (await this.#hasFailedOrder(id)),
    }
  }

  async #hasFailedOrder(id: string): Promise<boolean> {
    const { body } = await nova(this.cloud, 'GET', `/servers/${id}/os-instance-actions`)
    const actions: { action: string; message: string | null }[] = body.instanceActions ?? []
    return actions.find(({ action }) => action === 'stop' || action === 'start')?.message === 'Error'
  }

  /** What a person does about a host that came back in the middle: leaves the rest of its guests where they are. */
  async decide(): Promise<void> {
    for (const { id, closed, held } of this.daemon.incidents()) {
      if (closed !== null || held?.code !== 'HOST_ALIVE') continue
      // A person tries again when the daemon has only just been started and does not answer yet.
      let said = ''
      const isTaken = async (): Promise<boolean> => {
        const { code, stderr } = await this.daemon.command('incident', 'cancel', id, '--reason', 'its host is back')
        said = stderr
        return code === 0
      }
      if (!(await until('the cancel is taken', isTaken, answersWithinMs).catch(() => false)))
        throw new Error(`incident cancel ${id}: ${said}`)
      const isOver = (): boolean =>
        this.daemon.incidents().every((incident) => incident.id !== id || incident.closed !== null)
      await until(`cancelled incident ${id} is over`, () => Promise.resolve(isOver()), cancelLimitMs)
    }
  }

  /** Every host is started, and the daemon lets those back that it had taken out. */
  async hostsReturn(): Promise<void> {
    for (const host of this.gone) await lab('start', host)
    const back = async (): Promise<boolean> =>
      (await this.services()).every(
        ({ state, status, forced_down: forced }) => state === 'up' && status === 'enabled' && !forced,
      )
    for (let starts = 1; starts < mostStarts; starts++) {
      if (await until('the hosts are back', back, backWithinMs).catch(() => false)) return
      // A record that was not complete at one start is at the next (docs/host-return.md); a nova-compute that is slow to start is fenced.
      for (const { host, state, status } of await this.services()) {
        if (state === 'up' && status === 'enabled') continue
        await lab('isolate', host)
        await lab('start', host)
        // It carried out what waited for it, and that guest has ended by now.
        if (this.#isKeptOut(host))
          await this.daemon.command('host', 'return', host, '--reason', 'its guests have ended')
      }
    }
    await until(`the hosts are back after ${mostStarts} starts`, back, backWithinMs)
  }

  #isKeptOut(host: string): boolean {
    const last = this.daemon.entries().findLast((it) => it.kind === 'return.changed' && it.host === host)
    return last?.kind === 'return.changed' && last.data.code === mayRunTwice
  }

  /** Nothing of this round is left in the lab. */
  async clean(): Promise<void> {
    this.daemon.goOn()
    await this.daemon.stop()
    for (const part of ['keystone', 'rabbitmq', 'placement', 'nova-api', 'nova-conductor', 'nova-scheduler'])
      await lab('start', part)
    await lab('well', ...hosts)
    const own = async (): Promise<{ id: string }[]> =>
      (await nova(this.cloud, 'GET', `/servers/detail?all_tenants=1&name=^${this.cloud.prefix}-`)).body.servers
    for (const { id } of await own()) await nova(this.cloud, 'DELETE', `/servers/${id}`)
    await bringBack(this.cloud, hosts)
    for (const { id } of await own()) {
      await nova(this.cloud, 'POST', `/servers/${id}/action`, { 'os-resetState': { state: 'active' } })
      await nova(this.cloud, 'DELETE', `/servers/${id}`)
    }
    await until('no guest is left', async () => (await own()).length === 0)
  }
}

/** What the hypervisors themselves say. */
async function truthNow(): Promise<Truth> {
  return JSON.parse(await lab('truth')) as Truth
}
