/**
 * The answers that the pages ask for, from a daemon whose journal holds 100 incidents of 20 instances and 50 of 2,000: 102,000
 * instances. One recovery is real (on the simulator); the others are copies of its entries under other names, appended as the
 * daemon would. Of 49 of the large ones only plans and outcomes: they are there to be searched.
 */
import { join } from 'node:path'
import { systemClock as clock } from '../../dist/system/system-clock.js'
import { requestHeader } from '../../dist/domain/review.js'
import { openJournal } from '../../dist/journal/journal.js'
import { percentile } from '../figures.mjs'
import { freePort, SimulatedCloud } from '../simulated.mjs'
import { figure } from '../targets.mjs'
import { pageLoads } from './page-loads.mjs'

const incidents = 100
const instances = 20
const many = 2_000
const searched = 49
const host = 'cmp01'

/** What a page may take to load. */
const targetMs = 200

/** What a search may take: it is asked for with each letter. */
const searchTargetMs = 100

/** @param options { repeats } */
export async function pageRows({ repeats }) {
  const port = await freePort()
  const config = { web: { listen: `127.0.0.1:${port}`, requests_per_minute: 1_000_000 } }
  const cloud = await SimulatedCloud.start({ hosts: 20, timings: {}, config })
  const daemon = cloud.daemon()
  try {
    cloud.populate(host, instances)
    await daemon.start()
    await daemon.watched(20)
    cloud.crash(host)
    const { incident, entries } = await daemon.closed(host)
    await daemon.stop()
    const known = copies({ path: join(cloud.directory, 'state', 'journal.db'), incident, entries })
    await daemon.start()
    await daemon.watched(19)
    const url = `http://127.0.0.1:${port}`
    const cookie = await loggedIn(url, cloud.simulator.cloud())
    const answers = await measure(asking(url, cookie), known, repeats)
    const { made, large, entries: rows } = known
    const loads = {
      url,
      cookie,
      incident: made[0],
      instance: known.instance,
      large,
      host: 'cmp02',
      entries: rows,
      repeats: Math.ceil(repeats / 2),
    }
    return [...answers, ...(await pageLoads(loads))]
  } finally {
    await daemon.stop()
    await cloud.close()
  }
}

/** Gives the ids of the incidents, the large one's, and how many entries there are. */
function copies({ path, incident, entries }) {
  const journal = openJournal(path, { clock })
  try {
    const ids = [...incident.instances.keys()]
    const made = [incident.id]
    for (let n = 1; n < incidents; n++) made.push(append(journal, entries, { ids, from: incident, to: n, times: 1 }))
    const large = append(journal, entries, { ids, from: incident, to: incidents, times: many / instances })
    const lean = entries.filter(
      ({ kind, instance }) => instance === null || kind === 'plan.made' || kind === 'outcome.recorded',
    )
    for (let n = 1; n <= searched; n++)
      append(journal, lean.map(withoutRecipes), { ids, from: incident, to: incidents + n, times: many / instances })
    const [[, { plan }]] = incident.instances
    return { made, instance: ids[0], name: plan.name, large, entries: journal.head().seq }
  } finally {
    journal.close()
  }
}

/** Of a plan the recipes are most of its size, and no search reads them. */
function withoutRecipes(entry) {
  return entry.kind === 'plan.made' ? { ...entry, data: { ...entry.data, recipes: {} } } : entry
}

/** The entries under another name, with each instance `times` times. */
function append(journal, entries, { ids, from, to, times }) {
  const id = from.id.replace(host, `old${to}`)
  const anyId = new RegExp(ids.join('|'), 'g')
  const copy = (entry, nth) => {
    const prefix = (to * 1_000 + nth).toString(16).padStart(8, '0')
    const text = JSON.stringify(entry).replaceAll(from.id, id).replaceAll(`"host":"${host}"`, `"host":"old${to}"`)
    const {
      actor,
      incident,
      host: on,
      instance,
      step,
      kind,
      data,
    } = JSON.parse(text.replaceAll(anyId, (found) => prefix + found.slice(8)))
    if (kind === 'plan.made') data.name = `${data.name}-${to}-${nth}`
    const given = Object.entries({ incident, host: on, instance, step }).filter(([, value]) => value !== null)
    return { actor, kind, data, ...Object.fromEntries(given) }
  }
  const wanted = entries.flatMap((entry) =>
    Array.from({ length: entry.instance === null ? 1 : times }, (_, nth) => copy(entry, nth)),
  )
  for (let at = 0; at < wanted.length; at += 500) journal.append(wanted.slice(at, at + 500))
  return id
}

/** Gives the cookie of a new session. */
async function loggedIn(url, { username: user, password }) {
  const headers = { 'content-type': 'application/json', [requestHeader]: '1' }
  const body = JSON.stringify({ user, password })
  const answer = await fetch(`${url}/v1/session`, { method: 'POST', headers, body })
  if (answer.status !== 201) throw new Error(`cannot log in: ${answer.status} ${await answer.text()}`)
  return answer.headers.get('set-cookie').split(';')[0]
}

/** Asks as a page does. */
function asking(url, cookie) {
  return async (path) => {
    const began = performance.now()
    const got = await fetch(url + path, { headers: { cookie } })
    const text = await got.text()
    if (!got.ok) throw new Error(`GET ${path}: ${got.status} ${text.slice(0, 200)}`)
    return { tookMs: performance.now() - began, bytes: text.length }
  }
}

async function measure(ask, { made, instance, name, large, entries }, repeats) {
  const again = (path) => Array.from({ length: repeats }, () => path)
  const kinds = 'verdict.changed,incident.opened,incident.closed,outcome.recorded'
  const asked = [
    ['status', again('/v1/status')],
    ['hosts', again('/v1/hosts')],
    ['a host', again('/v1/hosts/cmp02')],
    ['readiness of all hosts', again('/v1/readiness')],
    ['segments', again('/v1/segments')],
    ['maintenance', again('/v1/maintenance')],
    ['notices', again('/v1/notices')],
    ['the brake', again('/v1/brake')],
    ['verdicts of a host', again(`/v1/verdicts?host=${host}&limit=50`)],
    ['incidents', again('/v1/incidents?limit=200')],
    ['open incidents', again('/v1/incidents?open=true')],
    ['recoveries', again('/v1/recoveries')],
    ['an incident, each for the first time', made.map((id) => `/v1/incidents/${id}/review`)],
    ['an incident again', again(`/v1/incidents/${made[0]}/review`)],
    ['two incidents side by side, one of 2,000', again(`/v1/incidents/${made[0]}/diff/${large}`)],
    ['an instance of an incident', again(`/v1/incidents/${made[0]}/instances/${instance}`)],
    ['all incidents of an instance', again(`/v1/instances/${instance}`)],
    ['the record of an instance', again(`/v1/instances/${instance}/record`)],
    ['search for one instance by name', again(`/v1/search?q=${name}`), searchTargetMs],
    ['search for a part of each name', again(`/v1/search?q=${name.slice(0, 3)}`), searchTargetMs],
    ['search for a UUID', again(`/v1/search?q=${instance}`), searchTargetMs],
    ['search for nothing on record', again('/v1/search?q=nowhere'), searchTargetMs],
    ['report in Markdown', again(`/v1/incidents/${made[0]}/report?format=markdown`)],
    ['report in JSON lines', again(`/v1/incidents/${made[0]}/report?format=json`)],
    ['journal, newest page', again('/v1/journal?newestFirst=true&limit=100')],
    ['journal, page of some kinds', again(`/v1/journal?newestFirst=true&limit=100&kinds=${kinds}`)],
    ['journal, page of a host by a person', again(`/v1/journal?host=${host}&actor=operator:nobody`)],
    [`an incident of ${many} instances, first time`, [`/v1/incidents/${large}/review`], null],
    [`an incident of ${many} instances again`, again(`/v1/incidents/${large}/review`)],
    ['walk of the whole chain', ['/v1/journal/verify'], null],
  ]
  const figures = []
  for (const [what, paths, target = targetMs] of asked) {
    const seen = []
    for (const path of paths) seen.push(await ask(path))
    const took = seen.map(({ tookMs }) => tookMs)
    const kilobytes = Math.max(...seen.map(({ bytes }) => bytes)) / 1000
    const note = `${what}: p50 ${percentile(took, 0.5).toFixed(1)} ms of ${took.length}, ${kilobytes.toFixed(1)} kB`
    const line = { row: 'pages', where: `journal of ${entries} entries`, unit: 'ms', target, note }
    figures.push(figure({ ...line, what: `GET ${what}, p99`, value: percentile(took, 0.99) }))
  }
  return figures
}
