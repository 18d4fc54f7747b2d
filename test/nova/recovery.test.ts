/**
 * The daemon against a real Nova, judged by Nova's API and by the hypervisors' own log. Nothing is done by hand between
 * the crash and the verdict on it.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { nova, type CloudUnderTest } from '../contract/cloud-under-test.ts'
import type { Incident } from '../../src/domain/incident.ts'
import { DaemonProcess, total, until } from './daemon-process.ts'
import { lab, labCloud } from './lab.ts'
import { HalfDeafProxy } from './half-deaf-proxy.ts'
import { pauseMs } from './stage.ts'
import { image, Tenants, truth } from './tenants.ts'

const dead = 'cmp01'
let cloud: CloudUnderTest
let tenants: Tenants
let cloudsFile: string
let daemon: DaemonProcess

beforeAll(async () => {
  cloud = await labCloud('recovery')
  tenants = new Tenants(cloud)
  cloudsFile = join(mkdtempSync(join(tmpdir(), 'lifeboat-clouds-')), 'clouds.yaml')
  writeFileSync(cloudsFile, await lab('clouds'))
  await cloud.tidy()
})

beforeEach(() => {
  daemon = new DaemonProcess({ cloudsFile })
})

afterEach(async () => {
  await daemon.stop()
  await cloud.tidy()
  rmSync(daemon.stateDir, { recursive: true, force: true })
})

afterAll(() => rmSync(join(cloudsFile, '..'), { recursive: true, force: true }))

/**
 * The lab's API has no proxy before it that could serve the orders of a daemon that was killed while it sent them. Those are sent again
 * sooner here than anyone gives up waiting.
 */
function noFrontEnd(): string {
  const lab = parse(readFileSync('config/lab.yaml', 'utf8')) as object
  const file = join(cloudsFile, '..', 'no-front-end.yaml')
  writeFileSync(file, stringify({ ...lab, executor: { longest_request: '1m' } }))
  return file
}

async function evacuationsOf(id: string): Promise<{ status: string; dest_compute: string; created_at: string }[]> {
  const records = await tenants.steps.migrations(`instance_uuid=${id}&migration_type=evacuation`)
  return records.filter((record) => record.source_compute === dead)
}

const outcomeOf = (incident: Incident, id: string): string => {
  const outcome = incident.instances.get(id)?.outcome
  return outcome === undefined || outcome === null ? 'none' : `${outcome.outcome} ${outcome.code}`
}

const sentEvacuations = (): number =>
  daemon.entries().filter((entry) => entry.kind === 'step.intended' && entry.data.kind === 'evacuate').length

const after = (from: number, iso: string | undefined): number =>
  iso === undefined ? NaN : (Date.parse(iso) - from) / 1000

async function nothingRanTwice(since: number): Promise<void> {
  const { doubles } = (await truth()) as { doubles: { uuid: string; t?: number }[] }
  expect(doubles.filter((double) => (double.t ?? 0) * 1000 >= since)).toEqual([])
}

describe('a crashed host', () => {
  it('gives every kind of instance back in the state its owner left it', async () => {
    const began = Date.now()
    const t = tenants
    // One after another, for each disables other hosts for a while.
    const choosy = async (): Promise<[string, string, string]> => [
      await t.resized('resized-running', 'cmp02', dead, false),
      await t.resized('resized-stopped', 'cmp02', dead, true),
      await t.lockedByOwner('locked', dead),
    ]
    const [
      [landing, landingStopped, locked],
      active,
      stopped,
      paused,
      errored,
      fromVolume,
      encrypted,
      deleting,
      optedOut,
    ] = await Promise.all([
      choosy(),
      t.boot('active', dead),
      t.stopped('stopped', dead),
      t.paused('paused', dead),
      t.boot('errored', dead),
      t.fromVolume('from-volume', dead, false),
      t.fromVolume('encrypted', dead, true),
      t.boot('deleting', dead),
      t.boot('opted-out', dead, { metadata: { HA_Enabled: 'False' } }),
    ])
    await nova(cloud, 'POST', `/servers/${errored}/action`, { 'os-resetState': { state: 'error' } })

    await daemon.start()
    await daemon.watched()
    await lab('crash', dead)
    await t.deleteOnDeadHost(deleting)
    const incident = await daemon.incident(dead, (at) => at.closed !== null)

    expect(incident.proof).toMatchObject({ host: dead, strength: 'power-off' })
    const shown = async (id: string): Promise<unknown> => {
      const { vm, task, power, host } = await t.steps.state(id)
      return { vm, task, power, elsewhere: host !== dead }
    }
    const running = { vm: 'active', task: null, power: 1, elsewhere: true }
    const off = { vm: 'stopped', task: null, power: 4, elsewhere: true }
    expect(await shown(active), outcomeOf(incident, active)).toEqual(running)
    expect(await shown(locked), outcomeOf(incident, locked)).toEqual(running)
    expect(await shown(fromVolume), outcomeOf(incident, fromVolume)).toEqual(running)
    expect(await shown(landing), outcomeOf(incident, landing)).toEqual(running)
    expect(await shown(stopped), outcomeOf(incident, stopped)).toEqual(off)
    expect(await shown(landingStopped), outcomeOf(incident, landingStopped)).toEqual(off)
    expect(await shown(paused), outcomeOf(incident, paused)).toEqual(off)
    // No token for the owner's project can be had on the lab: landed stopped, not started, and said so.
    const sameProject = incident.instances.get(encrypted)?.plan.asProject !== null
    expect(await shown(encrypted), outcomeOf(incident, encrypted)).toEqual(sameProject ? running : off)
    for (const left of [errored, deleting, optedOut]) {
      expect(incident.instances.get(left)?.outcome?.outcome, outcomeOf(incident, left)).toBe('left')
      expect(await evacuationsOf(left)).toEqual([])
    }
    const { locked: isLocked, locked_reason: reason } = await t.steps.show(locked)
    expect({ isLocked, reason }).toEqual({ isLocked: true, reason: 'hands off, says demo' })
    for (const free of [landing, landingStopped]) expect((await t.steps.show(free)).locked).toBe(false)
    for (const id of [...incident.instances.keys()]) expect((await evacuationsOf(id)).length, id).toBeLessThanOrEqual(1)

    const { running: runs } = await truth()
    for (const id of [active, locked, fromVolume, landing]) expect(runs[id]).toEqual([(await t.steps.state(id)).host])
    for (const id of [stopped, landingStopped, paused]) expect(runs[id]).toBeUndefined()
    await nothingRanTwice(began)
    await nothingLeftInPlacement([landing, landingStopped])
  })

  it('has twenty instances back with one write and at most three and a half requests each, and in 150 MiB', async () => {
    const ids = await tenants.bootMany(20, dead)
    await daemon.start()
    await daemon.watched()
    const before = await daemon.metrics()
    const crashed = Date.now()
    await lab('crash', dead)
    const incident = await daemon.incident(dead, (at) => at.closed !== null)
    const since = await daemon.metrics()
    const requests = requestsSeen(since) - requestsSeen(before)
    const entries = daemon.entries().filter((entry) => entry.incident === incident.id)
    const at = (kind: string): string | undefined => entries.findLast((entry) => entry.kind === kind)?.at
    const verdictS = after(crashed, incident.openedAt)
    const provenS = after(crashed, at('proof.recorded'))
    const backS = after(crashed, at('outcome.recorded'))
    const report = {
      verdictS,
      provenS,
      backS,
      recoveryS: backS - provenS,
      requests,
      rssMiB: daemon.peakRssMiB(),
    }
    console.log(`twenty instances: ${JSON.stringify(report)}`)

    for (const id of ids) expect(outcomeOf(incident, id)).toMatch(/^recovered /)
    const writes = (text: string): number => total(text, requestCount, ['service="compute"', 'method="POST"'])
    expect(writes(since) - writes(before)).toBe(ids.length)
    // Seconds beyond the usual are the machine's: what is polled in them is not counted. Times, and the three requests that are the
    // target, are the benchmark's to judge: a listing more or less is chance.
    const overtimeS = Math.max(0, backS - 12.5)
    expect((requests - 2 * overtimeS) / ids.length).toBeLessThanOrEqual(3.5)
    expect(report.rssMiB).toBeLessThanOrEqual(150)
    await nothingRanTwice(crashed)
  })

  it.each([1200])('is recovered once although the daemon is killed %i ms into it', async (delayMs) => {
    const began = Date.now()
    daemon = new DaemonProcess({ cloudsFile, config: noFrontEnd() })
    const boots = Promise.all([tenants.bootMany(8, dead), tenants.stopped('stopped', dead)])
    const [ids, stopped] = await daemon.watchBeside(boots)
    await lab('crash', dead)
    await daemon.incident(dead, (at) => at.proof !== null)
    await new Promise((resolve) => setTimeout(resolve, delayMs))
    await daemon.kill()
    await daemon.start()
    const incident = await daemon.incident(dead, (at) => at.closed !== null)
    for (const id of [...ids, stopped]) {
      expect(outcomeOf(incident, id)).toMatch(/^recovered /)
      expect((await evacuationsOf(id)).map((record) => record.status)).toEqual(['done'])
    }
    for (const id of ids) expect((await tenants.steps.state(id)).vm).toBe('active')
    expect((await tenants.steps.state(stopped)).vm).toBe('stopped')
    await nothingRanTwice(began)
  })

  it('is not evacuated while its BMC accepts a reset and does nothing, until a person states that it is dead', async () => {
    const id = await daemon.watchBeside(tenants.boot('unfenced', dead))
    await lab('bmc', dead, 'stuck=true')
    await lab('crash', dead)
    const held = await daemon.incident(dead, (at) => at.held !== null)
    expect(held.held).toMatchObject({ code: 'FENCE_FAILED' })
    expect((await daemon.command('incident', 'list')).stdout).toContain('FENCE_FAILED')
    expect(await evacuationsOf(id)).toEqual([])
    const told = await daemon.command('recover', dead, '--by', 'ann', '--proof', 'I pulled its power cord in rack 7')
    expect(told, told.stderr).toMatchObject({ code: 0 })
    const incident = await daemon.incident(dead, (at) => at.closed !== null)
    expect(incident.proof).toMatchObject({ strength: 'statement' })
    expect(outcomeOf(incident, id)).toMatch(/^recovered /)
  })

  it('is recovered once although Nova answers 503 to every second call', async () => {
    const began = Date.now()
    const proxy = await HalfDeafProxy.listen()
    daemon = new DaemonProcess({ cloudsFile: proxy.cloudsFile(await lab('clouds')) })
    try {
      const ids = await daemon.watchBeside(tenants.bootMany(6, dead))
      proxy.deaf = true
      await lab('crash', dead)
      const incident = await daemon.incident(dead, (at) => at.closed !== null)
      for (const id of ids) {
        expect(outcomeOf(incident, id)).toMatch(/^recovered /)
        expect((await evacuationsOf(id)).map((record) => record.status)).toEqual(['done'])
        expect((await tenants.steps.state(id)).vm).toBe('active')
      }
      await nothingRanTwice(began)
    } finally {
      await daemon.stop()
      await proxy.close()
    }
  })
})

describe('a host that is not what it seems', () => {
  it('raises an alarm and is left alone when an operator forces it down by hand while it lives', async () => {
    const id = await daemon.watchBeside(tenants.boot('declared', dead))
    await tenants.steps.put(dead, { forced_down: true })
    await until('the alarm', () =>
      Promise.resolve(daemon.entries().some((entry) => entry.kind === 'alarm.raised' && entry.host === dead)),
    )
    await new Promise((resolve) => setTimeout(resolve, 5_000))
    expect(daemon.incidents()).toEqual([])
    expect(await evacuationsOf(id)).toEqual([])
    expect((await tenants.steps.service(dead)).forced_down).toBe(true)
  })
})

describe('a fault that is not a host', () => {
  async function freezes(part: string, whileItIsDead: () => Promise<unknown>): Promise<void> {
    const id = await daemon.watchBeside(tenants.boot('innocent', dead))
    await lab('kill', part)
    await whileItIsDead()
    await lab('start', part)
    await until('the freeze and its end', () => {
      const kinds = daemon.entries().map((entry) => entry.kind)
      return Promise.resolve(kinds.includes('monitor.frozen') && kinds.includes('monitor.thawed'))
    })
    await daemon.watched()
    const kinds = daemon.entries().map((entry) => entry.kind)
    expect(kinds).not.toContain('fence.attempt')
    expect(sentEvacuations()).toBe(0)
    expect(await evacuationsOf(id)).toEqual([])
    expect((await truth()).running[id]).toEqual([dead])
  }

  it('rabbitmq dead for a minute fences nobody, evacuates nothing, and is journaled as a freeze', () =>
    freezes('rabbitmq', () => pauseMs(60_000)))

  it('nova-conductor dead for half a minute does the same, and a boot that waited for it shows when it was ordered', async () => {
    const server = { name: `${cloud.prefix}-late`, flavorRef: '1', imageRef: image, networks: 'none', host: 'cmp02' }
    let id = ''
    let orderedAt = NaN
    await freezes('nova-conductor', async () => {
      orderedAt = Date.now()
      const { body } = await nova(cloud, 'POST', '/servers', { server })
      id = body.server.id
      await pauseMs(30_000)
    })
    await tenants.steps.settled(id, 'active')
    const shown = (await nova(cloud, 'GET', `/servers/${id}`)).body.server
    // Not the half minute later at which it was built.
    expect(Date.parse(shown.created) - orderedAt).toBeLessThan(20_000)
  })

  it('three of four hosts crashing at once hold the brake', async () => {
    const boots = Promise.all(cloud.hosts.map((host) => tenants.boot(`brake-${host}`, host)))
    const ids = await daemon.watchBeside(boots)
    await lab('crash', ...cloud.hosts)
    await until('the brake holds', () =>
      Promise.resolve(daemon.entries().some((entry) => entry.kind === 'incident.held' && entry.data.code === 'BRAKE')),
    )
    await new Promise((resolve) => setTimeout(resolve, 8_000))
    expect(daemon.entries().map((entry) => entry.kind)).not.toContain('fence.attempt')
    expect(sentEvacuations()).toBe(0)
    for (const id of ids)
      expect(await tenants.steps.migrations(`instance_uuid=${id}&migration_type=evacuation`)).toEqual([])
  })
})

const requestCount = 'lifeboat_api_request_duration_seconds_count'

/** Requests to Nova so far, by the daemon's own count. Its polls go on whether anything is recovered or not. */
function requestsSeen(text: string): number {
  return total(text, requestCount, ['service="compute"']) - total(text, 'lifeboat_polls_total', [])
}

/** A confirmed resize leaves no allocation of its migration behind. */
async function nothingLeftInPlacement(ids: string[]): Promise<void> {
  for (const id of ids) {
    const resizes = (await tenants.steps.migrations(`instance_uuid=${id}`)).filter(
      (record) => record.migration_type === 'resize',
    )
    expect(resizes.map((record) => record.status)).toEqual(['confirmed'])
    for (const { uuid } of resizes) {
      const { allocations } = JSON.parse(await lab('request', 'GET', 'placement', `/allocations/${uuid}`)) as {
        allocations: Record<string, unknown>
      }
      expect(allocations).toEqual({})
    }
  }
}
