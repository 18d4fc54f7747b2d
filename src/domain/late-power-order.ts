/**
 * Orders that act on a guest and wait in a dead host's queue, no matter who gave them. The host's nova-compute carries them out when it
 * starts, also for an instance that was evacuated meanwhile, and looks at the task first for a reboot alone: so a guest may run twice, or
 * be stopped where it lives (docs/nova.md §2.8). Nothing in Nova takes such an order back. Which orders wait, and what came of one, as pure
 * decisions. A rebuild waits there too, and looks at the task before it touches a guest: what that breaks is in stale-order.ts.
 */
import { diskInUse, type Instance, type InstanceActionEvent } from './instance.ts'
import type { HostName } from './service.ts'

/** What each does to a guest. */
const acts = {
  start: 'starts',
  resume: 'starts',
  unrescue: 'starts',
  rescue: 'starts',
  stop: 'stops',
  reboot: 'reboots',
} as const

export type LatePower = keyof typeof acts

export type LateOrder = LatePower | 'rebuild'

export function isLatePower(action: string): action is LatePower {
  return Object.hasOwn(acts, action)
}

export function isLateOrder(action: string): action is LateOrder {
  return action === 'rebuild' || isLatePower(action)
}

/** Tasks of which nova-compute has not taken the order, or has only just. They stay when the host dies. */
const tasks: ReadonlyMap<string | null, LateOrder> = new Map([
  ['powering-on', 'start'],
  ['powering-off', 'stop'],
  ['rebooting', 'reboot'],
  ['rebooting_hard', 'reboot'],
  ['resuming', 'resume'],
  ['rescuing', 'rescue'],
  ['unrescuing', 'unrescue'],
  ['rebuilding', 'rebuild'],
])

/** The order that a task tells of, or null. */
export function lateOrderIn(task: string | null): LateOrder | null {
  return tasks.get(task) ?? null
}

/**
 * nova-compute opens the event before it does anything; the conductor's own event of a rebuild only says that it sent the order on.
 * `taken`: so what was ordered before it was taken as well.
 */
export function standingAt(host: HostName, events: readonly InstanceActionEvent[]): 'waits' | 'taken' | 'elsewhere' {
  const taken = events.filter(isOfCompute)
  if (taken.some((event) => event.host === host)) return 'taken'
  return taken.length === 0 && events.every(({ result }) => result !== 'Error') ? 'waits' : 'elsewhere'
}

/** What `host` did with an order; null while it has not taken it. */
export function takenAt(host: HostName, events: readonly InstanceActionEvent[]): InstanceActionEvent | null {
  return events.find((event) => isOfCompute(event) && event.host === host) ?? null
}

/** A controller that is a compute host as well has events of its conductor under the same name. */
function isOfCompute({ event }: InstanceActionEvent): boolean {
  return event.startsWith('compute_')
}

export interface LatePowerFacts {
  /** The host in whose queue it waited. */
  order: { host: HostName; power: LatePower }
  /** As Nova shows it now; null when it does not exist. */
  instance: Instance | null
  /** Of the order's action, at the host that it waited for; null: it was not taken. */
  event: Pick<InstanceActionEvent, 'result' | 'details'> | null
  /** What a person ordered last. */
  lastOrder: 'start' | 'stop' | null
  /** How long the host that the order waited for has been seen beating. */
  beatingForMs: number
  watchedForMs: number
}

export type LatePowerDecision =
  | { do: 'wait'; because: string }
  | { do: 'close'; end: 'gone' | 'harmless' | 'struck'; message: string; straysOn?: HostName }

export function decideLatePower(facts: LatePowerFacts): LatePowerDecision {
  const { order, instance, event, beatingForMs, watchedForMs } = facts
  const { host, power } = order
  if (instance === null || instance.status === 'DELETED' || instance.vmState === 'deleted')
    return { do: 'close', end: 'gone', message: 'the instance was deleted' }
  if (event === null) {
    if (beatingForMs < watchedForMs) return { do: 'wait', because: 'not taken yet' }
    return harmless(`nova-compute on ${host} runs again, and the ${power} did nothing`)
  }
  // A nova-compute that dies over it never closes the event.
  if (event.result === null && beatingForMs < watchedForMs) return { do: 'wait', because: `${host} carries it out` }
  if (instance.host === host) return harmless(`the ${power} was carried out on ${host}, where the instance is`)
  return whatItDid(facts, instance) ?? harmless(`nova-compute on ${host} took the ${power} and did nothing`)
}

/**
 * What a failed order says where it touched no guest. A reboot looks at the task before it does anything. A start runs the guest first,
 * whatever fails after that: only QEMU, which is refused its disk while the guest runs elsewhere, says that it does not run. Anything else
 * is told to people.
 */
const saysNothingRan = {
  reboots: foundAnotherTask,
  starts: (details: string) => diskInUse.test(details),
}

/** Nova refused the order before it touched a guest. */
export function foundAnotherTask(details: string): boolean {
  return /conflict updating instance|unexpected ?task ?state/i.test(details)
}

/** The end of one of which a person must know; null: nothing came of it. */
function whatItDid({ order, event, lastOrder }: LatePowerFacts, instance: Instance): LatePowerDecision | null {
  const { host, power } = order
  const lives = instance.host ?? 'no host'
  const says = event?.result === 'Error' ? (event.details ?? '') : null
  const act = acts[power]
  if (act === 'stops') {
    if (says !== null || lastOrder === 'stop' || instance.vmState !== 'stopped') return null
    const message = `Nova shows it stopped by it, although it runs on ${lives}, and stops it there at the next power sync. Start it again`
    return { do: 'close', end: 'struck', message }
  }
  if (says !== null && (saysNothingRan[act](says) || (act === 'starts' && instance.diskInUse === true))) return null
  return struckOn(host, instance)
}

/** @param host where its guest may run, and Nova has the instance elsewhere */
export function struckOn(
  host: HostName,
  { id, host: lives, vmState }: Instance,
): { do: 'close'; end: 'struck'; message: string; straysOn: HostName } {
  const where =
    vmState === 'stopped'
      ? `its guest may run on ${host}, although it is to be off on ${lives ?? 'no host'}`
      : `its guest may run on ${host} as well as on ${lives ?? 'no host'}, and write to the same disk`
  const message = `${where}. Nova does not end it: look on ${host} at once (virsh list --all), and end it there (virsh destroy ${id})`
  return { do: 'close', end: 'struck', message, straysOn: host }
}

/** Refused, it leaves the instance in ERROR: nova-compute makes one of all that goes wrong with it. */
export function mayLeaveError(power: LatePower): boolean {
  return power === 'resume' || power === 'rescue' || power === 'unrescue'
}

function harmless(message: string): LatePowerDecision {
  return { do: 'close', end: 'harmless', message }
}
