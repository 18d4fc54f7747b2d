/**
 * Notices: what people outside are told, and how far each has come. The words, and what the journal keeps. What is told of
 * which entry is decided in notices/; nothing of a recovery ever waits for a notice.
 */
import type { ScopeId } from './brake.ts'
import type { InstanceId } from './instance.ts'
import type { HostName } from './service.ts'

/** operator: runs the cloud, may know everything. tenant: owns instances, and learns of its own only. */
export const noticeAudiences = ['operator', 'tenant'] as const
export type NoticeAudience = (typeof noticeAudiences)[number]

/** In rising order. */
export const noticeSeverities = ['info', 'warning', 'critical'] as const
export type NoticeSeverity = (typeof noticeSeverities)[number]

interface TopicRule {
  audience: NoticeAudience
  /** Unless the case at hand is worse or better. */
  severity: NoticeSeverity
  means: string
  /**
   * The same again (topic, order or instance or incident or host, code) within this time is a duplicate and is not told. Shorter: a host that flickers fills a pager;
   * longer: a second failure is not told. Infinity: once for each incident.
   */
  quietMs: number
}

const flicker = 600_000

/** Each kind of event that notices tell of. */
export const noticeTopics = {
  'host-down': {
    audience: 'operator',
    severity: 'warning',
    quietMs: flicker,
    means: 'A host is considered dead; critical if the daemon only observes: then nothing is recovered by itself',
  },
  'host-trouble': {
    audience: 'operator',
    severity: 'warning',
    quietMs: flicker,
    means: 'nova-compute is silent on a host that lives, or someone else forced the host down',
  },
  'host-well': {
    audience: 'operator',
    severity: 'info',
    quietMs: flicker,
    means: 'A host that was in trouble beats again',
  },
  contradiction: {
    audience: 'operator',
    severity: 'critical',
    quietMs: flicker,
    means: 'A host is forced down, but its nova-compute beats: the host lives',
  },
  'incident-opened': {
    audience: 'operator',
    severity: 'warning',
    quietMs: Infinity,
    means: 'A recovery begins; if it is held first, the notice comes once it begins',
  },
  'incident-held': {
    audience: 'operator',
    severity: 'warning',
    quietMs: flicker,
    means:
      'A recovery waits, and why; critical if it asks for a person. What the brake holds is one notice for each of its scopes',
  },
  'fencing-failed': {
    audience: 'operator',
    severity: 'warning',
    quietMs: Infinity,
    means: 'A fencing method failed; the next one is tried, or nothing is left and the recovery is held',
  },
  'proof-voided': {
    audience: 'operator',
    severity: 'critical',
    quietMs: 0,
    means: 'A host that was proven dead showed life',
  },
  'incident-closed': {
    audience: 'operator',
    severity: 'info',
    quietMs: 0,
    means: 'A recovery ended, with the outcome of its instances; warning or critical if some did not come back',
  },
  'brake-tripped': {
    audience: 'operator',
    severity: 'warning',
    quietMs: 60_000,
    means: 'Too many hosts failed at once: recoveries that have not begun are held, and incident-held says which',
  },
  'holds-over': {
    audience: 'operator',
    severity: 'info',
    quietMs: 0,
    means: 'Nothing in a scope of the brake waits any more: it opened, or people let all of it past',
  },
  'brake-released': { audience: 'operator', severity: 'info', quietMs: 60_000, means: 'The brake opened' },
  'control-plane-frozen': {
    audience: 'operator',
    severity: 'critical',
    quietMs: 0,
    means: 'The control plane could not be trusted for longer than freeze_delay: all verdicts are frozen',
  },
  'control-plane-thawed': {
    audience: 'operator',
    severity: 'info',
    quietMs: 0,
    means: 'The control plane can be trusted again',
  },
  alarm: {
    audience: 'operator',
    severity: 'critical',
    quietMs: flicker,
    means: 'Something needs a person: a forgotten pause, a journal that does not verify, …',
  },
  'return-waits': {
    audience: 'operator',
    severity: 'warning',
    // Once for each return and reason: what its sentence lists may change for days.
    quietMs: Infinity,
    means: 'A host cannot return until someone confirms it, restarts its nova-compute, or clears a forced_down',
  },
  'return-refused': {
    audience: 'operator',
    severity: 'warning',
    quietMs: flicker,
    means: 'A host stays out until a person returns it to service',
  },
  'instances-off': {
    audience: 'operator',
    severity: 'critical',
    quietMs: 0,
    means: 'A host came back by itself, and instances that ran on it are off; info once they run again',
  },
  'process-failed': {
    audience: 'operator',
    severity: 'warning',
    quietMs: Infinity,
    means: 'nova-compute is down on a host that lives: its service is disabled, its instances are left alone',
  },
  'process-over': {
    audience: 'operator',
    severity: 'info',
    quietMs: 0,
    means: 'An incident of nova-compute is over; warning if the service is left to people',
  },
  'instance-failed': {
    audience: 'operator',
    severity: 'warning',
    quietMs: flicker,
    means: 'The guest of an instance crashed on a host that lives',
  },
  'instance-over': {
    audience: 'operator',
    severity: 'info',
    quietMs: 0,
    means: 'The incident of an instance is over: the instance runs again, or the notice says why not',
  },
  'person-acted': {
    audience: 'operator',
    severity: 'info',
    quietMs: flicker,
    means: 'A person gave an order about an incident that notices went out about, or attested that its host is dead',
  },
  'signed-off': {
    audience: 'operator',
    severity: 'info',
    quietMs: 0,
    means: 'A person signed off an incident whose end was sent as a warning or as critical',
  },
  'host-returned': {
    audience: 'operator',
    severity: 'info',
    quietMs: 0,
    means: 'The return of a host ended: it is back in service, or people have it in hand',
  },
  'instances-affected': {
    audience: 'tenant',
    severity: 'critical',
    quietMs: 0,
    means: "The host of some of a project's instances is dead",
  },
  'instances-ended': {
    audience: 'tenant',
    severity: 'info',
    quietMs: 0,
    means: "The outcome of each of a project's instances; warning or critical if some did not come back",
  },
  'instance-crashed': {
    audience: 'tenant',
    severity: 'info',
    quietMs: 0,
    means:
      "One of a project's instances crashed: it runs again, or the notice says why it is off; critical if it is off",
  },
  test: { audience: 'operator', severity: 'info', quietMs: 0, means: 'Sent by hand: lifeboat notice test' },
} as const satisfies Record<string, TopicRule>

export type NoticeTopic = keyof typeof noticeTopics

/** How an instance stands, in a tenant's words. */
export const instanceStates = [
  'affected',
  'at-rest',
  'running',
  'stopped',
  'left',
  'unbuilt',
  'failed',
  'stuck',
  'elsewhere',
  'gone',
  'untouched',
  'returned',
  'off',
  'restarted',
  'rebooted',
  'crashed',
  'crashing',
] as const
export type NoticedState = (typeof instanceStates)[number]

export interface NoticedInstance {
  id: InstanceId
  name: string
  state: NoticedState
  /** Stable reason code of what was left or failed. */
  code?: string
  /** Of `crashing`: how often it was restarted before. Missing where an older release told it. */
  restarts?: number
  /** Where it is now. Told only to receivers with `show_hosts`. */
  host?: HostName
}

/** What a notice does to the alert of its trouble. */
export type NoticeAction = 'trigger' | 'acknowledge' | 'resolve'

/** The trouble that a notice tells of, so that machines keep one alert for it. */
export interface NoticeAlert {
  /** The same in each notice of the trouble. */
  key: string
  action: NoticeAction
  /** What the alert is named by, from its first notice to its last. */
  labels: Record<string, string>
  /** When it was told first, ISO. */
  since: string
  /** How bad it was told to be before; null: it was not told. */
  was: NoticeSeverity | null
}

/** One notice as the journal keeps it: everything that its text is made of, so that a restart sends the very same. */
export interface Notice {
  /** The same for every try and every receiver, made of the entry that caused it: anyone who got it twice can tell. */
  id: string
  topic: NoticeTopic
  audience: NoticeAudience
  severity: NoticeSeverity
  /** Names of receivers; each gets it on its own. */
  receivers: string[]
  mode: 'observe' | 'armed'
  /** Sequence and time of the entry that it tells of. */
  cause: number
  at: string
  code: string
  /** The operators' sentence; empty for tenants, whose words are made of `instances` alone. */
  message: string
  host: HostName | null
  /** Null: it concerns more than one segment. */
  segment: string | null
  incident: string | null
  project: string | null
  /** Key of the order that an alarm is about. */
  order?: string
  /** The instance that an alarm is about. */
  instance?: InstanceId
  /** Ties a project's notices of one failure together without naming the host; null for operators. */
  reference: string | null
  /** Of the project, up to the configured number; `instanceCount` has them all. */
  instances?: NoticedInstance[]
  instanceCount?: number
  /** Of all of them, how many do not run or rest where their owner wants them. */
  notBack?: number
  /** Of an incident that ended, by outcome: its instances. Missing: it tells of something else, or an older release told it. */
  counts?: Record<string, number>
  /** What the brake holds in one scope, told as one; empty: nothing any more. */
  held?: { scope: ScopeId; title: string; hosts: HostName[]; incidents: string[] }
  /** Missing: it tells of no trouble that begins or ends, or an older release told it. */
  alert?: NoticeAlert
}

/** What becomes of a notice at one receiver. */
export interface NoticeSent {
  notice: string
  receiver: string
  attempt: number
  /** What the receiver said, e.g. HTTP 204. */
  result: string
  tookMs: number
}

export interface NoticeFailed {
  notice: string
  receiver: string
  attempt: number
  problem: string
  retryInMs: number
}

/** A test that a person has sent to a receiver. */
export interface NoticeTest {
  receiver: string
  by: string
  /** Of a receiver for tenants; null: the first that is configured. */
  project: string | null
}

export interface NoticeTestResult {
  ok: boolean
  /** What the receiver answered, or why it failed. */
  detail: string
}

/** How a receiver stands. */
export interface ReceiverHealth {
  receiver: string
  /** Notices that are yet to arrive. */
  waiting: number
  /** When it last took one, ISO; null: not on record. */
  takenAt: string | null
  /** Since when it takes nothing, ISO; null: it does, or it was sent nothing. */
  failingSince: string | null
  /** What became of the last try; null while it takes notices. */
  problem: string | null
  /** It has taken nothing for longer than a restart of it may last. */
  dead: boolean
}

/** Why a notice was given up. */
export const deadLetterCodes = {
  REFUSED: 'The receiver refused this notice: sending it again would not help',
  TOO_OLD: 'It could not be delivered within give_up_after',
  QUEUE_FULL: 'Too many notices waited for the receiver: the oldest was dropped',
  NO_RECEIVER: 'The configuration no longer has this receiver',
  NOT_ITS_OWN: 'The configuration no longer lets this receiver hear of the project',
} as const
export type DeadLetterCode = keyof typeof deadLetterCodes

export interface NoticeDeadLettered {
  notice: string
  receiver: string
  attempts: number
  code: DeadLetterCode
  message: string
}
