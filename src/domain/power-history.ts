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

/**
 * What the last order that a person gave asked for; null when there is none. A reboot is one to run: a hard one starts an instance that was
 * stopped, too (docs/nova.md §1.4).
 */
export function lastOrder(actions: readonly InstanceAction[]): 'start' | 'stop' | null {
  const last = cameThrough(actions, ['start', 'stop', 'reboot']).find((action) => !byPowerSync(action))
  return last === undefined ? null : last.action === 'stop' ? 'stop' : 'start'
}

/** When it was last started or rebooted, by anyone, ms since the epoch; -Infinity when it never was. */
export function lastStartMs(actions: readonly InstanceAction[]): number {
  const [last] = cameThrough(actions, ['start', 'reboot'])
  return last === undefined ? -Infinity : cloudTimeMs(last.startedAt)
}
