/** What operators are told of an entry. Pure: (entry, what is known of its incident) -> a draft, or null. */
import { offAfterReturn } from '../domain/after-return.ts'
import type { ScopeId } from '../domain/brake.ts'
import type { Entry, EntryData, EntryKind } from '../domain/entry.ts'
import { seenBefore } from '../domain/text/freeze-sentence.ts'
import { holdsForAPerson } from '../domain/incident-phases.ts'
import type { Incident } from '../domain/incident.ts'
import { noticeTopics, type NoticeSeverity, type NoticeTopic } from '../domain/notice.ts'
import { sentenceOf } from '../domain/text/entry-sentence.ts'
import { span } from '../domain/text/span.ts'
import { omitUndefined } from '../domain/omit-undefined.ts'
import type { VerdictKind } from '../domain/verdict.ts'
import type { Draft } from './rules.ts'
import { tally } from './tally.ts'

export interface Known {
  mode: 'observe' | 'armed'
  /** The entry's incident as it is now. */
  incident: Incident | undefined
  /** People were told that the entry's host is in trouble, in an earlier run too, and it was not well since. */
  troubleTold: boolean
  /** People were told last of the entry's incident that instances of it are off. */
  offTold: boolean
  /** The group of the brake in which people were told of the entry's incident; null: none. */
  heldIn: { scope: ScopeId; title: string } | null
  /** The entry was written before this run began. */
  ofRunBefore: boolean
}

/**
 * Kinds of entries that may be told, or that end what was told; freezes are not among them, because they are told late or not at all. That an incident was
 * opened is told to owners; operators hear of it when its recovery begins, or that it waits.
 */
export const tellingKinds = [
  'verdict.changed',
  'alarm.raised',
  'incident.opened',
  'process.failed',
  'instance.failed',
  'incident.phase',
  'incident.held',
  'incident.closed',
  'fence.attempt',
  'proof.voided',
  'brake.tripped',
  'brake.released',
  'proof.recorded',
  'incident.continued',
  'operator.override',
  'operator.cancelled',
  'operator.statement',
  'operator.start',
  'review.signed-off',
  'return.changed',
  'instances.watched',
] as const satisfies readonly EntryKind[]

const troubles: Partial<Record<VerdictKind, NoticeTopic>> = {
  'host-down': 'host-down',
  'service-down': 'host-trouble',
  'declared-down': 'host-trouble',
  'forced-down-before': 'host-trouble',
  contradiction: 'contradiction',
}

/** Alarms whose cause is one for all instances of an incident, such as a conductor that is away: the first one tells. */
const ofManyAtOnce: ReadonlySet<string> = new Set(['EVACUATION_STANDS_STILL', 'CONFIRMATION_STANDS_STILL'])

/** Out of these a host comes back by a return, which is told as such. */
const underIncident: ReadonlySet<VerdictKind> = new Set<VerdictKind>(['recovering', 'returning'])

/** Lines of a summary about instances that did not come back; the rest is counted. */
const linesAtMost = 30

export function operatorDraft(entry: Entry, known: Known): Draft | null {
  const { incident } = known
  switch (entry.kind) {
    case 'verdict.changed': {
      const { kind, from, reason, message, segment } = entry.data
      const wasInTrouble = troubles[from] !== undefined || (known.troubleTold && !underIncident.has(from))
      const topic = troubles[kind] ?? (kind === 'healthy' && wasInTrouble ? 'host-well' : undefined)
      if (topic === undefined) return null
      // While it only observes, no recovery follows by itself.
      const severity = topic === 'host-down' && known.mode === 'observe' ? 'critical' : undefined
      return draft(entry, known, topic, {
        ...{ code: reason, message: `${entry.host}: ${message}`, segment },
        ...omitUndefined({ severity }),
      })
    }
    case 'alarm.raised':
      // With evidence it goes with a contradiction, which is told as such.
      if (entry.data.evidence !== undefined) return null
      return {
        ...draft(entry, known, 'alarm', { code: entry.data.code, message: entry.data.message }),
        ...omitUndefined({
          order: entry.data.order,
          instance: ofManyAtOnce.has(entry.data.code) ? undefined : (entry.instance ?? undefined),
        }),
      }
    case 'process.failed': {
      const { process, verdict, mode, segment, openedBy } = entry.data
      const why = openedBy === 'daemon' ? verdict.message : `${openedBy} reported it`
      const what =
        mode === 'observe'
          ? 'would be disabled (nothing is sent: observing)'
          : 'is being disabled, so that Nova sends no guest there'
      // One that beats, and that nobody reported, failed before an incident of its host that is over.
      const message =
        verdict.kind === 'healthy' && openedBy === 'daemon'
          ? `${process} of ${entry.host} is up again after an incident of the host. Its service stays disabled until it has been well for a while`
          : `${process} of ${entry.host} is down, and the host lives: its service ${what}. Its instances are left alone. ${why}`
      return draft(entry, known, 'process-failed', { code: verdict.reason, message, segment })
    }
    case 'instance.failed': {
      const { name, event, segment, openedBy } = entry.data
      const message = `${name} (${entry.instance}) crashed on ${entry.host}, which lives: ${openedBy} reported ${event}`
      return draft(entry, known, 'instance-failed', { code: event, message, segment })
    }
    case 'incident.phase':
      return incident === undefined || !isBeginning(entry.data) ? null : begun(entry, known, incident)
    case 'incident.held': {
      const { code, message } = entry.data
      const severity = holdsForAPerson.has(code) ? 'critical' : 'warning'
      const who = incident?.crashed?.name ?? entry.host
      return draft(entry, known, 'incident-held', { code, message: `${who}: recovery on hold: ${message}`, severity })
    }
    case 'fence.attempt': {
      const { phase, method, message, position = 1, of = 1, attempt = 1, attempts = 1 } = entry.data
      if (phase !== 'failed' || attempt < attempts) return null
      const next = position < of ? `method ${position + 1} of ${of} is tried next` : 'no other method is left'
      const says = `Fencing of ${entry.host} by ${method} failed (${message}); ${next}`
      return draft(entry, known, 'fencing-failed', {
        code: method,
        message: says,
      })
    }
    case 'proof.voided':
      // An incident that touched nothing ends in a moment, and that is told.
      if (entry.data.unproven && entry.data.code === 'BEATING' && incident?.revoked === null) return null
      return draft(entry, known, 'proof-voided', {
        code: entry.data.code,
        message: entry.data.unproven
          ? `Attestations and overrides given for ${entry.host} are revoked: ${entry.data.message}`
          : `${entry.host} is not dead any more: ${entry.data.message}`,
        ...(entry.data.unproven && { severity: 'warning' as const }),
      })
    case 'incident.closed': {
      if (incident !== undefined && incident.process !== null) return processOver(entry, known, incident)
      if (incident !== undefined && incident.crashed !== null) return instanceOver(entry, known, incident)
      const { outcome, message, counts } = entry.data
      const counted = tally(counts)
      const ended = counted === '' ? '' : ` (${counted})`
      const watched = entry.data.watched === true ? '. Which of its instances are off is being found out' : ''
      const closed = draft(entry, known, 'incident-closed', {
        code: outcome,
        message: [`${entry.host}: ${message}${ended}${watched}`, ...notBack(incident)].join('\n'),
        severity: closingSeverity(outcome, incident),
      })
      return { ...closed, counts }
    }
    case 'instances.watched': {
      const { to, off, started, message, backAt } = entry.data
      // It is away: what is off was told, and nothing can be started there.
      if (backAt === null) return null
      // Others may have started what people were told is off.
      if (off === 0 && started === 0 && !known.offTold) return null
      const code = off === 0 ? 'ALL_RUN' : to === 'known' ? 'INSTANCES_OFF' : 'INSTANCES_OFF_SO_FAR'
      const start = `Start them: lifeboat incident start ${entry.incident} --reason "why"`
      const lines = off === 0 ? [message] : [message, ...cut(namesOfOff(incident)), start]
      const severity = off === 0 ? 'info' : 'critical'
      return draft(entry, known, 'instances-off', { code, message: lines.join('\n'), severity })
    }
    case 'brake.tripped':
    case 'brake.released': {
      const { scope, message } = entry.data
      const segment = scope.startsWith('segment:') ? scope.slice('segment:'.length) : null
      const topic = entry.kind === 'brake.tripped' ? 'brake-tripped' : 'brake-released'
      return draft(entry, known, topic, { code: scope, message, segment })
    }
    case 'operator.statement':
    case 'operator.override':
    case 'operator.cancelled':
    case 'operator.start':
      return entry.incident === null ? null : acted(entry, known, 'person-acted')
    case 'review.signed-off':
      return acted(entry, known, 'signed-off')
    case 'return.changed': {
      const topic = returnTopic(entry.data)
      if (topic === null) return null
      return draft(entry, known, topic, { code: entry.data.code, message: `${entry.host}: ${entry.data.message}` })
    }
    default:
      return null
  }
}

function acted(entry: Entry, known: Known, topic: 'person-acted' | 'signed-off'): Draft {
  const code = entry.kind.slice(entry.kind.indexOf('.') + 1)
  if (known.heldIn === null)
    return draft(entry, known, topic, { code, message: `${entry.host}: ${sentenceOf(entry).text}` })
  // Of a group people hear as of one thing.
  const { scope, title } = known.heldIn
  const message = `${title}, ${entry.host}: ${sentenceOf(entry).text}`
  return { ...draft(entry, known, topic, { code: scope, message }), host: null, incident: null }
}

function processOver(entry: Extract<Entry, { kind: 'incident.closed' }>, known: Known, { process }: Incident): Draft {
  const { outcome, message } = entry.data
  const severity = outcome === 'left-to-people' ? 'warning' : 'info'
  return draft(entry, known, 'process-over', {
    code: outcome,
    message: `${process} of ${entry.host}: ${message}`,
    severity,
  })
}

function instanceOver(entry: Extract<Entry, { kind: 'incident.closed' }>, known: Known, incident: Incident): Draft {
  const [recovery] = incident.instances.values()
  return draft(entry, known, 'instance-over', {
    code: recovery?.outcome?.code ?? entry.data.outcome,
    message: `${incident.crashed?.name} on ${entry.host}: ${entry.data.message}`,
    severity: closingSeverity(entry.data.outcome, incident),
  })
}

/** The phases with which a recovery may begin; of the others nothing is told, and nothing need be read. */
export function isBeginning({ from, to }: EntryData['incident.phase']): boolean {
  return to === 'isolating' || (from === 'confirming' && to !== 'closed')
}

/**
 * A recovery begins when it goes beyond looking once more: what is opened and held at once is told as waiting. Without a
 * fencing method it is held in the next moment, and begins when the host is proven dead.
 */
function begun(
  entry: Extract<Entry, { kind: 'incident.phase' }>,
  known: Known,
  { verdict, openedBy, segment, mode, held }: Incident,
): Draft | null {
  if (held !== null && entry.data.from === 'confirming') return null
  const why = verdict === null ? `on the word of ${openedBy}` : verdict.message
  const what = mode === 'observe' ? 'would be recovered (nothing is sent: observing)' : 'is being recovered'
  const message = `${entry.host} ${what}: ${why}`
  return draft(entry, known, 'incident-opened', { code: verdict?.reason ?? 'STATED', message, segment })
}

/** A freeze that lasted, and its end. */
export function freezeDraft(entry: Entry, known: Known): Draft | null {
  if (entry.kind === 'monitor.frozen') {
    const message = known.ofRunBefore ? seenBefore(entry) : entry.data.message
    return draft(entry, known, 'control-plane-frozen', { code: entry.data.reason, message })
  }
  if (entry.kind !== 'monitor.thawed') return null
  const message = `Verdicts move again after ${span(entry.data.frozenForMs)}; hosts that are still silent are looked at now`
  return draft(entry, known, 'control-plane-thawed', { code: entry.data.reason, message })
}

function draft(
  { seq, at, host, incident }: Entry,
  known: Known,
  topic: NoticeTopic,
  what: { code: string; message: string; segment?: string | null; severity?: NoticeSeverity },
): Draft {
  return {
    topic,
    audience: 'operator',
    severity: what.severity ?? noticeTopics[topic].severity,
    mode: known.mode,
    cause: seq,
    at,
    code: what.code,
    message: what.message,
    host,
    segment: what.segment ?? known.incident?.segment ?? null,
    incident,
    project: null,
    reference: null,
  }
}

/** Reasons to settle that end only when a person acts on the host. */
const settledByAPerson: ReadonlySet<string> = new Set(['NEEDS_ANOTHER_START', 'FORCED_DOWN_BY_OTHERS'])

function returnTopic({ to, code }: EntryData['return.changed']): NoticeTopic | null {
  if (to === 'waiting-confirmation' || (to === 'settling' && settledByAPerson.has(code))) return 'return-waits'
  if (to === 'kept-out') return 'return-refused'
  return to === 'back' ? 'host-returned' : null
}

function closingSeverity(outcome: string, incident: Incident | undefined): NoticeSeverity {
  const ends = [...(incident?.instances.values() ?? [])].map((one) => one.outcome?.outcome)
  if (ends.includes('failed') || ends.includes('stuck')) return 'critical'
  return outcome === 'cancelled' || ends.includes('left') ? 'warning' : 'info'
}

function notBack(incident: Incident | undefined): string[] {
  const lines = [...(incident?.instances.values() ?? [])].flatMap(({ plan, outcome }) =>
    outcome === null || outcome.outcome === 'recovered'
      ? []
      : [`${outcome.outcome}: ${plan.name} (${plan.instanceId}), ${outcome.code}: ${outcome.message}`],
  )
  return cut(lines)
}

function namesOfOff(incident: Incident | undefined): string[] {
  return incident === undefined
    ? []
    : offAfterReturn(incident).map(
        ({ plan, outcome }) => `off: ${plan.name} (${plan.instanceId}), ${outcome?.code ?? ''}`,
      )
}

function cut(lines: string[]): string[] {
  if (lines.length <= linesAtMost) return lines
  return [...lines.slice(0, linesAtMost), `and ${lines.length - linesAtMost} more`]
}
