/** Each journal entry as one sentence. The log, reports, pages and the command line all say it in these words. Pure. */
import type { Entry, EntryData } from '../entry.ts'
import { returnStepKinds } from '../host-return.ts'
import { outcomes } from '../outcome.ts'
import { lateReasons, scopeText, wholeCloud } from '../order.ts'
import { hostStepKinds, stepKinds } from '../plan.ts'
import { reportClasses } from '../report-words.ts'
import { setAsideSentence } from '../set-aside.ts'
import { silenceSentence } from '../silence.ts'
import { toneOf, type Tone } from './entry-tone.ts'
import { heldBecause } from './held-because.ts'
import { noticeSentence } from './notice-sentence.ts'
import { span } from './span.ts'

const means: Record<string, string> = { ...stepKinds, ...hostStepKinds, ...returnStepKinds }

export interface EntrySentence {
  /** The instance that it is about; null: its host, the cloud or the daemon. */
  subject: string | null
  /** Unescaped. It does not name the subject. */
  text: string
  tone: Tone
}

/** The entry in words. */
export function sentenceOf(entry: Entry): EntrySentence {
  return { subject: entry.instance, text: textOf(entry), tone: toneOf(entry) }
}

/** The entry as one line of text, with the instance's id before it. */
export function lineOf(entry: Entry): string {
  const { subject, text } = sentenceOf(entry)
  return subject === null ? text : `${subject}: ${text}`
}

function textOf(entry: Entry): string {
  const step = `${entry.instance === null ? 'Step' : 'step'}${entry.step === null ? '' : ` ${entry.step}`}`
  switch (entry.kind) {
    case 'incident.opened':
      return `Incident opened for ${entry.host ?? 'no host'} by ${entry.data.openedBy}`
    case 'process.failed':
      return `Incident opened for ${entry.data.process} of ${entry.host ?? 'no host'} by ${entry.data.openedBy}: its instances are left alone`
    case 'instance.failed':
      return `Incident opened for instance ${entry.data.name} on ${entry.host ?? 'no host'} by ${entry.data.openedBy}: its guest crashed (${entry.data.event})`
    case 'incident.segment-changed':
      return `The host is in segment ${entry.data.to} now, no longer in ${entry.data.from}: the rules of ${entry.data.to} apply`
    case 'incident.phase':
      return `Phase ${entry.data.from} → ${entry.data.to}`
    case 'incident.held':
      return `Held (${entry.data.code}): ${heldBecause(entry.data.message)}`
    case 'incident.continued':
      return `Went on: ${entry.data.because}`
    case 'incident.closed':
      return `Closed (${entry.data.outcome}): ${closedText(entry.data)}`
    case 'fence.attempt':
      return `Fencing by ${entry.data.method}, ${entry.data.phase}: ${entry.data.message}`
    case 'proof.recorded':
      return `Proof of death recorded: ${entry.data.proof.strength} by ${entry.data.proof.method}`
    case 'service.marked':
      return `Our flags are set on service ${entry.data.serviceId}: ${entry.data.reason}`
    case 'service.set-aside':
      return setAsideSentence(entry.host ?? '', entry.data)
    case 'proof.voided':
      return `${entry.data.unproven ? 'Earlier attestations and overrides were revoked' : 'The proof of death was revoked'} (${entry.data.code}): ${entry.data.message}`
    case 'return.changed':
      return `Return ${entry.data.from} → ${entry.data.to} (${entry.data.code}): ${[entry.data.message, ...(entry.data.leftovers ?? []).map(({ message }) => message)].join('; ')}`
    case 'service.restored':
      return `Our flags on the service are being cleared: ${JSON.stringify(entry.data.change)}`
    case 'instances.watched':
      return `${entry.data.message}${entry.data.to === 'watching' ? '; Lifeboat still watches for instances that are off' : ''}`
    case 'plan.made':
      return `${entry.data.decision} (${entry.data.reason}): ${entry.data.message}`
    case 'step.intended':
      return `${step} intended, attempt ${entry.data.attempt}: ${means[entry.data.kind] ?? entry.data.kind}`
    case 'step.issued':
      return `${step} issued, ${entry.data.requestId ?? 'no request id'}`
    case 'step.waiting':
      return `${step} waits until ${entry.data.until} at the latest: Nova may still carry out what was sent at ${entry.data.sentAt}`
    case 'step.confirmed':
      return `${step} confirmed`
    case 'step.failed':
      return `${step} failed (${entry.data.error.code}): ${entry.data.error.message}`
    case 'recipe.entered':
      return `goes on with recipe ${entry.data.recipe} because of ${entry.data.because}`
    case 'outcome.recorded':
      return `${entry.data.outcome} (${entry.data.code}): ${entry.data.message}`
    case 'debt.recorded':
      return `leftover ${entry.data.code}: ${entry.data.message}`
    case 'debt.settled':
      return `leftover ${entry.data.code} cleaned up (${entry.data.end}): ${entry.data.message}`
    case 'operator.statement':
      return `${entry.data.by} stated: ${entry.data.statement}`
    case 'operator.hand-over':
      return `${entry.data.by} ordered another daemon to take over: ${entry.data.reason}`
    case 'operator.override':
      return `${entry.data.by} overrode what held it: ${entry.data.reason}`
    case 'operator.cancelled':
      return `${entry.data.by} cancelled: ${entry.data.reason}`
    case 'operator.again':
      return `${entry.data.by} retries the instances that incident ${entry.data.of} did not bring back: ${entry.data.reason}`
    case 'operator.start':
      return `${entry.data.by} ordered a start of the instances that are off: ${entry.data.reason}`
    case 'operator.return':
      return `${entry.data.by} ${entry.data.keepOut ? 'keeps the host out' : 'returns the host to service'}${entry.data.reason === '' ? '' : `: ${entry.data.reason}`}`
    case 'operator.paused':
      return `${entry.data.by} paused recoveries of ${scopeText(entry.data.scope ?? wholeCloud)} ${untilOf(entry.data)}: ${entry.data.reason}`
    case 'operator.resumed':
      return `${entry.data.by} resumed recoveries of ${scopeText(entry.data.scope ?? wholeCloud)}: ${entry.data.reason}`
    case 'operator.maintenance':
      return entry.data.plan === undefined
        ? `${entry.data.by} began maintenance of ${scopeText(entry.data.scope)} ${untilOf(entry.data)}: ${entry.data.reason}`
        : plannedBegan(entry.data)
    case 'operator.maintenance-planned':
      return `${entry.data.by} planned maintenance of ${scopeText(entry.data.scope)} from ${entry.data.from} ${untilOf(entry.data)}: ${entry.data.reason}`
    case 'operator.maintenance-withdrawn':
      return `${entry.data.by} withdrew planned maintenance ${entry.data.plan} of ${scopeText(entry.data.scope)}: ${entry.data.reason}`
    case 'operator.maintenance-ended':
      return `${entry.data.by} ended maintenance of ${scopeText(entry.data.scope)}: ${entry.data.reason}`
    case 'segment.written':
      return `${entry.data.by} ${writtenText(entry.data, 'created', 'deleted')} failover segment ${(entry.data.before ?? entry.data.after)?.name}`
    case 'segment.host.written':
      return `${entry.data.by} ${writtenText(entry.data, 'added', 'removed')} host ${(entry.data.before ?? entry.data.after)?.name} of failover segment ${entry.data.segment.name}`
    case 'report.received':
      return `${entry.data.by} reports: ${reportClasses[entry.data.about]} (${Object.values(entry.data.payload).join(', ')})`
    case 'report.settled':
      return `Report ${entry.data.status}: ${entry.data.message}`
    case 'review.noted':
      return `${entry.data.by} noted: ${entry.data.text}`
    case 'review.signed-off':
      return `${entry.data.by} signed it off${entry.data.text === '' ? '' : `: ${entry.data.text}`}`
    case 'config.reloaded': {
      const { by, changed, waiting } = entry.data
      const rest = waiting.length === 0 ? '' : `; waiting for the next start: ${waiting.join(', ')}`
      return `Configuration reloaded by ${by}: ${changed.join(', ') || 'nothing changed'}${rest}`
    }
    case 'config.refused':
      return `Configuration rejected (${entry.data.code}): ${entry.data.message}; the current one stays in force (reload ordered by ${entry.data.by})`
    case 'mode.changed':
      return `${entry.data.by} changed the mode from ${entry.data.from} to ${entry.data.to}`
    case 'operator.log-level':
      return `${entry.data.by} set the log level to ${entry.data.level} ${untilOf(entry.data)}`
    case 'alarm.raised':
      return `Alarm ${entry.data.code}: ${entry.data.message}`
    case 'verdict.changed':
      return `Verdict ${entry.data.from} → ${entry.data.kind}: ${entry.data.message}`
    case 'notice.queued':
    case 'notice.sent':
    case 'notice.failed':
    case 'notice.dead-lettered':
      return noticeSentence(entry)
    case 'daemon.started':
      return `Lifeboat ${entry.data.version} started, ${entry.data.mode === 'armed' ? 'armed' : 'observing'}`
    case 'tenure.began':
      return `${daemonIn(entry.data.holder)} is active from here on: ${entry.data.why}`
    case 'tenure.ended':
      return `${daemonIn(entry.data.holder)} is no longer active: ${entry.data.why}`
    case 'journal.moved':
      return `${entry.data.by} moved the journal ${entry.data.to === 'shared' ? 'to the shared store' : `out of the shared store, to ${entry.data.holder} alone`}: ${entry.data.reason}`
    case 'daemon.stopped':
      return `Lifeboat stopped: ${entry.data.reason}`
    case 'workflow.pinned':
      return `Workflow ${entry.data.name} revision ${entry.data.revision} in force, ${entry.data.digest.slice(0, 12)}`
    case 'monitor.frozen':
      return `All verdicts frozen (${entry.data.reason}): ${entry.data.message}`
    case 'monitor.thawed':
      return `Verdicts unfrozen after ${span(entry.data.frozenForMs)} (${entry.data.reason})`
    case 'silence.noted':
      return silenceSentence(entry.data)
    case 'brake.tripped':
      return `The brake holds ${entry.data.scope}: ${entry.data.message}`
    case 'brake.released':
      return `The brake lets ${entry.data.scope} go on: ${entry.data.message}`
    default:
      // Kinds of newer releases.
      return (entry as Entry).kind
  }
}

/** The name of a daemon, of its identity: the rest tells its copy and its process. */
function daemonIn(holder: string): string {
  return holder.split('/')[0] ?? holder
}

/** Of an incident that ran to its end: how its instances ended. The others say why they ended. */
function closedText({ outcome, message, counts }: EntryData['incident.closed']): string {
  if (outcome !== 'done') return message
  const known: readonly string[] = Object.keys(outcomes)
  const order = [...known, ...Object.keys(counts).filter((name) => !known.includes(name))]
  const parts = order.filter((name) => (counts[name] ?? 0) > 0).map((name) => `${counts[name] ?? 0} ${name}`)
  return parts.length === 0 ? 'the host had no instances' : parts.join(', ')
}

/** changed description (from null to "Rack 2") of */
function writtenText(
  { before, after }: { before: object | null; after: object | null },
  made: string,
  gone: string,
): string {
  if (before === null) return made
  if (after === null) return gone
  const was = before as Record<string, unknown>
  const changes = Object.entries(after).flatMap(([field, value]) =>
    value === was[field] ? [] : [`${field} from ${JSON.stringify(was[field])} to ${JSON.stringify(value)}`],
  )
  return `changed ${changes.join(', ')} of`
}

/** The daemon writes it, for the person who planned it. */
function plannedBegan(data: EntryData['operator.maintenance']): string {
  const { scope, by, reason, plan, late } = data
  const meanwhile = late === undefined ? '' : ` at ${late.from} while ${lateReasons[late.because]}`
  return `Maintenance ${plan} of ${scopeText(scope)}, planned by ${by}, began${meanwhile}, ${untilOf(data)}: ${reason}`
}

function untilOf({ until }: { until: string | null }): string {
  return until === null ? 'with no end set' : `until ${until}`
}
