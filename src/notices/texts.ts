/**
 * The words of notices: English here, and any language in a file (docs/notices.md). Templates with {name}; what a tenant
 * reads is made of its own instances only, whatever a template asks for.
 */
import { linkTo } from '../domain/page-link.ts'
import { noticeTopics, type Notice, type NoticedState, type NoticeTopic } from '../domain/notice.ts'
import { filledIn, variablesIn } from '../domain/template.ts'
import { tally } from './tally.ts'

export interface Words {
  subject: string
  text: string
}

export interface Texts {
  topics: Record<NoticeTopic, Words>
  /** One line for each instance: {name}, {id}, {state}, {code}, {host}, {restarts}. */
  line: string
  /** After the last line, when not all are named: {more}. */
  more: string
  /** What {state} says; may itself ask for {restarts}. */
  states: Record<NoticedState, string>
  /** Before the text of a notice from a daemon that only observes; {mode} elsewhere. */
  observing: string
}

/** What templates of a topic may ask for. Tenants' never have the operator's words. */
export const variables = {
  operator: [
    ...['host', 'segment', 'incident', 'code', 'result', 'message'],
    ...['at', 'cloud', 'severity', 'mode', 'topic', 'link'],
  ],
  tenant: ['project', 'reference', 'count', 'ok', 'notOk', 'instances', 'at', 'cloud', 'severity', 'mode', 'topic'],
  line: ['name', 'id', 'state', 'code', 'host', 'restarts'],
  states: ['restarts'],
  more: ['more'],
} as const

const operator = (subject: string): Words => ({ subject, text: '{message}{link}' })

export const english: Texts = {
  topics: {
    'host-down': operator('{host} is considered dead'),
    'host-trouble': operator('{host}: {code}'),
    'host-well': operator('{host} is well again'),
    contradiction: operator('{host} is forced down and alive'),
    'incident-opened': operator('{host}: recovery begins'),
    'incident-held': operator('{host}: recovery on hold ({code})'),
    'fencing-failed': operator('{host}: fencing by {code} failed'),
    'proof-voided': operator('{host} shows life during its recovery'),
    'incident-closed': operator('{host}: recovery over ({result})'),
    'brake-tripped': operator('Brake tripped: {code}'),
    'holds-over': operator('Brake: no recovery on hold any more ({code})'),
    'brake-released': operator('Brake released: {code}'),
    'control-plane-frozen': operator('Verdicts are frozen: {code}'),
    'control-plane-thawed': operator('Verdicts are no longer frozen'),
    alarm: operator('Alarm {code}'),
    'return-waits': operator('{host} cannot return until you act ({code})'),
    'return-refused': operator('{host} is kept out'),
    'instances-off': operator('{host} is back: {code}'),
    'process-failed': operator('nova-compute of {host} is down'),
    'process-over': operator('nova-compute of {host}: {code}'),
    'instance-failed': operator('An instance crashed on {host}: {code}'),
    'instance-over': operator('An instance that crashed on {host}: {code}'),
    'person-acted': operator('{host}: a person acted: {code}'),
    'signed-off': operator('{host}: signed off'),
    'host-returned': operator('{host} {result}'),
    test: operator('A test of this receiver'),
    'instances-affected': {
      subject: 'Your instances: {notOk} down with their host',
      text: 'A host failed. These instances of project {project} were on it at {at}:\n\n{instances}\n\nYou will be told what happens to each. Reference: {reference}',
    },
    'instances-ended': {
      subject: 'Your instances: {ok} of {count} are back',
      text: 'The recovery of instances of project {project} ended at {at}:\n\n{instances}\n\nReference: {reference}',
    },
    'instance-crashed': {
      subject: 'Your instance crashed: {ok} of {count} is back',
      text: 'An instance of project {project} crashed, at or shortly before {at}; its host lives:\n\n{instances}\n\nReference: {reference}',
    },
  },
  line: '- {name} ({id}): {state}',
  more: '… and {more} more',
  states: {
    affected: 'down',
    'at-rest': 'was stopped, and cannot be started for now',
    running: 'running again on another host',
    stopped: 'on another host, stopped',
    left: 'not moved; it stays down until its host is repaired',
    unbuilt: 'never ran, and cannot be brought back; delete it and create it again',
    failed: 'could not be recovered; the operators have been notified',
    stuck: 'unclear; the operators are looking into it',
    elsewhere: 'on another host, but not as it was; the operators are looking into it',
    gone: 'deleted meanwhile',
    untouched: 'not recovered',
    returned: 'its host came back; it was not moved, and has not been seen off since',
    off: 'off since its host went down; the host is back, so it can be started',
    restarted: 'running again where it was',
    rebooted: 'crashed, was restarted, and runs again',
    crashed: 'crashed and is off',
    crashing: 'crashed after {restarts} restarts, and stays off until the operators have looked into it',
  },
  observing: 'Automatic recovery is in observe mode: it has done nothing and will do nothing.',
}

/** Facts beside the notice itself. */
export interface Setting {
  cloud: string | null
  /** Where people find the pages; null: none is named. */
  link: string | null
  showHosts: boolean
}

/** Subject and text as people read them. */
export function worded(notice: Notice, texts: Texts, setting: Setting): Words {
  const forTenants = noticeTopics[notice.topic].audience === 'tenant'
  const values = forTenants ? tenantValues(notice, texts, setting) : operatorValues(notice, setting)
  const fill = (template: string): string => filledIn(template, (name) => values[name] ?? '')
  const { subject, text } = texts.topics[notice.topic]
  const observing = notice.mode === 'observe' && notice.topic !== 'test'
  return {
    subject: `${observing ? '[observing] ' : ''}${fill(subject)}`.replace(/\s+/g, ' ').trim(),
    text: `${fill(text)}${observing ? `\n\n${texts.observing}` : ''}`,
  }
}

/** The subject where one inbox or room may serve several clouds. An owner has no use for the name, and is not told it. */
export function fromCloud(subject: string, { audience }: Notice, cloud: string | null): string {
  return audience === 'operator' && cloud !== null ? `[${cloud}] ${subject}` : subject
}

/** What is wrong with a template; null when it can be used. */
export function templateProblem(template: string, known: readonly string[]): string | null {
  for (const name of variablesIn(template)) {
    if (known.includes(name)) continue
    if (name === '{' || name === '}') return `has a stray ${name} (write ${name}${name} for the brace itself)`
    return `there is no {${name}} here (known: ${known.map((each) => `{${each}}`).join(', ')})`
  }
  return null
}

/** The variables that a topic's templates may use. */
export function variablesOf(topic: NoticeTopic): readonly string[] {
  return variables[noticeTopics[topic].audience]
}

type Values = Partial<Record<string, string>>

function operatorValues(notice: Notice, { cloud, link }: Setting): Values {
  const { host, segment, incident, code, message, at, severity, mode, topic, held } = notice
  return {
    ...{ code, message, at, severity, mode, topic, cloud: cloud ?? '' },
    ...{ host: host ?? hostsIn(held), segment: segment ?? '', incident: incident ?? '' },
    result: resultOf(notice),
    link: linkLine(linkTo(link, notice)),
  }
}

/** How a host's return ended, by its code. Any other code: it is back in service. */
const returns: Record<string, string> = {
  LEFT_DISABLED: 'is up, and stays disabled',
  LEFT_FORCED_DOWN: 'is up, and stays forced down',
  DISABLED_AGAIN: 'is up, and someone disabled it again',
  TAKEN_BACK_BY_OTHERS: 'was returned to service by someone else',
  SERVICE_REPLACED: 'has a new compute service',
  NOT_TAKEN: 'was not taken out of service after all',
  ENABLED_BEFORE_ORDER: 'was enabled before the order came that it stay out',
  ENABLED_ALTHOUGH_KEPT_OUT: 'is enabled although it was to stay out',
  TRAIT_LEFT: 'is enabled, but the scheduler still avoids it',
  TRAIT_UNREAD: 'is enabled; whether the scheduler uses it could not be read',
}

/** How an incident ended: the counts alone of one that came to its end, else why it ended as well. Of a host's return: its end. */
function resultOf({ topic, code, counts = {} }: Notice): string {
  if (topic === 'host-returned') return returns[code] ?? 'is back in service'
  const counted = tally(counts)
  if (counted === '') return code
  return code === 'done' ? counted : `${code}: ${counted}`
}

/** Hosts that are told as one, where a sentence names its host. */
function hostsIn(held: Notice['held']): string {
  if (held === undefined) return ''
  const { hosts, title } = held
  return hosts.length === 1 ? (hosts[0] ?? '') : `${hosts.length} hosts of ${title}`
}

/** On a line of its own. */
function linkLine(address: string | null): string {
  return address === null ? '' : `\n\n${address}`
}

/** Nothing here may name the host: an incident's id has its name in it, too. */
function tenantValues(notice: Notice, texts: Texts, { cloud, showHosts }: Setting): Values {
  const { project, reference, instances = [], instanceCount = 0, notBack = 0, at, severity, mode, topic } = notice
  const lines = instances.map(({ id, name, state, code = '', host, restarts }) => {
    const counted = restarts === undefined ? '' : String(restarts)
    const says = filledIn(texts.states[state], () => counted || '?')
    const values: Values = { id, name, state: says, code, restarts: counted, host: showHosts ? (host ?? '') : '' }
    return filledIn(texts.line, (key) => values[key] ?? '')
  })
  const more = instanceCount - instances.length
  if (more > 0) lines.push(filledIn(texts.more, () => String(more)))
  return {
    ...{ at, severity, mode, topic, cloud: cloud ?? '' },
    ...{ project: project ?? '', reference: reference ?? '', count: String(instanceCount) },
    ...{ ok: String(instanceCount - notBack), notOk: String(notBack), instances: lines.join('\n') },
  }
}
