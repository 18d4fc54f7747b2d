/** Row both-die: the active daemon dies at the instant of a compute host. What that costs the host's instances, beside deaths of hosts alone. */
import { median, spread } from '../figures.mjs'
import { figure } from '../targets.mjs'
import { ThreeDaemons } from '../three-daemons.mjs'
import { marks } from './recovery.mjs'

const guests = 20

/** So many hosts to each that dies that the brake stays open: the dead ones count until they return. */
const hostsEach = 3

/** @param options { runs }: needs root and Debian's mariadb-server */
export async function bothDieRows({ runs }) {
  const three = await ThreeDaemons.prepare({ hosts: 2 * runs * hostsEach })
  const names = [...three.cloud.simulator.world.hosts.keys()]
  const dying = names.slice(0, 2 * runs)
  const alone = []
  const together = []
  try {
    for (const host of dying) three.cloud.populate(host, guests)
    await three.start()
    await three.daemons[0].watched(names.length)
    // In turn, so that what else the machine does meets both.
    while (dying.length > 0) {
      alone.push(await backAfter(three, dying.shift(), () => Promise.resolve()))
      const { active } = three.parted()
      together.push(await backAfter(three, dying.shift(), () => active.kill()))
      await active.start()
    }
  } finally {
    await three.close()
  }
  const note = (seconds) => `${spread(seconds, 2)} s`
  return [
    figure({
      row: 'both-die',
      what: `death of a host with the active daemon -> all ${guests} back, beyond that of a host alone`,
      where: '3 nodes, this machine',
      value: Math.max(...together) - median(alone),
      unit: 's',
      digits: 2,
      target: 10,
      note: `with the daemon ${note(together)}, alone ${note(alone)} (min / median / max of ${runs}); the worst beyond the median`,
    }),
  ]
}

/** Seconds from a host's death until the last of its instances is back; the deed is done at the same instant. */
async function backAfter(three, host, deed) {
  const { others } = three.parted()
  const crashedAt = three.cloud.crash(host)
  await deed()
  const { backS, recovered } = marks(await others[0].closed(host), crashedAt)
  if (recovered < guests) throw new Error(`${recovered} of ${guests} were recovered`)
  return backS
}
