/**
 * The Markdown report of one incident: what an operator reviews the next morning. Owns the order of its parts and what each
 * says; everything in it comes from the entries, nothing from a live cloud, so the same journal always gives the same report.
 */
import type { Entry, IncidentId } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import { failureOf, foldIncidents, type Incident } from '../domain/incident.ts'
import { incidentPhases } from '../domain/incident-phases.ts'
import { verdictKinds } from '../domain/verdict.ts'
import { instancesPart } from './report-instances.ts'
import { bullets, oneLine, table, time } from './markdown.ts'
import { proofLines } from './proof-lines.ts'
import { lineOf } from '../domain/text/entry-sentence.ts'
import { between, later, span } from '../domain/text/span.ts'

/** The report. `entries` are all entries of the incident, oldest first. Throws NOT_FOUND when they do not open it. */
export function incidentReport(id: IncidentId, entries: Entry[]): string {
  return [...incidentReportParts(id, entries)].join('')
}

/** The same piece by piece, each made when it is asked for: of thousands of instances the whole takes a good part of a second. */
export function* incidentReportParts(id: IncidentId, entries: Entry[]): Generator<string> {
  const incident = foldIncidents(entries).get(id)
  if (incident === undefined) throw new LifeboatError('NOT_FOUND', `The journal has no incident ${id}`)
  const parts = [
    () => evidencePart(incident),
    () => fencingPart(incident, entries),
    () => holdsPart(entries),
    () => instancesPart(incident),
    () => leftoversPart(incident),
    () => timelinePart(entries),
    () => recordPart(entries),
  ]
  yield summaryPart(incident, entries)
  for (const part of parts) {
    const text = part()
    if (text !== '') yield `\n\n${text}`
  }
  yield '\n'
}

function summaryPart(incident: Incident, entries: Entry[]): string {
  const last = entries.at(-1)
  const end = incident.closed === null ? null : incident.closed.at
  const rows = [
    ['Host', incident.host],
    ...(incident.process === null ? [] : [['Process', incident.process]]),
    ...(incident.crashed === null ? [] : [['Instance', `${incident.crashed.name} crashed: ${incident.crashed.event}`]]),
    ['Segment', incident.segment],
    ['Opened', `${time(incident.openedAt)} by ${incident.openedBy}`],
    ['Mode', incident.mode === 'armed' ? 'armed' : 'observe: everything was decided and recorded, nothing was sent'],
    [
      'Ended',
      end === null
        ? `still open, ${incident.phase}: ${incidentPhases[incident.phase].means}`
        : `${time(end)}, ${incident.closed?.outcome}`,
    ],
    ['Took', between(incident.openedAt, end ?? last?.at ?? incident.openedAt)],
    ['Instances', incident.process === null ? countLine(incident) : 'left alone: the host lives'],
    ...(failureOf(incident) === 'host' ? [['Workflow', `\`${incident.workflowDigest}\``]] : []),
  ]
  if (incident.closed !== null) rows.push(['Summary', incident.closed.message])
  if (incident.held !== null)
    rows.push(['Held', `since ${time(incident.held.since)}: ${incident.held.code}, ${incident.held.message}`])
  if (incident.cancelled !== null) rows.push(['Cancelled', `by ${incident.cancelled.by}: ${incident.cancelled.reason}`])
  const what = {
    host: 'host',
    process: `${oneLine(incident.process ?? '')} of`,
    instance: `instance ${oneLine(incident.crashed?.name ?? '')} on`,
  }[failureOf(incident)]
  return `# Incident ${oneLine(incident.id)}: ${what} ${oneLine(incident.host)}\n\n${table(['', ''], rows)}`
}

function countLine(incident: Incident): string {
  const counts = new Map<string, number>()
  for (const recovery of incident.instances.values()) {
    const end = recovery.outcome?.outcome ?? 'no outcome yet'
    counts.set(end, (counts.get(end) ?? 0) + 1)
  }
  const parts = [...counts].map(([end, count]) => `${count} ${end}`)
  return parts.length === 0 ? 'none were planned' : `${incident.instances.size} (${parts.join(', ')})`
}

function evidencePart(incident: Incident): string {
  const { verdict, crashed } = incident
  if (crashed !== null)
    return `## How we know\n\n${oneLine(incident.openedBy)} reported that its guest crashed (${oneLine(crashed.event)}). The plan below says what Nova and the hypervisor showed then.`
  const title = incident.process === null ? 'How we know that it died' : 'How we know'
  if (verdict === null)
    return `## How we know that it died\n\nNo verdict: ${oneLine(incident.openedBy)} opened this incident.`
  const { evidence } = verdict
  const facts = [
    `Verdict **${verdict.kind}** (${verdict.reason}) at ${time(verdict.at)}: ${oneLine(verdict.message)}.`,
    `That means: ${verdictKinds[verdict.kind]}.`,
    `Nova said: ${evidence.status}, ${evidence.state ?? 'no state'}, ${evidence.forcedDown ? 'forced down' : 'not forced down'}; last heartbeat ${evidence.updatedAt ?? 'unknown'} (cloud time).`,
    `Silent for ${span(evidence.silentMs)} by our own clock: ${evidence.missedBeats.toFixed(1)} heartbeats of ${span(evidence.intervalMs)} were missed.`,
    ...(evidence.suspicion === undefined ? [] : [suspicionLine(evidence.suspicion)]),
  ]
  const probes = evidence.probes.map((reading) => [
    reading.probe,
    reading.kind,
    reading.answer,
    time(reading.at),
    reading.detail,
  ])
  const probePart =
    probes.length === 0 ? 'No probe was configured.' : table(['Probe', 'Kind', 'Answer', 'At', 'Reading'], probes)
  return `## ${title}\n\n${bullets(facts)}\n\n${probePart}`
}

/** The number in words: 4 is one silence in ten thousand. */
function suspicionLine(suspicion: number): string {
  const silences = Math.round(10 ** Math.min(suspicion, 12)).toLocaleString('en-US')
  return `Suspicion ${suspicion.toFixed(1)}: judged by its earlier heartbeats, about one in ${silences} of its silences would last this long if it lived.`
}

function fencingPart(incident: Incident, entries: Entry[]): string {
  // Its host lives: nothing is fenced.
  if (failureOf(incident) !== 'host') return ''
  const attempts = entries.flatMap((entry) =>
    entry.kind === 'fence.attempt' ? [[time(entry.at), entry.data.method, entry.data.phase, entry.data.message]] : [],
  )
  const lines = proofLines(incident)
  const { ourFlags } = incident
  if (ourFlags !== null) {
    const { forcedDown, status, disabledReason } = ourFlags.before
    const reason = disabledReason === null ? '' : ` (${oneLine(disabledReason)})`
    lines.push(
      `Its service was found ${status}${reason}, ${forcedDown ? 'forced down' : 'not forced down'}; Lifeboat disabled it with: ${oneLine(ourFlags.reason)}.`,
    )
  }
  const tried = attempts.length === 0 ? '' : `\n\n${table(['At', 'Method', 'Phase', 'Message'], attempts)}`
  return `## Fencing\n\n${bullets(lines)}${tried}`
}

function holdsPart(entries: Entry[]): string {
  const rows: string[][] = []
  let open: Extract<Entry, { kind: 'incident.held' }> | null = null
  const end = (at: string, because: string): void => {
    if (open !== null) rows.push([time(open.at), between(open.at, at), open.data.code, open.data.message, because])
    open = null
  }
  for (const entry of entries) {
    if (entry.kind === 'incident.held') {
      end(entry.at, 'held for another reason')
      open = entry
    } else if (entry.kind === 'incident.continued') end(entry.at, entry.data.because)
    else if (entry.kind === 'incident.closed') end(entry.at, 'the incident was closed')
  }
  const last = entries.at(-1)
  if (last !== undefined) end(last.at, 'still held')
  if (rows.length === 0) return ''
  return `## Held\n\n${table(['From', 'For', 'Code', 'Why', 'Went on because'], rows)}`
}

function leftoversPart(incident: Incident): string {
  const rows: string[][] = []
  for (const [id, recovery] of incident.instances) {
    for (const { code, message } of recovery.leftovers) rows.push([recovery.plan.name, id, code, message])
  }
  if (rows.length === 0) return ''
  return `## Leftovers: what a person must clean up\n\n${table(['Instance', 'Id', 'Code', 'What'], rows)}`
}

function timelinePart(entries: Entry[]): string {
  const first = entries[0]?.at ?? ''
  const rows = entries.map((entry) => [
    time(entry.at),
    later(first, entry.at),
    entry.actor,
    lineOf(entry),
    String(entry.seq),
  ])
  return `## Timeline\n\n${table(['At', 'After', 'Who', 'What', 'Entry'], rows)}`
}

function recordPart(entries: Entry[]): string {
  const first = entries[0]
  const last = entries.at(-1)
  return `## Record\n\nMade from ${entries.length} journal entries, ${first?.seq} to ${last?.seq}; the hash of the last one is \`${last?.hash}\`. \`lifeboat journal verify\` proves that none was changed.`
}
