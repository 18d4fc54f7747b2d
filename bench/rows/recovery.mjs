/** Rows 1, 3 and 4: twenty instances of a dead host, beside the floor that is measured in the same run. */
import { median, spread } from '../figures.mjs'
import { floor } from '../floor.mjs'
import { realistic, SimulatedCloud, slower } from '../simulated.mjs'
import { figure } from '../targets.mjs'

export const instances = 20
const host = 'cmp01'

/** Seconds from the crash to each mark of a recovery, all from the journal; `crashedAt` is wall time. */
export function marks({ incident, entries }, crashedAt) {
  const after = (kind) => (Date.parse(entries.findLast((entry) => entry.kind === kind)?.at ?? '') - crashedAt) / 1000
  const recovered = [...incident.instances.values()].filter(({ outcome }) => outcome?.outcome === 'recovered').length
  const verdictS = (Date.parse(incident.openedAt) - crashedAt) / 1000
  return { verdictS, provenS: after('proof.recorded'), backS: after('outcome.recorded'), recovered }
}

/** The four figures of design rows 1, 3 and 4, from any number of floor and recovery runs. */
export function recoveryFigures(where, floors, runs) {
  const recoveries = runs.map(({ backS, provenS }) => backS - provenS)
  const lost = runs.some(({ recovered }) => recovered < instances) ? '; NOT ALL WERE RECOVERED' : ''
  return [
    figure({
      row: '1',
      what: 'proof of death -> all 20 recovered, ratio to the floor',
      where,
      value: median(recoveries) / median(floors),
      digits: 2,
      // The simulated Nova that is quick is so quick that a tenth of a second of ours is some percent.
      target: where === 'simulator' ? 1.15 : 1.05,
      note: `${(median(recoveries) - median(floors)).toFixed(2)} s above the floor; recovery ${spread(recoveries, 2)} s, floor ${spread(floors, 2)} s (min / median / max of ${runs.length})${lost}`,
    }),
    figure({
      row: '3',
      what: 'death -> all 20 back',
      where,
      value: median(runs.map(({ backS }) => backS)),
      unit: 's',
      target: 12.5,
      note: `${spread(runs.map(({ backS }) => backS))} s`,
    }),
    figure({
      row: '4',
      what: 'Nova requests per recovered instance, listings included, polls of the services not',
      where,
      value: median(runs.map(({ requests }) => requests)) / instances,
      digits: 2,
      target: 3,
      note: `${runs.map(({ requests }) => requests).join(', ')} requests from the crash until the incident was closed`,
    }),
  ]
}

/** Twice: with a Nova that is quick, where every tenth of ours shows, and with one as slow as the lab's. */
export async function recoveryRows({ runs }) {
  const quick = await compare(runs, realistic)
  const slow = await compare(Math.ceil(runs / 2), slower)
  const figures = recoveryFigures('simulator', quick.floors, quick.seen)
  return [...figures, ...recoveryFigures('simulator, slow spawn', slow.floors, slow.seen)]
}

async function compare(runs, timings) {
  const floors = []
  const seen = []
  for (let run = 0; run < runs; run++) {
    floors.push(await floorOnce(timings))
    seen.push(await recoverOnce(timings))
  }
  return { floors, seen }
}

async function floorOnce(timings) {
  const cloud = await SimulatedCloud.start({ hosts: 4, timings })
  try {
    cloud.populate(host, instances)
    const crash = () => Promise.resolve(cloud.crash(host))
    return (await floor({ nova: cloud.nova(), host, crash, pollMs: 100 })).seconds
  } finally {
    await cloud.close()
  }
}

async function recoverOnce(timings) {
  const cloud = await SimulatedCloud.start({ hosts: 4, timings })
  const daemon = cloud.daemon()
  try {
    cloud.populate(host, instances)
    await daemon.start()
    await daemon.watched(4)
    cloud.simulator.forgetRequests()
    const crashedAt = cloud.crash(host)
    const closed = await daemon.closed(host)
    const toNova = cloud.simulator.requests().filter(({ path }) => path.startsWith('compute/'))
    // The services are polled whether anything is recovered or not.
    const ofRecovery = toNova.filter(({ method, route }) => method !== 'GET' || !route.endsWith('os-services'))
    return { ...marks(closed, crashedAt), requests: ofRecovery.length }
  } finally {
    await daemon.stop()
    await cloud.close()
  }
}
