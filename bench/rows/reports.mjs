/**
 * Masakari's monitors of a fleet: two hundred begin at once, then a thousand notifications come within a minute. Most are noise; among them
 * guests crash and are restarted, and processes are down of which people are told. How long each waits for its answer, and how much later a
 * host that dies in the middle is found dead.
 */
import { percentile, sleep, spread, until } from '../figures.mjs'
import { NovaClient } from '../nova.mjs'
import { beatMs, freePort, SimulatedCloud } from '../simulated.mjs'
import { figure } from '../targets.mjs'

const hosts = 60
const monitors = 200
/** Of so many notifications one is of a guest that crashed, and one of a process that is down. */
const oneIn = 25
const noise = { event: 'LIFECYCLE', vir_domain_event: 'STOPPED_SHUTDOWN' }
const crash = { event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED' }
const down = { event: 'STOPPED', process_name: 'libvirtd' }

/** @param options { reports, seconds, deaths }: of the second part; `deaths` with reports, and as many without */
export async function reportRows({ reports, seconds, deaths }) {
  const port = await freePort()
  const listen = { listen: `127.0.0.1:${port}`, reporters: ['admin'] }
  const cloud = await SimulatedCloud.start({ hosts, config: { masakari_api: listen } })
  const daemon = cloud.daemon()
  try {
    await daemon.start()
    await daemon.watched(hosts)
    const tokens = await Promise.all(Array.from({ length: monitors }, () => loginOf(cloud)))
    const send = sender(port)
    const together = await Promise.all(tokens.map((token, nth) => send(token, shutDown(nth))))
    const dead = Array.from({ length: 2 * deaths }, (_, nth) => hostName(nth))
    const guests = Array.from({ length: Math.ceil(reports / oneIn) }, (_, nth) => guestOn(cloud, lastHost(nth)))
    const quiet = await beatsToVerdicts(cloud, daemon, dead.slice(0, deaths))
    const stream = paced(reports, (seconds * 1_000) / reports, (nth) =>
      send(tokens[nth % monitors], told(cloud, guests, nth)),
    )
    const busy = await beatsToVerdicts(cloud, daemon, dead.slice(deaths))
    const answers = await stream
    const off = () => guests.filter((uuid) => cloud.simulator.truth().running[uuid]?.length !== 1)
    await until('the crashed guests to run', 60_000, () => off().length === 0).catch(() => undefined)
    return figures(together, answers, { quiet, busy, seconds, crashes: guests.length, off: off().length })
  } finally {
    await daemon.stop()
    await cloud.close()
  }
}

function figures(together, stream, { quiet, busy, seconds, crashes, off }) {
  const refused = [...together, ...stream].filter(({ status }) => status !== 202).length
  const times = (answers) => answers.map(({ tookMs }) => tookMs)
  const tail = (answers) =>
    `p50 ${percentile(times(answers), 0.5).toFixed(0)} ms, p99 ${percentile(times(answers), 0.99).toFixed(0)} ms`
  return [
    figure({
      row: 'reports',
      what: `${monitors} monitors at once and ${stream.length} notifications in ${seconds} s: not answered with 202`,
      where: 'simulator',
      value: refused,
      digits: 0,
      target: 0,
      note: `at once ${tail(together)}; then ${tail(stream)}`,
    }),
    figure({
      row: 'reports',
      what: `${crashes} guests that crash meanwhile: not restarted within a minute`,
      where: 'simulator',
      value: off,
      digits: 0,
      target: 0,
    }),
    figure({
      row: 'reports',
      what: 'death -> host-down verdict beside them, ratio to that without',
      where: 'simulator',
      value: percentile(busy, 0.5) / percentile(quiet, 0.5),
      digits: 2,
      note: `${spread(busy, 2)} heartbeats beside them, ${spread(quiet, 2)} without (min / median / max of ${busy.length})`,
    }),
  ]
}

async function beatsToVerdicts(cloud, daemon, dying) {
  const crashedAt = new Map()
  for (const host of dying) {
    // No multiple of the heartbeat or the poll: the deaths fall into every phase of both.
    await sleep(1_310)
    crashedAt.set(host, cloud.crash(host))
  }
  const beats = []
  for (const [host, at] of crashedAt) {
    const { incident } = await daemon.closed(host)
    beats.push((Date.parse(incident.openedAt) - at) / beatMs)
  }
  return beats
}

/** Starts `work` so many times, one each `everyMs`, whether the ones before are over or not. */
async function paced(count, everyMs, work) {
  const all = []
  const began = performance.now()
  for (let nth = 0; nth < count; nth++) {
    await sleep(Math.max(0, began + nth * everyMs - performance.now()))
    all.push(work(nth))
  }
  return Promise.all(all)
}

/** A token of its own for each monitor: a fleet that starts logs in at once. */
function loginOf(cloud) {
  return new NovaClient(cloud.simulator.cloud(), '').login()
}

function hostName(nth) {
  return `cmp${String(nth + 1).padStart(2, '0')}`
}

/** Counted from the last: the first ones die. */
function lastHost(nth) {
  return hostName(hosts - 1 - nth)
}

/** One that its owner wants restarted. */
function guestOn(cloud, host) {
  return cloud.simulator.addInstance({ host, name: `guest-${host}`, metadata: { HA_Enabled: 'true' } }).uuid
}

/** What the nth notification tells, and what it tells of happens. */
function told(cloud, guests, nth) {
  const round = Math.floor(nth / oneIn)
  if (nth % oneIn === 0) {
    cloud.simulator.crashGuest(guests[round])
    return { type: 'VM', hostname: lastHost(round), payload: { ...crash, instance_uuid: guests[round] } }
  }
  if (nth % oneIn === 1) return { type: 'PROCESS', hostname: lastHost(round), payload: down }
  return shutDown(monitors + nth)
}

/** Of a guest that shut itself down, each another one, so that none is a repetition. */
function shutDown(nth) {
  const payload = { ...noise, instance_uuid: `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}` }
  return { type: 'VM', hostname: lastHost(nth % 10), payload }
}

function sender(port) {
  return async (token, report) => {
    const notification = { generated_time: new Date().toISOString().slice(0, -1), ...report }
    const began = performance.now()
    const answer = await fetch(`http://127.0.0.1:${port}/v1/notifications`, {
      method: 'POST',
      headers: { 'X-Auth-Token': token, 'Content-Type': 'application/json' },
      body: JSON.stringify({ notification }),
    })
    await answer.arrayBuffer()
    return { status: answer.status, tookMs: performance.now() - began }
  }
}
