/** Row memory: what the daemon takes at most in a recovery of twenty, in turn with an earlier build if one is given. */
import { builds } from '../builds.mjs'
import { median, spread } from '../figures.mjs'
import { SimulatedCloud } from '../simulated.mjs'
import { figure } from '../targets.mjs'
import { instances } from './recovery.mjs'

const host = 'cmp01'

/** @param options { runs, beside }: `beside` is the main.js of an earlier build, or undefined */
export async function memoryRows({ runs, beside }) {
  const measured = builds(beside).map((build) => ({ ...build, peaks: [] }))
  for (let run = 0; run < runs; run++) for (const { main, peaks } of measured) peaks.push(await peakOnce(main))
  return measured.map(({ where, peaks }) =>
    figure({
      row: 'memory',
      what: 'a recovery of 20: memory, peak',
      where,
      value: median(peaks),
      unit: 'MiB',
      digits: 0,
      target: 110,
      note: `${spread(peaks, 0)} MiB (min / median / max of ${runs})`,
    }),
  )
}

async function peakOnce(main) {
  const cloud = await SimulatedCloud.start({ hosts: 4 })
  const daemon = cloud.daemon([main, 'run'])
  try {
    cloud.populate(host, instances)
    await daemon.start()
    await daemon.watched(4)
    cloud.crash(host)
    await daemon.closed(host)
    return daemon.memory().peak
  } finally {
    await daemon.stop()
    await cloud.close()
  }
}
