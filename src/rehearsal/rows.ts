/**
 * A journal entry as one short row of a scenario's golden: kind, whom it is about, and the facts that decide. Pure.
 *
 * Sentences and digests are left out on purpose: they are asserted where they are made, and a reworded sentence or a comment in
 * a workflow must not change the expectation of a single scenario.
 */
import type { Entry } from '../domain/entry.ts'
import type { Evidence, VerdictKind } from '../domain/verdict.ts'

/** A value that stands in a row: a code, a name or a number. Whatever has a space in it is taken for a sentence. */
const fact = /^[^\s]{1,60}$/

/** Fields that say the same as the row does elsewhere, or change with every run of the build. */
const passedOver = new Set([
  ...['message', 'by', 'globalRequestId', 'workflowDigest', 'failure', 'digest', 'source', 'pid', 'version', 'via'],
  ...[
    'at',
    'number',
    'generatedAt',
    'startedAt',
    'endedAt',
    'tookMs',
    'instanceId',
    'name',
    'updatedAt',
    'watched',
    'incident',
    'id',
    'projectId',
  ],
])

/** What the row of `entry` says behind its kind and whom it is about. Empty where the kind says all. */
export function factsOf(entry: Entry): string {
  switch (entry.kind) {
    case 'verdict.changed': {
      const { from, kind, reason, evidence } = entry.data
      return words(`${from} → ${kind}`, reason, `missed=${evidence.missedBeats.toFixed(1)}`, ...probesOf(evidence))
    }
    case 'incident.opened': {
      const { verdict, segment, mode, openedBy } = entry.data
      const opener = openedBy === 'daemon' ? '' : 'by a person'
      return words(verdict?.reason ?? 'no verdict', segment, mode === 'armed' ? '' : mode, opener)
    }
    case 'process.failed': {
      const { process, verdict, segment, mode } = entry.data
      return words(process, verdict.reason, segment, mode === 'armed' ? '' : mode)
    }
    case 'instance.failed': {
      const { event, segment, mode } = entry.data
      return words(event, segment, mode === 'armed' ? '' : mode)
    }
    case 'silence.noted': {
      const { hosts, others, othersBeat } = entry.data
      const silent = hosts.map(({ host, silentMs }) => `${host}=${(silentMs / 1_000).toFixed(1)}s`)
      return words(...silent, `others=${others.length}`, othersBeat ? 'beating' : '')
    }
    case 'incident.phase':
      return `${entry.data.from} → ${entry.data.to}`
    case 'incident.held':
      return words(entry.data.code, codeOf(entry.data.error))
    case 'incident.closed':
      return words(entry.data.outcome, ...pairs(entry.data.counts))
    case 'fence.attempt': {
      const { method, phase, position, of, attempt, attempts, certainty } = entry.data
      const place = of === undefined || of === 1 ? '' : `method=${position}/${of}`
      const tries = attempts === undefined || attempts === 1 ? '' : `try=${attempt}/${attempts}`
      return words(method, phase, certainty ?? '', place, tries)
    }
    case 'proof.recorded': {
      const { method, strength, proves } = entry.data.proof
      return words(method, strength, proves ?? '')
    }
    case 'service.marked': {
      const { status, forcedDown } = entry.data.before
      return words('found', status, forcedDown ? 'forced-down' : '')
    }
    case 'service.set-aside':
      return words(entry.data.to, entry.data.certainty)
    case 'plan.made': {
      const { decision, reason, recipe, expected, asProject, debts, original } = entry.data
      const leftovers = debts.map(({ code }) => `leaves=${code}`)
      const origin = words(original.flagged ? 'flagged' : '', original.locked ? 'locked' : '')
      return words(
        decision,
        reason,
        recipe ?? '',
        expected ? `→ ${expected}` : '',
        asProject ?? '',
        ...leftovers,
        origin,
      )
    }
    case 'step.intended':
      return words(`${entry.step}`, entry.data.request === null ? 'nothing-to-send' : '', ...pairs(entry.data.request))
    case 'step.issued':
      return words(`${entry.step}`, entry.data.requestId === null ? 'no-request-id' : '')
    case 'step.waiting':
      return words(`${entry.step}`, `for=${(Date.parse(entry.data.until) - Date.parse(entry.at)) / 1_000}s`)
    case 'step.confirmed':
      return words(`${entry.step}`, ...pairs(entry.data.result))
    case 'step.failed':
      return words(`${entry.step}`, codeOf(entry.data.error), entry.data.error.certainty)
    case 'recipe.entered':
      return entry.data.recipe
    case 'outcome.recorded': {
      const { outcome, code, after } = entry.data
      return words(outcome, code, ...pairs(after))
    }
    case 'return.changed':
      return words(`${entry.data.from} → ${entry.data.to}`, entry.data.code)
    case 'notice.queued': {
      const { topic, audience, severity, code, instances, receivers } = entry.data
      const about = (instances ?? []).flatMap(({ name, state, restarts }) => [
        `${name}=${state}`,
        restarts === undefined ? '' : `restarts=${restarts}`,
      ])
      return words(topic, audience, severity, code, `to=${receivers.join()}`, ...about)
    }
    case 'notice.sent':
    case 'notice.failed':
      return words(entry.data.receiver, `try=${entry.data.attempt}`)
    case 'notice.dead-lettered':
      return words(entry.data.receiver, entry.data.code)
    default:
      return words(...pairs(entry.data))
  }
}

/** The first sight of a healthy host: every scenario begins with one per host. */
export function isFirstSight(entry: Entry): boolean {
  const from: VerdictKind = 'unknown'
  return entry.kind === 'verdict.changed' && entry.data.from === from && entry.data.kind === 'healthy'
}

function probesOf({ probes }: Evidence): string[] {
  return probes.map(({ probe, answer }) => `${probe}=${answer}`)
}

function codeOf(error: { code: string } | undefined): string {
  return error?.code ?? ''
}

/** The facts among the fields of `value`, nested ones by their own names. */
function pairs(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]): string[] => {
    if (passedOver.has(key) || inner === null || inner === false || inner === '') return []
    if (inner === true) return [key]
    if (Array.isArray(inner)) {
      const known = inner.filter((item) => typeof item === 'string' && fact.test(item))
      return known.length === 0 ? [] : [`${key}=${known.join()}`]
    }
    if (typeof inner === 'object') return pairs(inner)
    return fact.test(String(inner)) ? [`${key}=${String(inner)}`] : []
  })
}

function words(...parts: string[]): string {
  return parts.filter((part) => part !== '').join(' ')
}
