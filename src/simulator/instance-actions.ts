/**
 * The server actions beside evacuate. The API's check answers at once; the host's part runs when its nova-compute is there
 * to run it. When it is not, the 202 was given and the task state sticks (docs/nova.md §1.4): what acts on the guest, and a rebuild, wait in the
 * host's queue (§2.8), all else is lost.
 */
import { sleep } from '../domain/clock.ts'
import type { Caller } from './caller.ts'
import { keyForbidden } from './encryption.ts'
import { actor } from './evacuation.ts'
import type { SimAction, SimHost, SimInstance } from './model.ts'
import { badRequest, conflict, NovaError, wrongState } from './nova-errors.ts'
import { pythonString, pythonText } from './python-text.ts'
import { isLateOrder, takeLate } from './late-orders.ts'
import { Resizes } from './resizes.ts'
import { rebootType, transitions, type Transition } from './transitions.ts'
import type { World } from './world.ts'

export class InstanceActions {
  private readonly world: World
  private readonly resizes: Resizes

  constructor(world: World) {
    this.world = world
    this.resizes = new Resizes(world)
  }

  /** Runs one action and returns its HTTP status. Throws NovaError. */
  perform(name: string, argument: unknown, instance: SimInstance, minor: number, caller: Caller): number {
    const transition = transitions[name === 'reboot' ? `reboot ${rebootType(argument)}` : name]
    if (transition !== undefined) return this.transit(transition, instance, caller)
    switch (name) {
      case 'os-resetState':
        return this.resetState(argument, instance, caller)
      case 'lock':
        return this.lock(argument, instance, minor, caller)
      case 'unlock':
        this.world.save(instance, { locked: false, lockedReason: null })
        this.record(instance, 'unlock', caller)
        return 202
      case 'confirmResize':
        return this.resizes.confirm(instance, caller)
      case 'revertResize':
        return this.resizes.revert(instance, caller)
      case 'resize':
      case 'migrate':
        return this.resizes.resize(instance, name, argument, caller)
      default:
        throw badRequest(`There is no such action: ${name}`)
    }
  }

  private transit(transition: Transition, instance: SimInstance, caller: Caller): number {
    this.refuseLocked(instance, caller)
    if (!transition.from.includes(instance.vmState))
      throw wrongState(transition.method, instance.uuid, 'vm_state', instance.vmState)
    if (instance.taskState !== null && transition.over?.includes(instance.taskState) !== true)
      throw wrongState(transition.method, instance.uuid, 'task_state', instance.taskState)
    if (instance.host === null) throw conflict(`Instance ${instance.uuid} is not ready`)
    this.world.save(instance, { taskState: transition.task })
    const action = this.record(instance, transition.action, caller)
    const reboots = transition.action === 'reboot'
    // The first thing that nova-compute does about a reboot is to look at the guest.
    if (reboots && this.world.host(instance.host).agent)
      this.world.save(instance, { powerState: this.world.hypervisors.power(instance.host, instance.uuid) })
    const host = this.world.host(instance.host)
    if (!host.agent && !this.world.down.has('rabbitmq') && isLateOrder(transition.action))
      host.queue.push(() =>
        takeLate(this.world, { action, instance, host }, () => this.finish(transition, instance, host, action, caller)),
      )
    else
      void this.onHost(host, reboots ? 'rebootMs' : 'powerMs', () =>
        this.finish(transition, instance, host, action, caller),
      )
    return 202
  }

  private finish(
    transition: Transition,
    instance: SimInstance,
    host: SimHost,
    action: SimAction,
    caller: Caller,
  ): void {
    const { world } = this
    const close = world.openEvent(action, transition.event, host.name)
    const refused = transition.guest === 'runs' ? keyForbidden(world, instance, caller.projectId) : null
    const stuck = transition.method === 'stop' && host.faults.stopFails
    if (refused !== null || stuck) {
      world.save(instance, { taskState: null })
      close('Error', refused ?? 'Failed to power off instance: injected: this host cannot stop a guest')
      return
    }
    if (transition.guest === 'runs' && host.faults.spawnFails) {
      // A start that fails leaves the instance as it was; of a reboot whose guest is gone nova-compute makes an ERROR.
      const message = 'injected: this host cannot start a guest'
      const fault = { message, code: 500, created: world.wall() }
      const isLost = transition.method === 'reboot'
      world.save(instance, { taskState: null, ...(isLost && { vmState: 'error', powerState: 0, fault }) })
      close('Error', message)
      return
    }
    if (transition.guest === 'paused') world.hypervisors.pause(host.name, instance.uuid)
    else if (transition.guest !== undefined)
      world.hypervisors.set(host.name, instance.uuid, transition.guest === 'runs', transition.method)
    world.save(instance, { vmState: transition.vmState, taskState: null, powerState: transition.powerState })
    close('Success')
  }

  private resetState(argument: unknown, instance: SimInstance, caller: Caller): number {
    const state = (argument as { state?: unknown } | null)?.state
    if (state !== 'active' && state !== 'error') {
      throw badRequest(
        `Invalid input for field/attribute state. Value: ${pythonString(state)}. ${pythonText(state)} is not one of ['active', 'error']`,
      )
    }
    this.record(instance, 'resetState', caller)
    this.world.save(instance, { vmState: state, taskState: null })
    return 202
  }

  private lock(argument: unknown, instance: SimInstance, minor: number, caller: Caller): number {
    const reason = (argument as { locked_reason?: unknown } | null)?.locked_reason
    if (
      reason !== undefined &&
      (minor < 73 || typeof reason !== 'string' || reason.length < 1 || reason.length > 255)
    ) {
      throw badRequest(`Invalid input for field/attribute lock. Value: ${JSON.stringify(argument)}.`)
    }
    this.world.save(instance, { locked: true, lockedReason: typeof reason === 'string' ? reason : null })
    this.record(instance, 'lock', caller)
    return 202
  }

  private refuseLocked(instance: SimInstance, caller: Caller): void {
    if (instance.locked && !caller.roles.includes('admin'))
      throw new NovaError(409, `Instance ${instance.uuid} is locked`)
  }

  private record(instance: SimInstance, action: string, caller: Caller): SimAction {
    return this.world.addAction(instance, { action, ...actor(caller) })
  }

  /** A cast: done after its time on a living nova-compute, and forgotten with a dead one. */
  private async onHost(host: SimHost, took: 'powerMs' | 'rebootMs', work: () => void): Promise<void> {
    const { life } = host
    if (!host.agent || this.world.down.has('rabbitmq')) return
    await sleep(this.world.clock, this.world.options.timings[took])
    if (host.life === life) work()
  }
}
