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
  return digits.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** The step that gives an owner's stop again which a restart of ours crossed. */
export const stopAgain = 'stop-again'

/** Whether an attempt, known by its key, is one of `stopAgain`. */
export const isStopAgain = (key: string): boolean => key.includes(`.${stopAgain}.`)

interface CrashMeaning {
  is: 'recovered' | 'left'
  means: string
}

/** The codes of a crash's outcome that no rule of its workflow gives. */
export const crashCodes = {
  RESTARTED: { is: 'recovered', means: 'Its guest crashed, and Lifeboat restarted it' },
  INSTANCE_GONE: { is: 'left', means: 'Nova has no such instance' },
  MOVED_BY_OTHERS: { is: 'left', means: 'Nova shows it on another host than the one that reported its crash' },
  STOPPED_BY_OWNER: { is: 'left', means: 'Its owner stopped it just as Lifeboat restarted it: it is off again' },
  CANCELLED: { is: 'left', means: 'A person cancelled its incident: it stays as it is' },
  HOST_FAILED: { is: 'left', means: 'Its host failed as well: the incident of the host recovers it now' },
  SAME_CRASH: { is: 'left', means: 'Another incident of the same crash was open as well, and goes on with it' },
  RESTART_REFUSED: {
    is: 'left',
    means:
      'A rule of the workflow would have restarted it where no workflow may, e.g. although its owner stopped it: correct the rule',
  },
} as const satisfies Record<string, CrashMeaning>
