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

interface CrashMeaning {
  /** What became of the instance; of `CRASHED`, what is to become of it. */
  is: 'restarted' | 'recovered' | 'left'
  means: string
}

/** The codes of plans and outcomes in a crash's incident. Some are also codes of a dead host's instances, and mean something else there. */
export const crashCodes = {
  CRASHED: { is: 'restarted', means: 'Its guest crashed on a host that lives: Lifeboat restarts it there' },
  RESTARTED: { is: 'recovered', means: 'Its guest crashed, and Lifeboat restarted it' },
  RUNS_AGAIN: {
    is: 'recovered',
    means: 'It runs, and Lifeboat did not restart it: someone else did, or it never crashed',
  },
  STOPPED_BY_OWNER: { is: 'left', means: 'Its owner stopped it, before or after the crash: it stays off' },
  OFF_BEFORE: { is: 'left', means: 'It had been off for long when its crash was reported: it stays off' },
  NOT_ASKED: { is: 'left', means: 'Its owner did not ask for restarts, or asked for none' },
  INSTANCE_GONE: { is: 'left', means: 'Nova has no such instance' },
  MOVED_BY_OTHERS: { is: 'left', means: 'Nova shows it on another host than the one that reported its crash' },
  NO_GUEST: { is: 'left', means: 'Nova shows it in a state that has no guest' },
  CRASHED_PAUSED: {
    is: 'left',
    means:
      'Its guest is not running and Nova shows it paused, suspended or in rescue mode: a restart would lose that state',
  },
  CRASHED_RESIZED: {
    is: 'left',
    means: 'Its guest crashed while its resize waited for a confirmation: a restart would take away the way back',
  },
  CRASHED_ERROR: { is: 'left', means: 'Its guest crashed when it was in ERROR already' },
  CRASHED_UNEXPLAINED: { is: 'left', means: 'It is off, and its history does not say who stopped it' },
  CRASHED_MID_TASK: {
    is: 'left',
    means: 'Nova has worked on it for ten minutes without an end, so Lifeboat did nothing about its crash',
  },
  ENCRYPTED_WITHOUT_KEY: {
    is: 'left',
    means: 'It has an encrypted volume, and Lifeboat may not fetch its key: its owner must start it',
  },
  CANCELLED: {
    is: 'left',
    means: 'A person cancelled its incident, and nobody has started it since: it stays off',
  },
  HOST_FAILED: { is: 'left', means: 'Its host failed as well: the incident of the host recovers it now' },
} as const satisfies Record<string, CrashMeaning>

export type CrashCode = keyof typeof crashCodes
