/**
 * Rows 1, 3 and 4 on a real Nova (test/lab), with the configuration config/lab.yaml: floor and recovery in turn, on the same
 * host. Leaves the lab as it found it: no servers of its own, every host up and enabled.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { DaemonProcess } from '../daemon-process.mjs'
import { median, sleep, spread, until } from '../figures.mjs'
import { floor } from '../floor.mjs'
import { NovaClient } from '../nova.mjs'
import { figure } from '../targets.mjs'
import { instances, marks, recoveryFigures } from './recovery.mjs'

const command = fileURLToPath(new URL('../../test/lab/lab', import.meta.url))
export const labConfig = fileURLToPath(new URL('../../config/lab.yaml', import.meta.url))
export const computeUrl = 'http://127.0.0.1:18774/v2.1'
export const image = '00000000-0000-0000-0000-0000000000a1'
export const prefix = 'bench'
export const dead = 'cmp01'
export const hosts = 4

/** Nova's report_interval on the lab. */
export const labBeatMs = 2_000

export const access = {
  auth_url: 'http://127.0.0.1:15000/v3',
  username: 'instanceha',
  password: 'lab',
  project_name: 'service',
  user_domain_name: 'Default',
  project_domain_name: 'Default',
}

const run = promisify(execFile)
export const lab = async (...words) => (await run(command, words, { maxBuffer: 2 ** 26 })).stdout

/** Whether a lab answers here. Never starts one. */
export async function labAnswers() {
  const answer = await fetch(`${computeUrl}/`, { signal: AbortSignal.timeout(3_000) }).catch(() => null)
  return answer?.ok === true
}

/** @param options { runs } */
export async function labRows({ runs }) {
  const nova = new NovaClient(access, computeUrl)
  const directory = mkdtempSync(join(tmpdir(), 'lifeboat-bench-'))
  const cloudsFile = join(directory, 'clouds.yaml')
  writeFileSync(cloudsFile, await lab('clouds'))
  const [floors, floorStarts, seen, starts] = [[], [], [], []]
  try {
    await tidy(nova)
    for (let n = 0; n < runs; n++) {
      await bootAll(nova)
      const { seconds, begunAt, ids } = await floor({ nova, host: dead, crash: () => lab('crash', dead), pollMs: 300 })
      floors.push(seconds)
      floorStarts.push(await untilLastStart(ids, begunAt))
      await tidy(nova)
      await bootAll(nova)
      const recovery = await recoverOnce(join(directory, `state-${n}`), cloudsFile)
      seen.push(recovery)
      starts.push(await untilLastStart(recovery.ids, recovery.provenAt))
      await tidy(nova)
    }
  } finally {
    await tidy(nova)
    rmSync(directory, { recursive: true, force: true })
  }
  const peak = Math.max(...seen.map(({ peakMiB }) => peakMiB))
  return [
    ...recoveryFigures('lab', floors, seen),
    // The same clock for both, and no listing of ours or the floor's in between: it is what owners notice.
    figure({
      row: '1',
      what: "proof of death -> the last of 20 guests starts, by the hypervisors' log, ratio to the floor",
      where: 'lab',
      value: median(starts) / median(floorStarts),
      digits: 2,
      target: 1.05,
      note: `recovery ${spread(starts, 2)} s, floor ${spread(floorStarts, 2)} s (min / median / max of ${runs})`,
    }),
    figure({
      row: '5',
      what: 'memory, recovery of 20 on 4 hosts',
      where: 'lab',
      value: peak,
      unit: 'MiB',
      digits: 0,
      target: 110,
    }),
  ]
}

async function recoverOnce(stateDir, cloudsFile) {
  const daemon = new DaemonProcess({
    config: labConfig,
    stateDir,
    port: 9393,
    env: { OS_CLIENT_CONFIG_FILE: cloudsFile },
  })
  try {
    await daemon.start()
    await daemon.watched(hosts)
    const before = await requestsSent()
    const crashedAt = Date.now()
    await lab('crash', dead)
    const closed = await daemon.closed(dead)
    const requests = (await requestsSent()) - before
    const seen = marks(closed, crashedAt)
    const ids = [...closed.incident.instances.keys()]
    return { ...seen, ids, provenAt: crashedAt + seen.provenS * 1000, requests, peakMiB: daemon.memory().peak }
  } finally {
    await daemon.stop()
  }
}

/** Seconds from `since`, by the wall clock, until the last of these guests was started. */
async function untilLastStart(ids, since) {
  const { starts } = JSON.parse(await lab('truth'))
  const last = ids.map((id) => starts[id]?.findLast(([at]) => at * 1000 > since)?.[0] ?? NaN)
  return Math.max(...last) - since / 1000
}

/** Requests to Nova so far, by the daemon's own count. Its polls go on whether anything is recovered or not. */
async function requestsSent() {
  const text = await (await fetch('http://127.0.0.1:9393/metrics')).text()
  const total = (name, label) =>
    text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) && line.includes(label))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  return total('lifeboat_api_request_duration_seconds_count', '"compute"') - total('lifeboat_polls_total', '')
}

async function bootAll(nova) {
  const boot = async (_, n) => {
    const server = { name: `${prefix}-${n}`, flavorRef: '1', imageRef: image, networks: 'none', host: dead }
    await nova.call('POST', '/servers', { server })
  }
  await Promise.all(Array.from({ length: instances }, boot))
  await until(`${instances} servers on ${dead}`, 120_000, async () => {
    const servers = await ownServers(nova)
    return servers.filter(({ status }) => status === 'ACTIVE').length === instances
  })
}

export async function ownServers(nova) {
  return (await nova.call('GET', `/servers/detail?all_tenants=1&name=^${prefix}-`)).servers
}

/** Deletes our servers, then brings every host back in the order of docs/nova.md §4.4. */
export async function tidy(nova) {
  for (const { id } of await ownServers(nova)) await nova.call('DELETE', `/servers/${id}`)
  const { services } = await nova.call('GET', '/os-services?binary=nova-compute')
  for (const { host } of services) await bringBack(nova, host)
  await until('our servers to be gone', 60_000, async () => (await ownServers(nova)).length === 0, 500)
}

/** Start while still forced down, until no evacuation is left to clean up; only then is the mark taken back. */
async function bringBack(nova, host) {
  const done = `/os-migrations?source_compute=${host}&migration_type=evacuation&status=done`
  for (let attempt = 0; attempt < 4; attempt++) {
    const { id, state, status, forced_down: forcedDown, updated_at: before } = await nova.service(host)
    if (state === 'up' && !forcedDown && status === 'enabled') return
    await lab('bmc', host, 'power=On')
    await lab('start', host)
    await until(`${host} to beat`, 60_000, async () => (await nova.service(host)).updated_at > before, 300)
    await sleep(1_000)
    if ((await nova.call('GET', done)).migrations.length === 0) {
      await nova.call('PUT', `/os-services/${id}`, { forced_down: false, status: 'enabled' })
      await until(`${host} to be up`, 60_000, async () => (await nova.service(host)).state === 'up', 300)
      return
    }
    await lab('isolate', host)
  }
  throw new Error(`${host} does not come back`)
}
