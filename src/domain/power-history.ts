/** What an instance's history says of its power: who stopped and started it. Pure. */
import { cloudTimeMs } from './cloud-time.ts'
import type { InstanceAction } from './instance.ts'

/** Newest first. */
export function newestFirst(actions: readonly InstanceAction[]): InstanceAction[] {
  return actions.toSorted((a, b) => (cloudTimeMs(b.startedAt) || 0) - (cloudTimeMs(a.startedAt) || 0))
}

/** Starts and stops that came through, newest first. One that failed did not change what the owner had. */
export function powerActions(actions: readonly InstanceAction[]): InstanceAction[] {
  return cameThrough(actions, ['start', 'stop'])
}

function cameThrough(actions: readonly InstanceAction[], names: readonly string[]): InstanceAction[] {
  return newestFirst(actions).filter(({ action, message }) => names.includes(action) && message !== 'Error')
}

/** nova-compute found the guest off, and nobody had asked. Only a stop: a start with a null user is no sign of a power sync. */
export function byPowerSync({ action, userId, projectId }: InstanceAction): boolean {
  return action === 'stop' && userId === null && projectId === null
}

/** What has a guest run, whatever it did before: a hard reboot starts one that was stopped (docs/nova.md §1.4). */
const starts = ['start', 'reboot', 'unshelve', 'unrescue', 'unpause', 'resume', 'restore']

/** What people ordered that has a guest run or stop, newest first. */
export function powerOrders(actions: readonly InstanceAction[]): InstanceAction[] {
  return cameThrough(actions, ['stop', ...starts]).filter((action) => !byPowerSync(action))
}

/** What the last order that a person gave asked for; null when there is none. */
export function lastOrder(actions: readonly InstanceAction[]): 'start' | 'stop' | null {
  const [last] = powerOrders(actions)
  return last === undefined ? null : last.action === 'stop' ? 'stop' : 'start'
}

/** When a person last ordered something that has its guest run, ms since the epoch; -Infinity when nobody did. */
export function lastStartOrderMs(actions: readonly InstanceAction[]): number {
  const last = powerOrders(actions).find(({ action }) => action !== 'stop')
  return last === undefined ? -Infinity : cloudTimeMs(last.startedAt)
}

/**
 * Whether someone has started the guest since it was found off. If so, a later shutdown is not ours to undo.
 * @param offSince its `updated_at` then
 * @param ours ids of our own orders
 */
export function wasRunSince(
  actions: readonly InstanceAction[],
  offSince: string,
  ours: ReadonlySet<string | null>,
): boolean {
  const others = actions.filter(({ requestId }) => !ours.has(requestId))
  return lastStartOrderMs(others) > cloudTimeMs(offSince)
}

const memoryStates: Partial<Record<string, string>> = {
  pause: 'paused',
  suspend: 'suspended',
  rescue: 'in rescue mode',
}

/**
 * What the owner had it in when its host switched it off, where that is more than running: nova-compute stops such guests too when it
 * finds them off, and only the history tells.
 */
export function memoryStateBefore(actions: readonly InstanceAction[]): string | null {
  const [last] = cameThrough(actions, ['stop', ...starts, ...Object.keys(memoryStates), 'rebuild', 'evacuate']).filter(
    (action) => !byPowerSync(action),
  )
  return memoryStates[last?.action ?? ''] ?? null
}

/** When it was last started or rebooted, by anyone, ms since the epoch; -Infinity when it never was. */
export function lastStartMs(actions: readonly InstanceAction[]): number {
  const [last] = cameThrough(actions, ['start', 'reboot'])
  return last === undefined ? -Infinity : cloudTimeMs(last.startedAt)
}
