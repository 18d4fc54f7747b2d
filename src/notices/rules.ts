/** Who is told of what: the receivers' filters. Pure. */
import {
  noticeSeverities,
  type Notice,
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
export type Draft = Omit<Notice, 'id' | 'receivers'>

/** Names of the receivers that want it, in the order of the configuration. */
export function receiversOf(draft: Draft, receivers: ReadonlyMap<string, ReceiverRule>): string[] {
  return [...receivers].filter(([, rule]) => wants(rule, draft)).map(([name]) => name)
}

/** Whether anybody is told of a project's instances in a segment: without that nothing is read for tenants. */
export function tellsTenants(receivers: ReadonlyMap<string, ReceiverRule>, segment: string): boolean {
  return [...receivers.values()].some((rule) => rule.audience === 'tenant' && ofSegment(rule, segment))
}

function wants(rule: ReceiverRule, { topic, audience, segment, project, severity }: Draft): boolean {
  if (rule.audience !== audience || !ofSegment(rule, segment)) return false
  if (rule.topics !== null && !rule.topics.includes(topic)) return false
  if (rule.projects !== null && (project === null || !rule.projects.includes(project))) return false
  return noticeSeverities.indexOf(severity) >= noticeSeverities.indexOf(rule.least)
}

/** What concerns every segment (a freeze, the brake of the cloud) concerns each. */
function ofSegment({ segments }: ReceiverRule, segment: string | null): boolean {
  return segments === null || segment === null || segments.includes(segment)
}
