/** The server actions that only move vm_state and the guest's power on their host: a table of what each takes, and where it leads. */
import { badRequest } from './nova-errors.ts'
import { pythonString, pythonText } from './python-text.ts'

/** An action that moves vm_state on its host. */
export interface Transition {
  /** As in the 409's text. */
  method: string
  /** As in the action list. */
  action: string
  from: string[]
  /** Tasks that it takes over; without any it is refused while one is set. */
  over?: string[]
  task: string
  event: string
  vmState: string
  /** What becomes of the guest; undefined: it is not touched. */
  guest?: 'runs' | 'paused' | 'off'
  powerState: number
}

/** Nova's ALLOW_REBOOT (docs/nova.md §1.8). */
const rebootTakesOver = 'rebooting reboot_pending reboot_started resuming rebooting_hard unpausing pausing suspending'

export const transitions: Record<string, Transition> = {
  'os-start': {
    method: 'start',
    action: 'start',
    from: ['stopped'],
    task: 'powering-on',
    event: 'compute_start_instance',
    vmState: 'active',
    guest: 'runs',
    powerState: 1,
  },
  'os-stop': {
    method: 'stop',
    action: 'stop',
    from: ['active', 'error'],
    task: 'powering-off',
    event: 'compute_stop_instance',
    vmState: 'stopped',
    guest: 'off',
    powerState: 4,
  },
  pause: {
    method: 'pause',
    action: 'pause',
    from: ['active'],
    task: 'pausing',
    event: 'compute_pause_instance',
    vmState: 'paused',
    guest: 'paused',
    powerState: 3,
  },
  unpause: {
    method: 'unpause',
    action: 'unpause',
    from: ['paused'],
    task: 'unpausing',
    event: 'compute_unpause_instance',
    vmState: 'active',
    guest: 'runs',
    powerState: 1,
  },
  suspend: {
    method: 'suspend',
    action: 'suspend',
    from: ['active'],
    task: 'suspending',
    event: 'compute_suspend_instance',
    vmState: 'suspended',
    guest: 'off',
    powerState: 4,
  },
  resume: {
    method: 'resume',
    action: 'resume',
    from: ['suspended'],
    task: 'resuming',
    event: 'compute_resume_instance',
    vmState: 'active',
    guest: 'runs',
    powerState: 1,
  },
  // Kept on its host, as where shelved_offload_time is not 0; its snapshot takes no time.
  shelve: {
    method: 'shelve',
    action: 'shelve',
    from: ['active', 'stopped', 'paused', 'suspended'],
    task: 'shelving',
    event: 'compute_shelve_instance',
    vmState: 'shelved',
    guest: 'off',
    powerState: 4,
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
  unrescue: {
    method: 'unrescue',
    action: 'unrescue',
    from: ['rescued'],
    task: 'unrescuing',
    event: 'compute_unrescue_instance',
    vmState: 'active',
    guest: 'runs',
    powerState: 1,
  },
  rebuild: {
    method: 'rebuild',
    action: 'rebuild',
    from: ['active', 'error'],
    task: 'rebuilding',
    event: 'compute_rebuild_instance',
    vmState: 'active',
    guest: 'runs',
    powerState: 1,
  },
  'reboot SOFT': {
    method: 'reboot',
    action: 'reboot',
    from: ['active'],
    task: 'rebooting',
    event: 'compute_reboot_instance',
    vmState: 'active',
    guest: 'runs',
    powerState: 1,
  },
  'reboot HARD': {
    method: 'reboot',
    action: 'reboot',
    from: ['active', 'stopped', 'paused', 'suspended', 'error'],
    over: rebootTakesOver.split(' '),
    task: 'rebooting_hard',
    event: 'compute_reboot_instance',
    vmState: 'active',
    guest: 'runs',
    powerState: 1,
  },
}

/** Throws NovaError 400 as the schema of a reboot does. */
export function rebootType(argument: unknown): 'HARD' | 'SOFT' {
  const type = (argument as { type?: unknown } | null)?.type
  const known = ['HARD', 'Hard', 'hard', 'SOFT', 'Soft', 'soft']
  if (typeof type !== 'string' || !known.includes(type))
    throw badRequest(
      `Invalid input for field/attribute type. Value: ${pythonString(type)}. ${pythonText(type)} is not one of ${pythonText(known)}`,
    )
  return type.toUpperCase() as 'HARD' | 'SOFT'
}
