/** Row 2: from the death of a host to the verdict host-down, in heartbeats, one host after another of a larger fleet. */
import { percentile, sleep, spread } from '../figures.mjs'
import { beatMs, SimulatedCloud } from '../simulated.mjs'
import { figure } from '../targets.mjs'

const hosts = 60

/** @param options { deaths } */
export async function detectionRow({ deaths }) {
  const cloud = await SimulatedCloud.start({ hosts })
  const daemon = cloud.daemon()
  try {
    await daemon.start()
    await daemon.watched(hosts)
    const crashedAt = new Map()
    for (let n = 1; n <= deaths; n++) {
      // No multiple of the heartbeat or the poll: the deaths fall into every phase of both.
      await sleep(1_310)
      const host = `cmp${String(n).padStart(2, '0')}`
      crashedAt.set(host, cloud.crash(host))
    }
    const beats = []
    for (const [host, at] of crashedAt) {
      const { incident } = await daemon.closed(host)
      beats.push((Date.parse(incident.openedAt) - at) / beatMs)
    }
    return [detectionFigure('simulator', beats, `${deaths} deaths, heartbeat ${beatMs / 1000} s, poll 1 s`)]
  } finally {
    await daemon.stop()
    await cloud.close()
  }
}

export function detectionFigure(where, beats, how) {
  return figure({
    row: '2',
    what: 'death -> host-down verdict, in heartbeats, worst',
    where,
    value: Math.max(...beats),
    digits: 2,
    target: 3,
    note: `${spread(beats, 2)} (min / median / max), p90 ${percentile(beats, 0.9).toFixed(2)}; ${how}`,
  })
}
