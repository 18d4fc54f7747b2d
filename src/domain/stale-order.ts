/**
 * Orders that were given up or overtaken while they waited in a dead host's queue: evacuations to it, resizes from it, their confirmations, and
 * rebuilds. The host's nova-compute takes them when it starts, and breaks the instances that were evacuated otherwise meanwhile (docs/nova.md
 * §2.7, §2.8, §3.5, §3.6). What is to be done about one, as one pure decision. Orders that act on a guest are in late-power-order.ts.
 */
import { pauseAfter } from './back-off.ts'
import type { ErrorRecord } from './errors.ts'
import {
  powerState,
  type Instance,
  type InstanceAction,
  type InstanceActionEvent,
  type InstanceId,
  type Migration,
} from './instance.ts'
import { foundAnotherTask, struckOn, type LateOrder } from './late-power-order.ts'
import type { Outcome } from './outcome.ts'
import type { HostName } from './service.ts'

/** Code of the leftover that such an order is. */
export const staleOrderCode = 'STALE_ORDER'

/** In whose queue an order waits, and by which record and request Nova knows it. */
export interface WaitsAt {
  host: HostName
  /** Of an order that has no record: its request's id. */
  migration: string
  /** It acts on the guest, or is a rebuild (late-power-order.ts). Missing: it is an evacuation, a resize, or the confirmation of one. */
  power?: LateOrder
  /** An owner's resize, or an administrator's cold migration. */
  resize?: boolean
  /** Records that stood at `accepted` before it: Nova carries an order out with the oldest. */
  older?: string[]
  requestId: string | null
}

export interface StaleOrder extends WaitsAt {
  incident: string
  /** The host that the instance was evacuated from. */
  source: HostName
  instance: InstanceId
  /** The entry that recorded it. */
  seq: number
}

/** How one came to its end. */
export const staleOrderEnds = {
  repaired: 'It broke the instance, which was put right',
  harmless: 'Nothing came of it',
  'not-ours': 'The instance is not as Lifeboat left it, and is left to people',
  struck: 'It acted on the guest on a host that the instance had left, and a person must look there',
  gone: 'The instance does not exist any more',
} as const

export type StaleOrderEnd = keyof typeof staleOrderEnds

/** The two writes of a repair; their rows carry these kinds. */
export type RepairKind = 'reset-state' | 'stop'

export interface StaleOrderFacts {
  order: StaleOrder
  /** As Nova shows it now; null when it does not exist. */
  instance: Instance | null
  /** All migrations of the instance. */
  records: readonly Pick<Migration, 'uuid' | 'type' | 'status' | 'sourceHost' | 'destHost'>[]
  /** An earlier look has seen it taken already. */
  wasTaken: boolean
  /** Of an order without a record: what the host that it waited for did with it; null: it was not taken. */
  event: Pick<InstanceActionEvent, 'result' | 'details'> | null
  /** Its newest action. */
  newest: Pick<InstanceAction, 'action' | 'requestId' | 'userId' | 'startedAt'> | null
  /** Nova's request ids of everything that Lifeboat did to it in the order's incident. */
  ours: ReadonlySet<string>
  /** How its recovery ended; null while it runs. */
  outcome: Pick<Outcome, 'outcome' | 'after'> | null
  /** A reset of ours was confirmed: for this order, or for another one that broke the instance. */
  isReset: boolean
  /** That reset was for this order. */
  isResetForIt: boolean
  /** Of the host that it is on: its nova-compute is seen well, and no incident of it is open. */
  hostIsWell: boolean
  /** How long the host that the order waited for has been seen beating. */
  beatingForMs: number
  /** Why nothing may be written now, or null. */
  blocked: string | null
  failing: RepairFailures
}

/** The writes of a repair that failed in a row, up to the newest. */
export interface RepairFailures {
  count: number
  /** Since the last of them. */
  forMs: number
}

export type StaleOrderDecision =
  | { do: 'wait'; because: string }
  | { do: RepairKind }
  /** `straysOn`: the host where its guest may run, although Nova has the instance elsewhere. */
  | { do: 'close'; end: StaleOrderEnd; message: string; straysOn?: HostName }

/**
 * How long a host's nova-compute must have run until what waited for it is believed to be taken. Too short: an order that a busy
 * nova-compute takes late breaks an instance and nobody looks; too long costs a reading of each instance now and then.
 */
export const watchedForMs = 300_000

/** The first pause after a write of a repair failed; it doubles with each. Shorter fills the journal with refusals. */
const firstRetryMs = 10_000

/** The longest such pause. Longer leaves the instance broken once Nova allows its repair. */
const rarestRetryMs = 3_600_000

/** Failures in a row after which people hear of them. One alone may be a proxy's hiccup. */
const repairFailuresBeforeAlarm = 3

/** A write of a repair, as far as it tells how that fares. */
interface RepairWrite {
  status: string
  error: Pick<ErrorRecord, 'code'> | null
  endedAt: string | null
}

/**
 * How the repair of one order fares. What was held back never left, and is no failure.
 * @param steps the order's writes, oldest first
 */
export function repairFailures(steps: readonly RepairWrite[], agoMs: (at: string) => number): RepairFailures {
  const ended = steps.filter(({ error }) => error?.code !== 'HELD_BACK')
  const count = ended.length - 1 - ended.findLastIndex(({ status }) => status !== 'failed')
  const last = ended.at(-1)?.endedAt ?? null
  return { count, forMs: count === 0 || last === null ? Infinity : agoMs(last) }
}

/**
 * Whether people are told after the last of these writes. Once: it is tried again less and less often, and only a person can change Nova's
 * mind. What was held back fails nothing.
 */
export function tellsOfFailures(steps: readonly RepairWrite[]): boolean {
  if (steps.at(-1)?.error?.code === 'HELD_BACK') return false
  return repairFailures(steps, () => 0).count === repairFailuresBeforeAlarm
}

export function decideStaleOrder(facts: StaleOrderFacts): StaleOrderDecision {
  const { order, instance, records, event, outcome, isReset, beatingForMs } = facts
  if (instance === null || instance.status === 'DELETED' || instance.vmState === 'deleted')
    return close('gone', 'the instance was deleted')
  const carried = [order.migration, ...(order.older ?? [])]
  const struck = struckBy(facts)
  const isThere =
    instance.host === order.host &&
    records.some((record) => carried.includes(record.uuid) && wentTo(order.host, record))
  // Nova carries it out even after the instance has landed elsewhere, if another stale order has left the task of an evacuation (§2.7).
  const landed = outcome?.after?.host ?? order.host
  if (isThere && landed !== order.host && !wasMovedSince(facts)) return struckOn(landed, instance)
  if (!isTaken(facts)) {
    if (isThere)
      return close('harmless', `the order was carried out on ${order.host} after all, and brought the instance there`)
    if (beatingForMs < watchedForMs && event?.result !== 'Success') return { do: 'wait', because: 'not taken yet' }
    // A rebuild that finds the task of another rebuild, or of an evacuation, is carried out.
    if (event !== null && instance.host !== order.host) return struckOn(order.host, instance)
    return close('harmless', `nova-compute on ${order.host} runs again, and the order did nothing`)
  }
  // A rebuild that failed on anything but the task had begun.
  if (order.power === 'rebuild' && instance.host !== order.host && !foundAnotherTask(event?.details ?? ''))
    return struckOn(order.host, instance)
  // Its recovery is still at work on it, and reads the same records.
  if (outcome === null) return { do: 'wait', because: 'its recovery goes on' }
  const broken = instance.vmState === 'error' && tasksLeftBy(order, struck).has(instance.taskState)
  // It is being carried out. A record that already failed elsewhere shows that only at the end.
  if (instance.taskState?.startsWith('rebuild_') === true && actedSince(facts) === null)
    return order.power === 'rebuild' ? struckOn(order.host, instance) : beingEvacuated(order.host, landed, instance)
  // nova-compute fails the record first, and puts the instance in ERROR a moment later.
  if (!broken && !facts.isResetForIt && !facts.wasTaken) return { do: 'wait', because: 'it was taken just now' }
  const foreign = whyNotOurs(facts, instance)
  if (!broken && !isReset && instance.vmState === 'error' && foreign === null)
    return close('not-ours', `it is in ERROR with the task ${instance.taskState ?? 'none'}, which no such order leaves`)
  if (!broken && !isReset)
    return close('harmless', `the order was taken on ${order.host}, and the instance is ${instance.vmState}`)
  if (foreign !== null) return close('not-ours', foreign)
  const wasStopped = outcome.after?.vmState === 'stopped'
  if (isReset && instance.vmState === (wasStopped ? 'stopped' : 'active') && instance.taskState === null)
    return close('repaired', repairedAs(wasStopped, instance, order))
  if (facts.blocked !== null) return { do: 'wait', because: facts.blocked }
  if (!facts.hostIsWell) return { do: 'wait', because: `${instance.host ?? 'its host'} is not seen well` }
  const { count, forMs } = facts.failing
  if (count > 0 && forMs < pauseAfter(count, firstRetryMs, rarestRetryMs))
    return { do: 'wait', because: `its repair failed ${count} times in a row` }
  if (broken) return { do: 'reset-state' }
  return instance.taskState === null ? { do: 'stop' } : { do: 'wait', because: `its task is ${instance.taskState}` }
}

/** Only the end of the evacuation tells which of the two guests Nova knows: if it fails, the instance stays where it was. */
function beingEvacuated(host: HostName, landed: HostName, { id }: Instance): StaleOrderDecision {
  const message = `Nova is evacuating it to ${host}, although its guest runs on ${landed}: it may run on both, and write to the same disk. Nova ends neither. Once it has no task, end the guest on the host where Nova does not have the instance (virsh destroy ${id})`
  return { do: 'close', end: 'struck', message, straysOn: host }
}

type Struck = StaleOrderFacts['records'][number]

/** Whether the host took it, and failed over it. */
export function isTaken(facts: Pick<StaleOrderFacts, 'order' | 'records' | 'event'>): boolean {
  return struckBy(facts) !== undefined || facts.event?.result === 'Error'
}

function struckBy({ order, records }: Pick<StaleOrderFacts, 'order' | 'records'>): Struck | undefined {
  const carried = [order.migration, ...(order.older ?? [])]
  return records.find((record) => carried.includes(record.uuid) && isTakenAt(order.host, record))
}

/** Whether the host took the order and failed over it. */
function isTakenAt(host: HostName, { type, status, sourceHost, destHost }: Struck): boolean {
  return type === 'evacuation' ? status === 'failed' && destHost === host : status === 'error' && sourceHost === host
}

/** Whether the evacuation was at work on that host, whatever became of it. */
function wentTo(host: HostName, { type, destHost }: Struck): boolean {
  return type === 'evacuation' && destHost === host
}

function tasksLeftBy({ resize, power }: StaleOrder, struck: Struck | undefined): ReadonlySet<string | null> {
  if (resize === true) return new Set(['resize_migrating'])
  return new Set([struck?.type === 'evacuation' || power === 'rebuild' ? 'rebuilding' : null])
}

/** Only what Lifeboat left there, and nobody touched since, may be put right. */
function whyNotOurs(facts: StaleOrderFacts, instance: Instance): string | null {
  const { outcome } = facts
  if (outcome?.outcome !== 'recovered') return `it had not come back by Lifeboat: ${outcome?.outcome ?? 'no outcome'}`
  if (instance.host !== outcome.after?.host)
    return `Lifeboat had brought it to ${outcome.after?.host ?? 'no host'}, and it is on ${instance.host ?? 'no host'} by now`
  return actedSince(facts)
}

/** Orders that may bring an instance to another host, or back. */
const moves: ReadonlySet<string> = new Set([
  'live-migration',
  'migrate',
  'resize',
  'revertResize',
  'evacuate',
  'unshelve',
])

/** Whether someone moved it since: a reboot or a snapshot takes no guest anywhere, and explains nothing. */
function wasMovedSince(facts: StaleOrderFacts): boolean {
  return actedSince(facts) !== null && moves.has(facts.newest?.action ?? '')
}

/** What others than Lifeboat did to the instance since the order, for people; null: nothing. */
function actedSince({ order, newest, ours }: StaleOrderFacts): string | null {
  if (newest === null || ours.has(newest.requestId) || newest.requestId === order.requestId) return null
  const who = newest.userId === null ? 'Nova itself' : 'someone'
  return `${who} acted on it since (${newest.action}, ${newest.startedAt})`
}

function repairedAs(stopped: boolean, { host, powerState: power }: Instance, order: StaleOrder): string {
  const room = order.resize === true ? `; Placement counts it on ${order.host} by now` : ''
  if (stopped) return `put right on ${host ?? 'its host'}: stopped again${room}`
  const known = power === powerState.running ? '' : '; Nova shows its power at its next power sync'
  return `put right on ${host ?? 'its host'}: active again, its guest was not touched${known}${room}`
}

function close(end: StaleOrderEnd, message: string): StaleOrderDecision {
  return { do: 'close', end, message }
}
