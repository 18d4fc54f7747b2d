/**
 * A guest that crashed on a host that lives: its QEMU ended, and nobody had asked for that. Monitors on the hosts see this and report it;
 * Nova itself notices seconds to minutes later (docs/nova.md §1.8).
 *
 * Pure: which report tells of a crash, what a segment allows, and how often Lifeboat may restart an instance.
 */
import type { InstanceId } from './instance.ts'
import type { ReportClass } from './report-words.ts'

/** How a segment treats guests that crash. */
export interface RestartRules {
  /** Instances whose owners set no policy. `leave` is the default: many tenants have something of their own that restarts guests. */
  unasked: 'recover' | 'leave'
  /**
   * Restarts of one instance within `withinMs`; after the next crash a person decides. Too high: a crash loop goes on and may take its
   * neighbours along; too low: an instance that crashed twice by accident stays off.
   */
  maxRestarts: number
  withinMs: number
  /** If more instances than this crash on one host within `crashesWithinMs`, the host is the likely cause, and restarts there wait. */
  maxPerHost: number
}

export const defaultRestartRules: RestartRules = {
  unasked: 'leave',
  maxRestarts: 3,
  withinMs: 3_600_000,
  maxPerHost: 5,
}

/** The time in which crashes on one host are counted. Longer: unrelated crashes add up; shorter: a slow leak goes unnoticed. */
export const crashesWithinMs = 600_000

/** Pauses before the restarts of one instance; the last one counts for all further ones. Longer keeps innocent guests off. */
const pausesMs = [0, 60_000, 300_000] as const

/** How long a restart waits after the crash, if so many restarts went before it within the time; ms. */
export function pauseBeforeRestart(restarts: number): number {
  return pausesMs[Math.min(restarts, pausesMs.length - 1)] ?? 0
}

/** What a report says, whoever sent it. */
interface Said {
  about: ReportClass
  payload: Readonly<Record<string, string>>
}

/**
 * The instance of a report that says that its QEMU died. libvirt sends this when QEMU ends without a word, and for nothing that Nova or a
 * person does. Null: the report tells of something else.
 */
export function crashedInstance({ about, payload }: Said): InstanceId | null {
  const { event, vir_domain_event: detail, instance_uuid: instance } = payload
  if (about !== 'VM' || event !== 'LIFECYCLE' || detail !== 'STOPPED_FAILED') return null
  return instance === undefined ? null : canonical(instance)
}

/** Upper case and missing dashes are taken as Masakari takes them. */
function canonical(uuid: string): InstanceId {
  const digits = uuid.toLowerCase().replaceAll('-', '')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** The step that gives an owner's stop again which a restart of ours crossed. */
export const stopAgain = 'stop-again'

/** Whether an attempt, known by its key, is one of `stopAgain`. */
export const isStopAgain = (key: string): boolean => key.includes(`.${stopAgain}.`)

/** The plans of such instances name this rule, where others name one of the workflow. */
export const crashRule = 'instance-failure'

/** Codes that no workflow has, each with its meaning. */
export const crashCodes = {
  CRASHED: 'Its guest crashed on a host that lives: Lifeboat restarts it there',
  RESTARTED: 'Its guest crashed, and Lifeboat restarted it',
  RUNS_AGAIN: 'Its guest crashed, and someone other than Lifeboat restarted it',
  CRASHED_PAUSED:
    'Its guest is not running and Nova shows it paused, suspended or in rescue mode: a restart would lose that state',
  CRASHED_RESIZED:
    'Its guest crashed while its resize waited for a confirmation: a restart would take away the way back',
  CRASHED_ERROR: 'Its guest crashed when it was in ERROR already',
  CRASHED_UNEXPLAINED: 'It is off, and its history does not say who stopped it',
  HOST_FAILED: 'Its host failed as well: the incident of the host recovers it now',
  CRASHED_MID_TASK: 'Nova has worked on it for ten minutes without an end, so Lifeboat did nothing about its crash',
} as const
