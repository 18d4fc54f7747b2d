/**
 * A guest that crashed on a host that lives: its hypervisor lost the process, and nobody had asked for that. Monitors on the hosts see it
 * and report it; Nova itself notices only seconds to minutes later (docs/nova.md §1.8).
 *
 * Pure: which report is of a crash, what a segment allows, and how often an instance may be restarted.
 */
import type { InstanceId } from './instance.ts'
import type { ReportClass } from './report-words.ts'

/** How a segment treats guests that crash. */
export interface RestartRules {
  /** Instances whose owners set no policy. `leave` is the default: many guests are restarted by something inside of the tenant. */
  unasked: 'recover' | 'leave'
  /**
   * Restarts of one instance within `withinMs`; the next crash waits for a person. Too high: a crash loop goes on for as long, and may
   * take its neighbours with it; too low: an instance that crashed twice by accident stays off.
   */
  maxRestarts: number
  withinMs: number
  /** Instances that crash on one host within `crashesWithinMs` before it is taken for trouble of the host, and all wait for a person. */
  maxPerHost: number
}

export const defaultRestartRules: RestartRules = {
  unasked: 'leave',
  maxRestarts: 3,
  withinMs: 3_600_000,
  maxPerHost: 5,
}

/** In which crashes on one host are counted together. Longer: crashes of different days add up; shorter: a slow leak is not seen. */
export const crashesWithinMs = 600_000

/** Pauses before the restarts of one instance; the last one counts for all further ones. Longer keeps innocent guests off. */
const pausesMs = [0, 60_000, 300_000] as const

/** How long the restart after so many others within the time waits, counted from the crash. */
export function pauseBeforeRestart(restarts: number): number {
  return pausesMs[Math.min(restarts, pausesMs.length - 1)] ?? 0
}

/** What a report says, whoever sent it. */
interface Said {
  about: ReportClass
  payload: Readonly<Record<string, string>>
}

/**
 * The instance of a report that says that its QEMU died. libvirt sends this when its connection to QEMU ends without a word, and for
 * nothing that Nova or a person does. Null: the report is of something else.
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

/** The rule that stands in the plans of such instances, where a workflow's would. */
export const crashRule = 'instance-failure'

/** Codes that no workflow has. Each with what it means. */
export const crashCodes = {
  CRASHED: 'Its guest crashed while its host lived, and it is restarted there',
  RESTARTED: 'Lifeboat restarted it after its guest had crashed',
  RUNS_AGAIN: 'Its guest had crashed, and it runs again without our doing',
  CRASHED_PAUSED:
    'Its guest is not running and Nova shows it paused, suspended or in rescue mode: a restart would lose that state',
  CRASHED_RESIZED:
    'Its guest crashed while its resize waited for a confirmation: a restart would take away the way back',
  CRASHED_ERROR: 'Its guest crashed, and it was in ERROR before',
  CRASHED_UNEXPLAINED: 'It is off, and its history does not say who switched it off',
  HOST_FAILED: 'Its host failed as well: the incident of the host is about it now',
  CRASHED_MID_TASK: 'Nova is at work on it and does not come to an end, so nothing was done about its crash',
} as const
