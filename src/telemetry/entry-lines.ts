/** Journal entries as log lines: level, sentence and fields. The whole entry stays in the journal; the log points at it. */
import type { Entry, EntryKind } from '../domain/entry.ts'
import { sentenceOf } from '../domain/text/entry-sentence.ts'
import type { Level } from './logger.ts'

export interface Line {
  level: Level
  message: string
  fields: Record<string, unknown>
}

const levels: Partial<Record<EntryKind, Level>> = {
  'monitor.frozen': 'warn',
  // Unlike a freeze it does not end by itself while the hosts stay away: a person has to look.
  'brake.tripped': 'error',
  'alarm.raised': 'error',
  'incident.opened': 'warn',
  'process.failed': 'warn',
  'instance.failed': 'warn',
  'incident.segment-changed': 'warn',
  'incident.held': 'warn',
  'step.failed': 'warn',
  'debt.recorded': 'warn',
  'proof.voided': 'error',
  'config.refused': 'error',
  'mode.changed': 'warn',
  'notice.failed': 'warn',
  'notice.dead-lettered': 'error',
}

/** The line for an entry. */
export function lineOf(entry: Entry): Line {
  const fields: Record<string, unknown> = { seq: entry.seq, ...fieldsOf(entry) }
  for (const name of ['incident', 'host', 'instance', 'step'] as const)
    if (entry[name] !== null) fields[name] = entry[name]
  if (entry.actor !== 'daemon') fields['actor'] = entry.actor
  if ('globalRequestId' in entry.data) fields['globalRequestId'] = entry.data.globalRequestId
  return { level: levelOf(entry), message: capitalised(sentenceOf(entry).text), fields }
}

function levelOf(entry: Entry): Level {
  if (entry.kind === 'outcome.recorded' && (entry.data.outcome === 'failed' || entry.data.outcome === 'stuck'))
    return 'error'
  if (entry.kind === 'verdict.changed' && entry.data.kind === 'contradiction') return 'error'
  if (entry.kind === 'return.changed' && entry.data.to === 'kept-out') return 'warn'
  if (entry.kind === 'instances.watched' && entry.data.off > 0) return 'warn'
  return levels[entry.kind] ?? 'info'
}

/** What programs filter by. */
function fieldsOf(entry: Entry): Record<string, unknown> {
  switch (entry.kind) {
    case 'daemon.started':
      return { mode: entry.data.mode, pid: entry.data.pid }
    case 'daemon.stopped':
      return { reason: entry.data.reason }
    case 'workflow.pinned':
      return { revision: entry.data.revision, digest: entry.data.digest }
    case 'monitor.frozen':
      return { reason: entry.data.reason }
    case 'monitor.thawed':
      return { reason: entry.data.reason, frozenForMs: entry.data.frozenForMs }
    case 'silence.noted':
      return { hosts: entry.data.hosts.length }
    case 'brake.tripped': {
      const { scope, down, allowed, fleet } = entry.data
      return { scope, down, allowed, fleet }
    }
    case 'brake.released': {
      const { scope, down, allowed, fleet, trippedForMs } = entry.data
      return { scope, down, allowed, fleet, trippedForMs }
    }
    case 'verdict.changed': {
      const { reason, from, kind: verdict, segment } = entry.data
      return { reason, from, verdict, segment }
    }
    case 'alarm.raised':
      return { reason: entry.data.code }
    case 'incident.opened': {
      const { segment, mode, openedBy } = entry.data
      return { segment, mode, openedBy }
    }
    case 'instance.failed': {
      const { name, event, segment, mode, openedBy } = entry.data
      return { name, event, segment, mode, openedBy }
    }
    case 'process.failed': {
      const { process, segment, mode, openedBy } = entry.data
      return { process, segment, mode, openedBy }
    }
    case 'incident.segment-changed':
      return { from: entry.data.from, segment: entry.data.to }
    case 'incident.phase':
      return { phase: entry.data.to }
    case 'incident.held':
      return { reason: entry.data.code, err: entry.data.error }
    case 'incident.continued':
      return { reason: entry.data.because }
    case 'incident.closed':
      return { outcome: entry.data.outcome, counts: entry.data.counts }
    case 'fence.attempt': {
      const { method, phase, position, of, attempt, certainty } = entry.data
      return { method, phase, position, of, attempt, certainty }
    }
    case 'proof.recorded':
      return { method: entry.data.proof.method, strength: entry.data.proof.strength }
    case 'service.marked':
      return { reason: entry.data.reason }
    case 'service.set-aside':
      return { setAside: entry.data.to, certainty: entry.data.certainty }
    case 'proof.voided':
      return { reason: entry.data.code }
    case 'return.changed': {
      const { to: returnState, code: reason, leftovers = [] } = entry.data
      return { reason, returnState, leftovers: leftovers.length }
    }
    case 'service.restored':
      return { change: entry.data.change }
    case 'instances.watched': {
      const { to: reason, instances, off, started } = entry.data
      return { reason, instances, off, started }
    }
    case 'segment.written': {
      const { before, after, by } = entry.data
      return { segment: (after ?? before)?.name, by }
    }
    case 'segment.host.written':
      return { segment: entry.data.segment.name, by: entry.data.by }
    case 'report.received': {
      const { uuid: report, about, by } = entry.data
      return { report, about, by }
    }
    case 'report.settled': {
      const { uuid: report, status } = entry.data
      return { report, status }
    }
    case 'plan.made': {
      const { reason, decision, recipe } = entry.data
      return { reason, decision, recipe }
    }
    case 'step.intended':
      return { attempt: entry.data.attempt, stepKind: entry.data.kind }
    case 'step.issued':
      return { requestId: entry.data.requestId }
    case 'step.waiting':
      return { sentAt: entry.data.sentAt, until: entry.data.until }
    case 'step.failed':
      return { reason: entry.data.error.code, err: entry.data.error }
    case 'recipe.entered':
      return { reason: entry.data.because }
    case 'outcome.recorded':
      return { outcome: entry.data.outcome, reason: entry.data.code }
    case 'debt.recorded':
      return { reason: entry.data.code }
    case 'debt.settled':
      return { reason: entry.data.code, end: entry.data.end }
    case 'operator.statement':
      return { by: entry.data.by, reason: entry.data.statement }
    case 'operator.hand-over':
    case 'operator.override':
    case 'operator.cancelled':
    case 'operator.again':
    case 'operator.start':
    case 'operator.return':
    case 'operator.resumed':
    case 'operator.maintenance-ended':
    case 'operator.maintenance-withdrawn':
    case 'journal.moved':
      return { by: entry.data.by, reason: entry.data.reason }
    case 'operator.paused':
    case 'operator.maintenance':
      return { by: entry.data.by, reason: entry.data.reason, until: entry.data.until }
    case 'operator.maintenance-planned': {
      const { by, reason, from, until } = entry.data
      return { by, reason, from, until }
    }
    case 'config.reloaded': {
      const { by, reason, files } = entry.data
      return { by, reason, files }
    }
    case 'config.refused': {
      const { by, code: reason, problems } = entry.data
      return { by, reason, problems }
    }
    case 'mode.changed': {
      const { by, from, to } = entry.data
      return { by, from, to }
    }
    case 'operator.log-level':
      return { by: entry.data.by, until: entry.data.until }
    case 'notice.queued': {
      const { id, topic, severity, receivers } = entry.data
      return { notice: id, topic, severity, receivers }
    }
    case 'notice.sent':
    case 'notice.failed':
    case 'notice.dead-lettered':
      return { notice: entry.data.notice, receiver: entry.data.receiver }
    default:
      return {}
  }
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
