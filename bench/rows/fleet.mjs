/** Row 5: what watching 5,000 hosts costs. Only the daemon's own process is counted; the cloud is in another one. */
import { cpuSeconds, sleep } from '../figures.mjs'
import { SimulatedCloud } from '../simulated.mjs'
import { figure } from '../targets.mjs'

const hosts = 5_000

/** The first polls make every host known and compile the program: a start costs that once, not every five seconds. */
const settleMs = 15_000

/** @param options { seconds } */
export async function fleetRows({ seconds }) {
  const monitor = { poll_interval: '5s' }
  const cloud = await SimulatedCloud.start({ hosts, beatMs: 10_000, downMs: 60_000, config: { monitor } })
  const daemon = cloud.daemon()
  try {
    await daemon.start()
    await daemon.watched(hosts)
    await sleep(settleMs)
    cloud.simulator.forgetRequests()
    const began = { cpu: cpuSeconds(daemon.pid), at: performance.now() }
    await sleep(seconds * 1000)
    const tookS = (performance.now() - began.at) / 1000
    const share = ((cpuSeconds(daemon.pid) - began.cpu) / tookS) * 100
    const polls = cloud.simulator.requests().filter(({ route }) => route.endsWith('os-services')).length
    const { now, peak } = daemon.memory()
    const note = `${polls} polls in ${tookS.toFixed(0)} s, ${((share * tookS * 10) / polls).toFixed(0)} ms of CPU each`
    return [
      figure({
        row: '5',
        what: '5,000 hosts, every 5 s: share of one core',
        where: 'simulator',
        value: share,
        unit: '%',
        target: 5,
        note,
      }),
      figure({
        row: '5',
        what: '5,000 hosts, every 5 s: memory',
        where: 'simulator',
        value: peak,
        unit: 'MiB',
        digits: 0,
        target: 190,
        note: `peak; ${now.toFixed(0)} MiB at the end`,
      }),
    ]
  } finally {
    await daemon.stop()
    await cloud.close()
  }
}
