/**
 * Orders on guests, and rebuilds, that waited in the queue of a dead host, when its nova-compute starts (docs/nova.md §2.8). It carries them out
 * by the record that came with the order, and looks at the task first for a reboot and a rebuild alone.
 */
import type { SimAction, SimHost, SimInstance } from './model.ts'
import type { World } from './world.ts'

export interface LateOrder {
  action: SimAction
  instance: SimInstance
  host: SimHost
}

const rebooting = ['rebooting_hard', 'reboot_pending_hard', 'reboot_started_hard', 'rebooting']

/** Those that start the guest before they look at the task, which they leave at this until then. */
const starts: Record<string, string> = {
  start: 'powering-on',
  resume: 'resuming',
  rescue: 'rescuing',
  unrescue: 'unrescuing',
}

export function isLateOrder(action: string): boolean {
  return action in starts || action === 'stop' || action === 'reboot' || action === 'rebuild'
}

/** @param finish what a nova-compute that takes it in time does */
export function takeLate(world: World, order: LateOrder, finish: () => void): void {
  const { action, instance, host } = order
  if (instance.deletedAt !== null) return
  const task = starts[action.action]
  if (task !== undefined) return startLate(world, order, task, finish)
  const isOff = world.hypervisors.power(host.name, instance.uuid) !== 1
  if (action.action === 'rebuild') {
    if (instance.taskState === 'rebuilding') return finish()
    refuse(world, order, ['rebuilding'])
    // What Nova saves of a rebuild that failed, although it has touched no guest.
    return world.save(instance, { vmState: 'error', taskState: 'rebuilding', powerState: 0 })
  }
  const expected = action.action === 'reboot' ? rebooting : isOff ? ['powering-off', null] : ['powering-off']
  if (!expected.includes(instance.taskState)) return refuse(world, order, expected)
  if (instance.host === host.name || action.action === 'reboot') return finish()
  // It finds no guest to stop, and writes what it found.
  const close = world.openEvent(action, 'compute_stop_instance', host.name)
  world.save(instance, { vmState: 'stopped', taskState: null, powerState: 0 })
  close('Success')
}

/** The guest is started before the task is looked at. */
function startLate(world: World, order: LateOrder, task: string, finish: () => void): void {
  const { action, instance, host } = order
  if (instance.taskState === task) return finish()
  if (host.faults.diskLocks && world.hypervisors.runsElsewhere(host.name, instance.uuid)) {
    world.openEvent(action, `compute_${action.action}_instance`, host.name)('Error', 'Failed to get "write" lock')
    // A start that fails leaves the instance as it was; the others make an ERROR of it.
    if (action.action !== 'start') world.save(instance, { vmState: 'error' })
    return
  }
  world.hypervisors.set(host.name, instance.uuid, true, action.action)
  refuse(world, order, [task])
}

function refuse(world: World, { action, instance, host }: LateOrder, expected: readonly (string | null)[]): void {
  const wanted = expected.map((task) => (task === null ? 'None' : `'${task}'`)).join(', ')
  const actual = instance.taskState === null ? 'None' : `'${instance.taskState}'`
  const message = `Conflict updating instance ${instance.uuid}. Expected: {'task_state': [${wanted}]}. Actual: {'task_state': ${actual}}`
  world.openEvent(action, `compute_${action.action}_instance`, host.name)('Error', message)
}
