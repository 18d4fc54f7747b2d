/**
 * From the verdict's entry in the journal until the webhook of each owner was received (OPNFV Doctor asks for a second), with
 * few and with many instances on the host; and what a receiver that hangs costs the recovery.
 */
import { median, spread } from '../figures.mjs'
import { Receiver, secret } from '../receiver.mjs'
import { SimulatedCloud } from '../simulated.mjs'
import { figure } from '../targets.mjs'
import { marks } from './recovery.mjs'

const host = 'cmp01'
/** Doctor's requirement, ms. */
export const doctor = 1_000

/** @param options { runs } */
export async function noticeRows({ runs }) {
  const rows = []
  for (const [instances, projects] of [
    [20, 4],
    [500, 20],
  ]) {
    const seen = []
    for (let run = 0; run < runs; run++) seen.push(await tellOwners(instances, projects))
    rows.push(...noticeFigures('simulator', { instances, projects, seen }))
  }
  const [without, hanging] = [[], []]
  for (let run = 0; run < runs; run++) {
    without.push(await recovery(null))
    hanging.push(await recovery({ hangs: true }))
  }
  const note = `${spread(hanging, 2)} s with two receivers that take everything and never answer, ${spread(without, 2)} s without notices`
  const value = median(hanging) / median(without)
  const what = 'recovery of 20 beside receivers that hang, ratio to one without notices'
  return [...rows, figure({ row: 'notices', what, where: 'simulator', value, digits: 2, note })]
}

/** @param seen of each run { owners: ms of each owner's notice, pager: ms } */
export function noticeFigures(where, { instances, projects, seen }) {
  const last = seen.map(({ owners }) => Math.max(...owners))
  const first = seen.map(({ owners }) => Math.min(...owners))
  const pager = seen.map((run) => run.pager)
  const missing = seen.some(({ owners }) => owners.length !== projects) ? '; NOT ALL WERE TOLD' : ''
  return [
    figure({
      row: 'notices',
      what: `verdict -> the last of ${projects} owners told, ${instances} instances on the host`,
      where,
      value: median(last),
      unit: 'ms',
      digits: 0,
      target: doctor,
      note: `last owner ${spread(last, 0)} ms, first owner ${spread(first, 0)} ms, operators ${spread(pager, 0)} ms (min / median / max of ${seen.length})${missing}`,
    }),
  ]
}

/** The receivers' part of a configuration. */
export function receivers({ url }) {
  const hook = { kind: 'webhook', url, secret }
  return { receivers: { owners: { ...hook, audience: 'tenant' }, pager: { ...hook, topics: ['host-down'] } } }
}

/** Ms from the verdict's entry to each notice. */
export function delays(entries, receiver) {
  const verdict = entries.find(({ kind, data }) => kind === 'verdict.changed' && data.kind === 'host-down')
  const since = ({ at }) => at - Date.parse(verdict.at)
  return { owners: receiver.of('instances-affected').map(since), pager: receiver.of('host-down').map(since)[0] }
}

async function tellOwners(instances, projects) {
  const receiver = await Receiver.start()
  const cloud = await SimulatedCloud.start({ hosts: 8, config: { notices: receivers(receiver) } })
  const daemon = cloud.daemon()
  try {
    for (let n = 0; n < instances; n++)
      cloud.simulator.addInstance({ host, name: `app-${n}`, state: 'active', project: `project-${n % projects}` })
    await daemon.start()
    await daemon.watched(8)
    cloud.crash(host)
    await daemon.closed(host)
    return delays(daemon.entries({ host, kinds: ['verdict.changed'] }), receiver)
  } finally {
    await daemon.stop()
    await cloud.close()
    await receiver.close()
  }
}

/** Seconds from the proof of death until all twenty are back. */
async function recovery(kind) {
  const receiver = kind === null ? null : await Receiver.start(kind)
  const config = receiver === null ? {} : { notices: receivers(receiver) }
  const cloud = await SimulatedCloud.start({ hosts: 4, config })
  const daemon = cloud.daemon()
  try {
    cloud.populate(host, 20)
    await daemon.start()
    await daemon.watched(4)
    const crashedAt = cloud.crash(host)
    const { backS, provenS } = marks(await daemon.closed(host), crashedAt)
    return backS - provenS
  } finally {
    await daemon.stop()
    await cloud.close()
    await receiver?.close()
  }
}
