/**
 * Row 7: kill -9 in the middle of a recovery, start again, and how long until it is going on. What was ordered lands meanwhile: the time is the
 * daemon's own, not the simulated Nova's.
 */
import { builds } from '../builds.mjs'
import { median, sleep, spread, until } from '../figures.mjs'
import { SimulatedCloud } from '../simulated.mjs'
import { figure } from '../targets.mjs'
import { instances, marks } from './recovery.mjs'

const host = 'cmp01'

/** Fewer than the instances: at the kill some steps are under way, some are over and some have not begun. */
const atOnce = 8

/** As long as the simulated Nova needs for an evacuation, and a little more. */
const landsWithinMs = 1_500

/** @param options { runs, beside }: `beside` is the main.js of an earlier build, or undefined */
export async function restartRow({ runs, beside }) {
  const measured = builds(beside).map((build) => ({ ...build, seen: [] }))
  for (let run = 0; run < runs; run++) for (const { main, seen } of measured) seen.push(await restartOnce(main))
  return measured.map(({ where, seen }) => restartFigure(where, seen))
}

function restartFigure(where, seen) {
  const of = (key) => seen.map((at) => at[key])
  const lost = of('recovered').some((count) => count < instances) ? '; NOT ALL WERE RECOVERED' : ''
  const twice = of('twice').some((count) => count > 0) ? '; SOME WERE EVACUATED TWICE' : ''
  return figure({
    row: '7',
    what: 'kill -9 and restart -> first step settled',
    where,
    value: median(of('settledS')),
    unit: 's',
    digits: 2,
    target: 0.9,
    note:
      `${spread(of('settledS'), 2)} s; next new step ${spread(of('nextS'), 2)} s, ready ${spread(of('readyS'), 2)} s ` +
      `after the process started (min / median / max of ${seen.length}); ${of('open').join(', ')} steps were under way${lost}${twice}`,
  })
}

async function restartOnce(main) {
  const config = { defaults: { max_parallel_per_host: atOnce } }
  const cloud = await SimulatedCloud.start({ hosts: 4, config })
  const daemon = cloud.daemon([main, 'run'])
  try {
    cloud.populate(host, instances)
    await daemon.start()
    await daemon.watched(4)
    const crashedAt = cloud.crash(host)
    const issued = () => daemon.entries({ host, kinds: ['step.issued'] }).filter((entry) => entry.instance !== null)
    await until('a recovery in its middle', 60_000, () => issued().length > atOnce, 20)
    await daemon.kill()
    await sleep(landsWithinMs)
    const before = daemon.entries({ host })
    const { startedAt, readyMs } = await daemon.start()
    const closed = await daemon.closed(host)
    const news = closed.entries.filter(({ seq, instance }) => seq > before.at(-1).seq && instance !== null)
    const after = (entry) => (Date.parse(entry?.at ?? '') - startedAt) / 1000
    const evacuations = [...closed.incident.instances.keys()].map((id) => cloud.simulator.evacuationsOf(id).length)
    return {
      open: openSteps(before),
      readyS: readyMs / 1000,
      settledS: after(news.find(({ kind }) => kind === 'step.confirmed' || kind === 'step.failed')),
      nextS: after(news.find(({ kind }) => kind === 'step.intended')),
      recovered: marks(closed, crashedAt).recovered,
      twice: evacuations.filter((count) => count > 1).length,
    }
  } finally {
    await daemon.stop()
    await cloud.close()
  }
}

/** Steps of instances that were intended and had no end. */
function openSteps(entries) {
  const open = new Set()
  for (const { kind, instance, step } of entries) {
    if (instance === null || step === null) continue
    if (kind === 'step.intended') open.add(`${instance} ${step}`)
    if (kind === 'step.confirmed' || kind === 'step.failed') open.delete(`${instance} ${step}`)
  }
  return open.size
}
