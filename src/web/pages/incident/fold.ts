/**
 * Live progress: what new journal entries change on the page of an incident, without loading it again. Only what an entry says
 * in full is changed here; for everything else the page is loaded again.
 */
import type { Entry } from '../../../domain/entry.ts'
import { runsAgain } from '../../../domain/outcome.ts'
import { isStepKind } from '../../../domain/plan.ts'
import type { IncidentReview, InstanceLine } from '../../../domain/review.ts'
import { withBegun, withEnded } from '../../../domain/stages.ts'

export interface Folded {
  review: IncidentReview
  /** instance: the lines moved on. host: something that only a load can tell. */
  news: 'none' | 'instance' | 'host'
}

export function foldEntries(review: IncidentReview, entries: readonly Entry[]): Folded {
  const changed = new Map<string, InstanceLine>()
  const lines = new Map(review.lines.map((line) => [line.id, line]))
  let news: Folded['news'] = 'none'
  let lastSeq = review.lastSeq
  let { watched, phase } = review
  for (const entry of entries) {
    if (entry.incident !== review.id || entry.seq <= review.lastSeq) continue
    lastSeq = entry.seq
    if (entry.kind === 'instances.watched') {
      const { to, off, message } = entry.data
      watched = { to, off, message, at: entry.at }
    }
    // Lines that move on under the name of a phase that is over contradict it.
    if (entry.kind === 'incident.phase') phase = entry.data.to
    const line = entry.instance === null ? undefined : (changed.get(entry.instance) ?? lines.get(entry.instance))
    const next = line === undefined ? null : lineAfter(line, entry)
    if (next === null) {
      news = 'host'
      continue
    }
    changed.set(next.id, next)
    if (news === 'none') news = 'instance'
  }
  if (news === 'none') return { review, news }
  if (changed.size === 0) return { review: { ...review, watched, phase, lastSeq }, news }
  const all = review.lines.map((line) => changed.get(line.id) ?? line)
  return { review: { ...review, lines: all, outcomes: outcomesOf(all), watched, phase, lastSeq }, news }
}

/** The line as it is after the entry; null when the entry does not say enough. */
function lineAfter(line: InstanceLine, entry: Entry): InstanceLine | null {
  switch (entry.kind) {
    case 'step.intended': {
      const { kind } = entry.data
      if (!isStepKind(kind)) return null
      const current: InstanceLine['current'] = { kind, status: 'intended', since: entry.at, waitsUntil: null }
      const stages = withBegun(line.stages, kind, entry.at)
      return { ...line, startedAt: line.startedAt ?? entry.at, current, stages }
    }
    case 'step.issued':
      return line.current === null
        ? line
        : { ...line, current: { ...line.current, status: 'issued', waitsUntil: null } }
    case 'step.waiting':
      return line.current === null ? line : { ...line, current: { ...line.current, waitsUntil: entry.data.until } }
    case 'step.confirmed':
    case 'step.failed':
      return { ...line, current: null, stages: withEnded(line.stages, entry.at) }
    case 'recipe.entered':
      return line
    case 'outcome.recorded': {
      const { outcome, code, message, after } = entry.data
      return {
        ...line,
        outcome,
        code,
        outcomeMessage: message,
        landedOn: after?.host ?? null,
        endedAs: after?.vmState ?? null,
        endedAt: entry.at,
        upAt: runsAgain(entry.data) ? entry.at : null,
        current: null,
      }
    }
    case 'debt.recorded':
      return { ...line, debts: [...line.debts, { code: entry.data.code, message: entry.data.message }] }
    default:
      return null
  }
}

function outcomesOf(lines: readonly InstanceLine[]): IncidentReview['outcomes'] {
  const counts: IncidentReview['outcomes'] = {}
  for (const { outcome } of lines) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}
