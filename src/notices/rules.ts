/** Who is told of what: the receivers' filters. Pure. */
import {
  noticeSeverities,
  type Notice,
  type NoticeAlert,
  type NoticeAudience,
  type NoticeSeverity,
  type NoticeTopic,
} from '../domain/notice.ts'

/** What a receiver wants to hear of. A null filter lets everything through. */
export interface ReceiverRule {
  audience: NoticeAudience
  topics: readonly NoticeTopic[] | null
  segments: readonly string[] | null
  /** Of tenants: the projects that are told here. */
  projects: readonly string[] | null
  least: NoticeSeverity
  /**
   * What it keeps of troubles. none: people read it. follows: it may keep an alert, and is told what became of it though that is less
   * severe. only: it keeps alerts and nothing else, and is told of each end.
   */
  alerts: 'none' | 'follows' | 'only'
}

export interface NoticeRules {
  receivers: ReadonlyMap<string, ReceiverRule>
  /** A freeze shorter than this is not told. Shorter: every restart of an API wakes someone; longer: they hear of a real one late. */
  freezeDelayMs: number
  /** A notice that could not be delivered in this time is a dead letter. Shorter: a receiver that is down overnight misses it. */
  giveUpAfterMs: number
  /** Notices that may wait for one receiver. Fewer: the oldest are given up while it is down; more: memory, and old news. */
  queueLimit: number
  /** Instances that one notice names. More: bigger mails and a bigger journal. */
  maxInstances: number
}

/** A notice before it is known who gets it. */
export type Draft = Omit<Notice, 'id' | 'receivers' | 'alert'>

/**
 * Names of the receivers that want it, in the order of the configuration.
 *
 * @param alert what it does to its trouble; null: it has none
 * @param told who was told of that trouble
 */
export function receiversOf(
  draft: Draft,
  receivers: ReadonlyMap<string, ReceiverRule>,
  alert: NoticeAlert | null = null,
  told: ReadonlySet<string> = new Set(),
): string[] {
  const isFor = ([name, rule]: [string, ReceiverRule]): boolean => {
    // Told of its beginning before a reload took the project from it: it hears of the end no more.
    if (!mayHave(rule, draft)) return false
    if (rule.alerts === 'none' || rule.audience !== draft.audience) return wants(rule, draft)
    if (rule.alerts === 'follows')
      return wants(rule, draft) || (told.has(name) && alert?.action !== 'trigger' && ofTopic(rule, draft))
    if (alert === null || alert.action === 'acknowledge') return false
    return told.has(name) || (alert.action === 'trigger' && wants(rule, draft))
  }
  return [...receivers].filter(isFor).map(([name]) => name)
}

/** Whether the receiver may still get what it was to get: its audience, and the projects that it may hear of. */
export function mayHave(rule: ReceiverRule, { audience, project }: Pick<Notice, 'audience' | 'project'>): boolean {
  return rule.audience === audience && ofProject(rule, project)
}

/** Whether anybody is told of a project's instances in a segment: without that nothing is read for tenants. */
export function tellsTenants(receivers: ReadonlyMap<string, ReceiverRule>, segment: string): boolean {
  return [...receivers.values()].some((rule) => rule.audience === 'tenant' && ofSegment(rule, segment))
}

function wants(rule: ReceiverRule, { topic, audience, segment, project, severity }: Draft): boolean {
  if (rule.audience !== audience || !ofSegment(rule, segment)) return false
  if (!ofTopic(rule, { topic })) return false
  if (!ofProject(rule, project)) return false
  return noticeSeverities.indexOf(severity) >= noticeSeverities.indexOf(rule.least)
}

function ofProject({ projects }: ReceiverRule, project: string | null): boolean {
  return projects === null || (project !== null && projects.includes(project))
}

function ofTopic({ topics }: ReceiverRule, { topic }: Pick<Draft, 'topic'>): boolean {
  return topics === null || topics.includes(topic)
}

/** What concerns every segment (a freeze, the brake of the cloud) concerns each. */
function ofSegment({ segments }: ReceiverRule, segment: string | null): boolean {
  return segments === null || segment === null || segments.includes(segment)
}
