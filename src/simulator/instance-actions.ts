/**
 * The server actions beside evacuate. The API's check answers at once; the host's part runs when its nova-compute is there
 * to run it, and is lost when it is not: the 202 was given and the task state sticks (docs/nova.md §1.4).
 */
import { sleep } from '../domain/clock.ts'
import type { Caller } from './caller.ts'
import { keyForbidden } from './encryption.ts'
import { actor } from './evacuation.ts'
import type { SimAction, SimHost, SimInstance } from './model.ts'
import { badRequest, conflict, NovaError, wrongState } from './nova-errors.ts'
import { pythonString, pythonText } from './python-text.ts'
import { Resizes } from './resizes.ts'
import type { World } from './world.ts'

/** An action that moves vm_state on its host. */
interface Transition {
  /** As in the 409's text. */
  method: string
  /** As in the action list. */
  action: string
  from: string[]
  task: string
  event: string
  vmState: string
  powerState?: number
  /** Undefined: the guest's power is not touched. */
  running?: boolean
}

const transitions: Record<string, Transition> = {
  'os-start': {
    method: 'start',
    action: 'start',
    from: ['stopped'],
    task: 'powering-on',
    event: 'compute_start_instance',
    vmState: 'active',
    powerState: 1,
    running: true,
  },
  'os-stop': {
    method: 'stop',
    action: 'stop',
    from: ['active', 'error'],
    task: 'powering-off',
    event: 'compute_stop_instance',
    vmState: 'stopped',
    powerState: 4,
    running: false,
  },
  pause: {
    method: 'pause',
    action: 'pause',
    from: ['active'],
    task: 'pausing',
    event: 'compute_pause_instance',
    vmState: 'paused',
  },
  unpause: {
    method: 'unpause',
    action: 'unpause',
    from: ['paused'],
    task: 'unpausing',
    event: 'compute_unpause_instance',
    vmState: 'active',
  },
  suspend: {
    method: 'suspend',
    action: 'suspend',
    from: ['active'],
    task: 'suspending',
    event: 'compute_suspend_instance',
    vmState: 'suspended',
  },
  resume: {
    method: 'resume',
    action: 'resume',
    from: ['suspended'],
    task: 'resuming',
    event: 'compute_resume_instance',
    vmState: 'active',
  },
  rescue: {
    method: 'rescue',
    action: 'rescue',
    from: ['active', 'stopped', 'error'],
    task: 'rescuing',
    event: 'compute_rescue_instance',
    vmState: 'rescued',
    powerState: 4,
  },
  reboot: {
    method: 'reboot',
    action: 'reboot',
    from: ['active', 'stopped', 'paused', 'suspended', 'error'],
    task: 'rebooting_hard',
    event: 'compute_reboot_instance',
    vmState: 'active',
    powerState: 1,
    running: true,
  },
}

export class InstanceActions {
  private readonly world: World
  private readonly resizes: Resizes

  constructor(world: World) {
    this.world = world
    this.resizes = new Resizes(world)
  }

  /** Runs one action and returns its HTTP status. Throws NovaError. */
  perform(name: string, argument: unknown, instance: SimInstance, minor: number, caller: Caller): number {
    const transition = transitions[name]
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
    if (instance.taskState !== null)
      throw wrongState(transition.method, instance.uuid, 'task_state', instance.taskState)
    if (instance.host === null) throw conflict(`Instance ${instance.uuid} is not ready`)
    this.world.save(instance, { taskState: transition.task })
    const action = this.record(instance, transition.action, caller)
    void this.onHost(instance.host, (host) => this.finish(transition, instance, host, action, caller))
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
    const refused = transition.running === true ? keyForbidden(world, instance, caller.projectId) : null
    const stuck = transition.running === false && host.faults.stopFails
    if (refused !== null || stuck) {
      world.save(instance, { taskState: null })
      close('Error', refused ?? 'Failed to power off instance: injected: this host cannot stop a guest')
      return
    }
    if (transition.running !== undefined)
      world.hypervisors.set(host.name, instance.uuid, transition.running, transition.method)
    world.save(instance, {
      vmState: transition.vmState,
      taskState: null,
      powerState: transition.powerState ?? instance.powerState,
    })
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
  private async onHost(name: string, work: (host: SimHost) => void): Promise<void> {
    const host = this.world.host(name)
    const { life } = host
    if (!host.agent || this.world.down.has('rabbitmq')) return
    await sleep(this.world.clock, this.world.options.timings.powerMs)
    if (host.life === life) work(host)
  }
}
