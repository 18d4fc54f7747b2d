/**
 * Which trouble a notice tells of, and whether it begins or ends it: what a pager needs to keep one alert for it. Pure.
 *
 * A trouble is named by its key. A host is down until it is well; an incident is open until it ended well or a person signed it off; a
 * scope of the brake holds until it opens, and what waits there until nothing does.
 */
import type { Notice, NoticeAction, NoticeTopic } from '../domain/notice.ts'
import type { Draft } from './rules.ts'

/** By what a trouble is named. */
type Subject = 'host' | 'incident' | 'brake' | 'held' | 'control-plane' | 'alarm' | 'owner'

/** `unless-well`: it begins or goes on unless the notice is only for information; then it is over. */
type Does = NoticeAction | 'unless-well'

const troubles: Record<NoticeTopic, readonly [Subject, Does] | null> = {
  'host-down': ['host', 'trigger'],
  'host-trouble': ['host', 'trigger'],
  contradiction: ['host', 'trigger'],
  'return-waits': ['host', 'trigger'],
  'return-refused': ['host', 'trigger'],
  'host-well': ['host', 'resolve'],
  'host-returned': ['host', 'resolve'],
  'incident-opened': ['incident', 'trigger'],
  'incident-held': ['incident', 'trigger'],
  'fencing-failed': ['incident', 'trigger'],
  'proof-voided': ['incident', 'trigger'],
  'process-failed': ['incident', 'trigger'],
  'instance-failed': ['incident', 'trigger'],
  'person-acted': ['incident', 'acknowledge'],
  'signed-off': ['incident', 'resolve'],
  'incident-closed': ['incident', 'unless-well'],
  'process-over': ['incident', 'unless-well'],
  'instance-over': ['incident', 'unless-well'],
  'instances-off': ['incident', 'unless-well'],
  'holds-over': ['held', 'resolve'],
  'brake-tripped': ['brake', 'trigger'],
  'brake-released': ['brake', 'resolve'],
  'control-plane-frozen': ['control-plane', 'trigger'],
  'control-plane-thawed': ['control-plane', 'resolve'],
  // Nothing says that it is over.
  alarm: ['alarm', 'trigger'],
  'instances-affected': ['owner', 'trigger'],
  'instances-ended': ['owner', 'resolve'],
  'instance-crashed': null,
  test: null,
}

const alertNames: Record<Subject, string> = {
  host: 'LifeboatHost',
  incident: 'LifeboatIncident',
  brake: 'LifeboatBrake',
  held: 'LifeboatHeld',
  'control-plane': 'LifeboatControlPlane',
  alarm: 'LifeboatAlarm',
  owner: 'LifeboatInstances',
}

export interface Trouble {
  key: string
  action: NoticeAction
  /** What an alert of it is named by: without its severity, which may change. */
  labels: Record<string, string>
}

/** Null: it tells of no trouble, or nothing can be said of its end. */
export function troubleOf(draft: Draft): Trouble | null {
  const rule = troubles[draft.topic]
  if (rule === null) return null
  // What is told of several incidents of a scope at once is about the scope.
  const subject = rule[0] === 'incident' && draft.incident === null ? 'held' : rule[0]
  const does = rule[1]
  const action = does === 'unless-well' ? (draft.severity === 'info' ? 'resolve' : 'trigger') : does
  const labels = { alertname: alertNames[subject], ...namedBy(subject, draft) }
  return { key: [subject, ...Object.values(namedBy(subject, draft))].join(':'), action, labels: more(labels, draft) }
}

/** The key of an incident's trouble. */
export function incidentKey(incident: string | null): string {
  return `incident:${incident ?? ''}`
}

function namedBy(
  subject: Subject,
  { host, incident, instance, order, code, held, reference }: Draft,
): Record<string, string> {
  switch (subject) {
    case 'host':
      return { host: host ?? '' }
    case 'incident':
      return { incident: incident ?? '' }
    case 'brake':
      return { scope: code }
    case 'held':
      return { scope: held?.scope ?? code }
    case 'alarm':
      return { code, about: order ?? instance ?? incident ?? host ?? 'cloud' }
    case 'owner':
      return { reference: reference ?? '' }
    case 'control-plane':
      return {}
  }
}

/** Beside its name, for people who route and silence. Owners' have none: a host's name is none of theirs. */
function more(labels: Record<string, string>, { audience, host, segment }: Draft): Record<string, string> {
  if (audience === 'tenant') return labels
  return { ...labels, ...(host !== null && { host }), ...(segment !== null && { segment }) }
}

/** What people did is told of troubles alone that were told. */
export function isAboutTrouble({ topic }: Draft): boolean {
  return topic === 'person-acted' || topic === 'signed-off'
}

/** The key as it leaves: two clouds may have one pager. */
export function dedupKey({ alert }: Pick<Notice, 'alert'>, cloud: string | null): string | null {
  return alert === undefined ? null : ['lifeboat', ...(cloud === null ? [] : [cloud]), alert.key].join(':')
}
