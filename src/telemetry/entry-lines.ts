/** Journal entries as log lines: level, sentence and fields. The whole entry stays in the journal; the log points at it. */
import type { Entry, EntryKind } from '../domain/entry.ts'
import { noticeSentence } from '../domain/notice-sentences.ts'
import { setAsideSentence } from '../domain/set-aside.ts'
import { silenceSentence } from '../domain/silence.ts'
import { scopeText, wholeCloud } from '../domain/order.ts'
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
  const { message, ...own } = describe(entry)
  const fields: Record<string, unknown> = { seq: entry.seq, ...own }
  for (const name of ['incident', 'host', 'instance', 'step'] as const)
    if (entry[name] !== null) fields[name] = entry[name]
  if (entry.actor !== 'daemon') fields['actor'] = entry.actor
  if ('globalRequestId' in entry.data) fields['globalRequestId'] = entry.data.globalRequestId
  return { level: levelOf(entry), message, fields }
}

function levelOf(entry: Entry): Level {
  if (entry.kind === 'outcome.recorded' && (entry.data.outcome === 'failed' || entry.data.outcome === 'stuck'))
    return 'error'
  if (entry.kind === 'verdict.changed' && entry.data.kind === 'contradiction') return 'error'
  if (entry.kind === 'return.changed' && entry.data.to === 'kept-out') return 'warn'
  if (entry.kind === 'instances.watched' && entry.data.off > 0) return 'warn'
  return levels[entry.kind] ?? 'info'
}

function describe(entry: Entry): { message: string } & Record<string, unknown> {
  switch (entry.kind) {
    case 'daemon.started':
      return { message: `Lifeboat ${entry.data.version} started`, mode: entry.data.mode, pid: entry.data.pid }
    case 'daemon.stopped':
      return { message: 'Lifeboat stopped', reason: entry.data.reason }
    case 'workflow.pinned':
      return { message: `Workflow ${entry.data.name} pinned`, revision: entry.data.revision, digest: entry.data.digest }
    case 'monitor.frozen':
      return { message: `Verdicts frozen: ${entry.data.message}`, reason: entry.data.reason }
    case 'monitor.thawed':
      return { message: 'Verdicts unfrozen', reason: entry.data.reason, frozenForMs: entry.data.frozenForMs }
    case 'silence.noted':
      return { message: silenceSentence(entry.data), hosts: entry.data.hosts.length }
    case 'brake.tripped': {
      const { scope, down, allowed, fleet } = entry.data
      return { message: `The brake tripped: ${entry.data.message}`, scope, down, allowed, fleet }
    }
    case 'brake.released': {
      const { scope, down, allowed, fleet, trippedForMs } = entry.data
      return { message: `The brake opened: ${entry.data.message}`, scope, down, allowed, fleet, trippedForMs }
    }
    case 'verdict.changed': {
      const { message, reason, from, kind: verdict, segment } = entry.data
      return { message, reason, from, verdict, segment }
    }
    case 'alarm.raised':
      return { message: entry.data.message, reason: entry.data.code }
    case 'incident.opened': {
      const { segment, mode, openedBy } = entry.data
      return { message: 'Incident opened', segment, mode, openedBy }
    }
    case 'incident.segment-changed': {
      const { from, to: segment } = entry.data
      return { message: `Incident is under the rules of segment ${segment} now`, from, segment }
    }
    case 'incident.phase':
      return { message: `Incident went from ${entry.data.from} to ${entry.data.to}`, phase: entry.data.to }
    case 'incident.held':
      return { message: `Incident held: ${entry.data.message}`, reason: entry.data.code, err: entry.data.error }
    case 'incident.continued':
      return { message: 'Incident went on', reason: entry.data.because }
    case 'incident.closed': {
      const { message, outcome, counts } = entry.data
      return { message: `Incident closed: ${message}`, outcome, counts }
    }
    case 'fence.attempt': {
      const { message, method, phase, position, of, attempt, certainty } = entry.data
      return { message: `Fencing by ${method}: ${message}`, method, phase, position, of, attempt, certainty }
    }
    case 'proof.recorded': {
      const { method, strength } = entry.data.proof
      return { message: 'Proof of death recorded', method, strength }
    }
    case 'service.marked':
      return { message: 'Our flags are set on the service', reason: entry.data.reason }
    case 'service.set-aside': {
      const { to: setAside, certainty } = entry.data
      return { message: setAsideSentence(entry.host ?? '', entry.data), setAside, certainty }
    }
    case 'proof.voided':
      return { message: `The proof of death was revoked: ${entry.data.message}`, reason: entry.data.code }
    case 'return.changed': {
      const { from, to: returnState, message, code: reason, leftovers = [] } = entry.data
      const said = `Return of the host, ${from} to ${returnState}: ${message}`
      return { message: said, reason, returnState, leftovers: leftovers.length }
    }
    case 'service.restored':
      return { message: 'Our flags on the service are being cleared', change: entry.data.change }
    case 'instances.watched': {
      const { message, to, instances, off, started } = entry.data
      return { message, reason: to, instances, off, started }
    }
    case 'plan.made': {
      const { message, reason, decision, recipe } = entry.data
      return { message: `Plan made: ${message}`, reason, decision, recipe }
    }
    case 'step.intended':
      return { message: `Step ${entry.data.kind} intended`, attempt: entry.data.attempt, stepKind: entry.data.kind }
    case 'step.issued':
      return { message: 'Step issued', requestId: entry.data.requestId }
    case 'step.waiting':
      return { message: 'Step waits: Nova may still carry it out', sentAt: entry.data.sentAt, until: entry.data.until }
    case 'step.confirmed':
      return { message: 'Step confirmed' }
    case 'step.failed': {
      const { error } = entry.data
      return { message: `Step failed: ${error.message}`, reason: error.code, err: error }
    }
    case 'recipe.entered':
      return { message: `Recovery goes on with recipe ${entry.data.recipe}`, reason: entry.data.because }
    case 'outcome.recorded': {
      const { message, outcome, code: reason } = entry.data
      return { message: `Instance ${outcome}: ${message}`, outcome, reason }
    }
    case 'debt.recorded':
      return { message: `Leftover: ${entry.data.message}`, reason: entry.data.code }
    case 'debt.settled': {
      const { code: reason, end, message } = entry.data
      return { message: `Leftover cleaned up: ${message}`, reason, end }
    }
    case 'operator.statement':
      return { message: 'A person attested that the host is dead', by: entry.data.by, reason: entry.data.statement }
    case 'operator.override':
      return { message: 'A person overrode the brake for the incident', by: entry.data.by, reason: entry.data.reason }
    case 'operator.cancelled':
      return { message: 'A person cancelled', by: entry.data.by, reason: entry.data.reason }
    case 'operator.again':
      return {
        message: `A person tries again what incident ${entry.data.of} did not bring back`,
        by: entry.data.by,
        reason: entry.data.reason,
      }
    case 'operator.start':
      return {
        message: 'A person ordered the instances started that are off',
        by: entry.data.by,
        reason: entry.data.reason,
      }
    case 'operator.return': {
      const { keepOut, by, reason } = entry.data
      return { message: keepOut ? 'A person keeps the host out' : 'A person returns the host to service', by, reason }
    }
    case 'config.reloaded': {
      const { by, reason, changed, waiting, files } = entry.data
      const what = changed.length === 0 ? 'nothing changed' : `changed: ${changed.join(', ')}`
      const rest = waiting.length === 0 ? '' : `; for the next start: ${waiting.join(', ')}`
      return { message: `Configuration reloaded, ${what}${rest}`, by, reason, files }
    }
    case 'config.refused': {
      const { by, code, message, problems } = entry.data
      return {
        message: `Configuration rejected, the current one stays in force: ${message}`,
        by,
        reason: code,
        problems,
      }
    }
    case 'mode.changed': {
      const { from, to, by } = entry.data
      return {
        message:
          to === 'armed'
            ? 'Armed: from now on Lifeboat recovers hosts'
            : 'Observing: from now on Lifeboat sends nothing',
        by,
        from,
        to,
      }
    }
    case 'operator.log-level':
      return { message: `Log level ${entry.data.level}`, by: entry.data.by, until: entry.data.until }
    case 'operator.paused':
    case 'operator.maintenance': {
      const { by, reason, until, scope = wholeCloud } = entry.data
      const what = entry.kind === 'operator.paused' ? 'Recoveries paused' : 'Maintenance begun'
      return { message: `${what}: ${scopeText(scope)}`, by, reason, until }
    }
    case 'operator.resumed':
    case 'operator.maintenance-ended': {
      const { by, reason, scope = wholeCloud } = entry.data
      const what = entry.kind === 'operator.resumed' ? 'Recoveries resumed' : 'Maintenance ended'
      return { message: `${what}: ${scopeText(scope)}`, by, reason }
    }
    case 'notice.queued': {
      const { id, topic, severity, receivers } = entry.data
      return { message: noticeSentence(entry), notice: id, topic, severity, receivers }
    }
    case 'notice.sent':
    case 'notice.failed':
    case 'notice.dead-lettered': {
      const { notice, receiver } = entry.data
      return { message: noticeSentence(entry), notice, receiver }
    }
    default:
      return { message: 'Journal entry written' }
  }
}
