/** Row 6: what the daemon itself costs in a recovery of 2,000 instances, journal included. */
import { fileURLToPath } from 'node:url'
import { memoryDirectory, SimulatedCloud } from '../simulated.mjs'
import { figure } from '../targets.mjs'
import { marks } from './recovery.mjs'

const program = fileURLToPath(new URL('../measured-daemon.mjs', import.meta.url))
const host = 'cmp01'

/** Four times the default, so that the daemon has more to do at once and the row takes a minute less. */
const atOnce = 128

/**
 * With the journal in memory, where what an append takes is the daemon's own work, and on disk, where it is mostly the
 * disk's sync: one for each append, because a step is on record before it is taken.
 * @param options { instances, onDisk }
 */
export async function stepRows({ instances, onDisk }) {
  const own = memoryDirectory === null ? [] : await measure(instances, 'simulator, journal in memory', memoryDirectory)
  return [...own, ...(await measure(onDisk, 'simulator, journal on disk', undefined))]
}

async function measure(instances, where, place) {
  const config = { executor: { max_parallel: atOnce }, defaults: { max_parallel_per_host: atOnce } }
  // Nova's part is made as short as it can be, so that the daemon never waits for it.
  const cloud = await SimulatedCloud.start({ hosts: 20, timings: {}, place, config })
  const daemon = cloud.daemon([program])
  try {
    cloud.populate(host, instances)
    await daemon.start()
    await daemon.watched(20)
    const crashedAt = cloud.crash(host)
    const { backS, provenS, recovered } = marks(await daemon.closed(host, 300_000), crashedAt)
    const seen = await daemon.ask('figures')
    const { peak } = daemon.memory()
    return figures(seen, { where, instances, recovered, seconds: backS - provenS, peak })
  } finally {
    await daemon.stop()
    await cloud.close()
  }
}

function figures(seen, { where, instances, recovered, seconds, peak }) {
  const three = (at) => `p50 ${at.p50.toFixed(2)}, p99 ${at.p99.toFixed(2)}, max ${at.max.toFixed(1)} ms`
  const base = { row: '6', where, unit: 'ms', digits: 2 }
  const { steps, append, undisturbed, write, loop } = seen
  return [
    figure({
      ...base,
      what: `${instances} instances: one journal append with its listeners, not preempted, p99`,
      value: undisturbed.p99,
      target: 1,
      note: `${undisturbed.count} appends in which the kernel lent the core to nobody else: ${three(undisturbed)}; all ${seen.appends}: ${three(append)}; on disk alone: ${three(write)}; ${recovered} recovered in ${seconds.toFixed(1)} s`,
    }),
    figure({
      ...base,
      what: `${instances} instances: planning, original and plan in the journal, each`,
      value: seen.planMsEach,
      target: 1,
    }),
    figure({
      ...base,
      what: `${instances} instances: CPU of the whole process per step, mean`,
      value: seen.cpuMsEach,
      note: `${steps} steps; everything counted: HTTP, JSON, polls, journal`,
    }),
    figure({
      ...base,
      what: `${instances} instances: event loop delay, longest`,
      value: loop.max,
      target: 100,
      note: three(loop),
    }),
    figure({ ...base, what: `${instances} instances: memory, peak`, value: peak, unit: 'MiB', digits: 0 }),
  ]
}
