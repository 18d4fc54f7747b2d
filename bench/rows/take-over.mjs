/**
 * Row take-over: three daemons on three real database nodes, in the middle of a recovery. How long no daemon acts once the active one is killed, by the
 * simulated Nova's own log of requests; and how long none is active once it is stopped in order. Then evacuations that are under way may fill
 * every place, so the next act says nothing of the take-over.
 */
import { percentile, sleep, until } from '../figures.mjs'
import { slower } from '../simulated.mjs'
import { figure } from '../targets.mjs'
import { ThreeDaemons } from '../three-daemons.mjs'

const host = 'cmp01'

/** So few at once that the recovery outlasts all deaths, and all of them end while no daemon acts: the next one has room to act at once. */
const atOnce = 4
const guestsEach = 12

/** @param options { deaths, stops }: needs root and Debian's mariadb-server */
export async function takeOverRows({ deaths, stops }) {
  const three = await ThreeDaemons.prepare({
    ...{ hosts: 4, timings: slower },
    config: { defaults: { max_parallel_per_host: atOnce } },
  })
  const { cloud } = three
  try {
    cloud.populate(host, (deaths + stops) * guestsEach)
    await three.start()
    await three.daemons[0].watched(4)
    cloud.crash(host)
    const ended = async (how, count) => {
      const seen = []
      for (let n = 0; n < count; n++) seen.push(await endOnce(three, how))
      return { began: seen.map(({ beganS }) => beganS), acted: seen.map(({ actedS }) => actedS) }
    }
    const base = { row: 'take-over', where: '3 nodes, this machine', unit: 's', digits: 2 }
    const killed = await ended('kill', deaths)
    const stopped = await ended('stop', stops)
    return [
      figure({
        ...base,
        what: 'kill -9 of the active daemon -> the next one is active, p99',
        value: percentile(killed.began, 0.99),
        note: `active: ${spreadOf(killed.began)}`,
      }),
      figure({
        ...base,
        what: 'kill -9 of the active daemon -> first act of the next, p99',
        value: percentile(killed.acted, 0.99),
        target: 10,
        note: `first act: ${spreadOf(killed.acted)}`,
      }),
      figure({
        ...base,
        what: 'SIGTERM of the active daemon -> the next one is active, p99',
        value: percentile(stopped.began, 0.99),
        target: 1,
        note: `active after SIGTERM: ${spreadOf(stopped.began)}`,
      }),
    ]
  } finally {
    await three.close()
  }
}

/** Ends the active daemon, waits for an act of the next one, and starts the ended one again. Gives when that one began and acted, in seconds. */
async function endOnce(three, how) {
  const { cloud } = three
  const acts = () => cloud.simulator.requests().filter(({ action }) => action === 'evacuate')
  cloud.simulator.forgetRequests()
  await until('an act of the active daemon', 60_000, () => acts().length > 0)
  // Into every phase of the lease, of the looks and of the recovery.
  await sleep(Math.random() * 3_000)
  const before = three.lastTenure()
  const { active, others } = three.parted()
  const endedAt = Date.now()
  const ending = active[how]()
  const next = await until('the next tenure', 60_000, () => {
    const last = three.lastTenure(others[0])
    return last.data.epoch > before.data.epoch && last
  })
  const beganAt = Date.parse(next.at)
  const act = await until('its first act', 60_000, () => acts().find(({ at }) => at >= beganAt))
  await ending
  await active.start()
  // It stands by, and has a place in the take-over after this one.
  await sleep(2_500)
  return { beganS: (beganAt - endedAt) / 1_000, actedS: (act.at - endedAt) / 1_000 }
}

function spreadOf(seconds) {
  const [p50, most] = [percentile(seconds, 0.5), Math.max(...seconds)].map((at) => at.toFixed(2))
  return `p50 ${p50}, longest ${most} s of ${seconds.length}`
}
