/**
 * Starts, stops and reboots that waited in the queue of a dead host, when its nova-compute starts (docs/nova.md §2.8). It carries them out
 * by the record that came with the order, and looks at the task first for a reboot alone.
 */
import type { SimAction, SimHost, SimInstance } from './model.ts'
import type { World } from './world.ts'

export interface LateOrder {
  action: SimAction
  instance: SimInstance
  host: SimHost
}

const rebooting = ['rebooting_hard', 'reboot_pending_hard', 'reboot_started_hard', 'rebooting']

export function isLateOrder(action: string): boolean {
  return action === 'start' || action === 'stop' || action === 'reboot'
}

/** @param finish what a nova-compute that takes it in time does */
export function takeLate(world: World, order: LateOrder, finish: () => void): void {
  const { action, instance, host } = order
  if (instance.deletedAt !== null) return
  if (action.action === 'start') return startLate(world, order, finish)
  const isOff = world.hypervisors.power(host.name, instance.uuid) !== 1
  const expected = action.action === 'reboot' ? rebooting : isOff ? ['powering-off', null] : ['powering-off']
  if (!expected.includes(instance.taskState)) return refuse(world, order, expected)
  if (instance.host === host.name || action.action === 'reboot') return finish()
  // It finds no guest to stop, and writes what it found.
  const close = world.openEvent(action, 'compute_stop_instance', host.name)
  world.save(instance, { vmState: 'stopped', taskState: null, powerState: 0 })
  close('Success')
}

/** The guest is started before the task is looked at. */
function startLate(world: World, order: LateOrder, finish: () => void): void {
  const { action, instance, host } = order
  if (instance.taskState === 'powering-on') return finish()
  if (host.faults.diskLocks && world.hypervisors.runsElsewhere(host.name, instance.uuid)) {
    world.openEvent(action, 'compute_start_instance', host.name)('Error', 'Failed to get "write" lock')
    return
  }
  world.hypervisors.set(host.name, instance.uuid, true, 'start')
  refuse(world, order, ['powering-on'])
}

function refuse(world: World, { action, instance, host }: LateOrder, expected: readonly (string | null)[]): void {
  const wanted = expected.map((task) => (task === null ? 'None' : `'${task}'`)).join(', ')
  const actual = instance.taskState === null ? 'None' : `'${instance.taskState}'`
  const message = `Conflict updating instance ${instance.uuid}. Expected: {'task_state': [${wanted}]}. Actual: {'task_state': ${actual}}`
  world.openEvent(action, `compute_${action.action}_instance`, host.name)('Error', message)
}
