/** Two incidents side by side, each fact from its entries alone. Pure. */
import { downMs, median } from '../domain/down-time.ts'
import type { Entry, EntryKind } from '../domain/entry.ts'
import {
  comparedParts,
  type ComparedFact,
  type ComparedPart,
  type IncidentComparison,
} from '../domain/incident-comparison.ts'
import { failureOf } from '../domain/incident.ts'
import { outcomes } from '../domain/outcome.ts'
import type { IncidentRecord } from './incident-record.ts'
import { lastBeatAt } from './instance-lines.ts'

/** What tells of the course of an incident, beside its record. Few, however many instances there are. */
export const courseKinds = [
  'incident.opened',
  'process.failed',
  'instance.failed',
  'incident.phase',
  'incident.held',
  'incident.continued',
  'incident.closed',
] as const satisfies readonly EntryKind[]

export interface Compared {
  record: IncidentRecord
  /** Its entries of `courseKinds`, oldest first. */
  course: readonly Entry[]
}

type Fact = Pick<ComparedFact, 'part' | 'fact' | 'unit'> & { value: string | number | null }

export function compareIncidents(first: Compared, second: Compared): IncidentComparison {
  const facts = new Map<string, ComparedFact>()
  for (const [place, of] of [
    ['first', first],
    ['second', second],
  ] as const) {
    for (const { value, ...named } of factsOf(of)) {
      const key = `${named.part} ${named.fact}`
      const known = facts.get(key) ?? { ...named, first: null, second: null }
      facts.set(key, { ...known, [place]: value })
    }
  }
  const parts = Object.keys(comparedParts)
  return {
    first: first.record.id,
    second: second.record.id,
    open: [first, second].filter(({ record }) => record.incident.closed === null).map(({ record }) => record.id),
    facts: [...facts.values()].sort((one, other) => parts.indexOf(one.part) - parts.indexOf(other.part)),
  }
}

function factsOf(of: Compared): Fact[] {
  return [...incidentFacts(of), ...timeFacts(of), ...instanceFacts(of), ...decisionFacts(of), ...troubleFacts(of)]
}

function incidentFacts({ record: { incident } }: Compared): Fact[] {
  const { host, segment, mode, openedAt, openedBy, verdict, proof, closed, phase, workflowDigest } = incident
  const facts = {
    host,
    segment,
    mode,
    failure: failureOf(incident),
    opened: openedAt,
    'opened by': openedBy,
    verdict: verdict?.kind ?? null,
    'proven dead by': proof?.method ?? null,
    end: closed?.outcome ?? `open, ${phase}`,
    workflow: workflowDigest.slice(0, 12) || null,
  }
  return Object.entries(facts).map(([fact, value]) => ({ part: 'incident', fact, unit: 'text', value }))
}

function timeFacts({ record, course }: Compared): Fact[] {
  const { incident } = record
  const { openedAt, proof, closed } = incident
  const lines = [...incident.instances.keys()].flatMap((id) => record.line(id) ?? [])
  const ends = lines.flatMap(({ endedAt }) => endedAt ?? [])
  const back = lines.flatMap(({ outcome, endedAt }) => (outcome === 'recovered' ? (endedAt ?? []) : []))
  const firstBack = back.reduce<string | null>((first, at) => (first === null || at < first ? at : first), null)
  const lastOutcome = ends.reduce<string | null>((last, at) => (last === null || at > last ? at : last), null)
  const known: [fact: string, from: string | null, to: string | null][] = [
    ['last heartbeat to opening', lastBeatAt(incident), openedAt],
    ['opening to proof', openedAt, proof?.provenAt ?? null],
    ['proof to first instance back', proof?.provenAt ?? null, firstBack],
    ['proof to last outcome', proof?.provenAt ?? null, lastOutcome],
    ['opening to end', openedAt, closed?.at ?? null],
  ]
  return [
    ...known.map(([fact, from, to]) =>
      ms(fact, from === null || to === null ? null : Date.parse(to) - Date.parse(from)),
    ),
    ...[...spentIn(course)].map(([fact, spent]) => ms(fact, spent)),
  ]
}

function ms(fact: string, value: number | null): Fact {
  return { part: 'time', fact, unit: 'ms', value }
}

/** Ms in each phase, and held for each reason; of what still lasts nothing. */
function spentIn(course: readonly Entry[]): Map<string, number> {
  const spent = new Map<string, number>()
  const add = (fact: string, from: string, to: string): void =>
    void spent.set(fact, (spent.get(fact) ?? 0) + Date.parse(to) - Date.parse(from))
  let since = course[0]?.at ?? ''
  let held: { code: string; at: string } | null = null
  for (const entry of course) {
    if (entry.kind === 'incident.phase') {
      add(`phase ${entry.data.from}`, since, entry.at)
      since = entry.at
    }
    const endsHold = ['incident.held', 'incident.continued', 'incident.closed'].includes(entry.kind)
    if (endsHold && held !== null) add(`held: ${held.code}`, held.at, entry.at)
    if (entry.kind === 'incident.held') held = { code: entry.data.code, at: entry.at }
    else if (endsHold) held = null
  }
  return spent
}

function instanceFacts({ record }: Compared): Fact[] {
  const lines = [...record.incident.instances.keys()].flatMap((id) => record.line(id) ?? [])
  const down = lines.flatMap((line) => downMs(line) ?? [])
  const counted = [...Object.keys(outcomes), 'open'].map((end): Fact => {
    return count('instances', end, lines.filter(({ outcome }) => outcome === end).length)
  })
  const longest = down.length === 0 ? null : down.reduce((most, one) => Math.max(most, one), 0)
  return [
    count('instances', 'all', lines.length),
    ...counted,
    { part: 'instances', fact: 'median downtime', unit: 'ms', value: median(down) },
    { part: 'instances', fact: 'longest downtime', unit: 'ms', value: longest },
  ]
}

function count(part: ComparedPart, fact: string, value: number): Fact {
  return { part, fact, unit: 'count', value }
}

function decisionFacts({ record }: Compared): Fact[] {
  const counts = new Map<string, number>()
  for (const { plan } of record.incident.instances.values()) {
    const decided = `${plan.decision}: ${plan.reason}`
    counts.set(decided, (counts.get(decided) ?? 0) + 1)
  }
  return [...counts].map(([decided, number]) => count('decisions', decided, number))
}

function troubleFacts({ record }: Compared): Fact[] {
  const { incident, attempts, notes, timeline } = record
  const steps = [...incident.instances.values()].flatMap(({ steps: own }) => [...own.values()])
  const byHand = timeline.filter(({ actor }) => actor.startsWith('operator:')).length
  return [
    count('trouble', 'failed tries to fence', attempts.filter(({ phase }) => phase === 'failed').length),
    count('trouble', 'failed steps of instances', steps.filter(({ status }) => status === 'failed').length),
    count('trouble', 'acts by hand', byHand - notes.length - (record.signOff === null ? 0 : 1)),
  ]
}
