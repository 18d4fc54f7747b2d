/**
 * The post-mortem of one incident: a page for those who were not there and must answer for it. Everything in it comes from the
 * entries, so the same journal always gives the same page. Each step is in the report (report.ts).
 */
import type { Entry, IncidentId } from '../domain/entry.ts'
import { downMs, median } from '../domain/down-time.ts'
import { LifeboatError } from '../domain/errors.ts'
import { failureOf } from '../domain/incident.ts'
import type { OutcomeKind } from '../domain/outcome.ts'
import { linkTo } from '../domain/page-link.ts'
import { applyToReturns, incidentOf, type ReturnRecord } from '../domain/return-record.ts'
import type { InstanceLine } from '../domain/review.ts'
import { counted } from '../domain/text/counted.ts'
import { sentenceOf } from '../domain/text/entry-sentence.ts'
import { between, later, span } from '../domain/text/span.ts'
import { adviceFor, type FenceRetry } from './advice.ts'
import { headline } from './headline.ts'
import { returnDetail } from './host-views.ts'
import { IncidentRecord } from './incident-record.ts'
import { lastBeatAt } from './instance-lines.ts'
import { bullets, oneLine, table, time } from './markdown.ts'
import { proofLines } from './proof-lines.ts'
import { readable, storyOf } from './story.ts'

export interface PostMortemSetting {
  /** When fencing is tried again, for what is left to do. */
  retry: FenceRetry
  /** Where people find the pages; null: none is linked. */
  pages: string | null
}

/** Projects in the table, and names of instances in a row. More are counted. */
const mostProjects = 20
const mostNames = 8

/** The page. `entries` are all entries of the incident, oldest first. Throws NOT_FOUND when they do not open it. */
export function postMortem(id: IncidentId, entries: readonly Entry[], { retry, pages }: PostMortemSetting): string {
  const record = new IncidentRecord(id)
  for (const entry of entries) record.take(entry)
  if (!record.begun) throw new LifeboatError('NOT_FOUND', `The journal has no incident ${id}`)
  const lines = [...record.incident.instances.keys()].flatMap((instance) => record.line(instance) ?? [])
  const names = new Map(lines.map((line) => [line.id, line.name]))
  const parts = [
    summaryPart(record, pages, names),
    storyPart(record, entries, names),
    impactPart(record, lines),
    lostPart(record, lines, names),
    todoPart(record, entries, retry, names),
    byHandPart(entries, names),
    proofPart(record),
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function summaryPart({ incident }: IncidentRecord, pages: string | null, names: ReadonlyMap<string, string>): string {
  const { id, host, segment, openedAt, closed, process, crashed } = incident
  const what = crashed !== null ? `${crashed.name} crashed on ${host}` : `${process ?? host} failed`
  const where = process === null ? '' : ` on ${host}`
  const took =
    closed === null
      ? `from ${time(openedAt)}, still open`
      : `${time(openedAt)} to ${time(closed.at)} (${between(openedAt, closed.at)})`
  const page = linkTo(pages, { incident: id, host })
  const named = page === null ? oneLine(id) : `[${oneLine(id)}](${page})`
  return `# Post-mortem: ${oneLine(what + where)}, ${openedAt.slice(0, 10)}\n\nSegment ${oneLine(segment)}, ${took}. Incident ${named}.\n\n${oneLine(readable(headline(incident), names))}`
}

function storyPart(
  { incident }: IncidentRecord,
  entries: readonly Entry[],
  names: ReadonlyMap<string, string>,
): string {
  const beat = failureOf(incident) === 'host' ? lastBeatAt(incident) : null
  const told = storyOf(entries, names)
  const began = beat ?? incident.openedAt
  if (beat !== null) told.unshift({ at: beat, until: beat, text: `Last heartbeat of ${incident.host}` })
  const ofOneDay = told.every(({ at, until }) => at.slice(0, 10) === until.slice(0, 10) && isSameDay(at, began))
  const clock = (at: string): string => (ofOneDay ? at.slice(11, 19) : time(at).slice(0, 19))
  const rows = told.map(({ at, until, text }) => [
    clock(at) === clock(until) ? clock(at) : `${clock(at)} to ${clock(until)}`,
    later(began, at),
    text,
  ])
  return `## Timeline (UTC)\n\n${table(['At', 'After', 'What'], rows)}`
}

function isSameDay(one: string, other: string): boolean {
  return one.slice(0, 10) === other.slice(0, 10)
}

function impactPart({ incident }: IncidentRecord, lines: readonly InstanceLine[]): string {
  const title = '## Impact by project'
  if (incident.process !== null) return `${title}\n\nNone: the host lives, and its instances were left alone.`
  if (incident.watched !== null && lines.length === 0) return `${title}\n\n${oneLine(incident.watched.message)}.`
  if (lines.length === 0) return `${title}\n\nLifeboat listed no instance of this host.`
  const ofProjects = grouped(lines, ({ projectId }) => projectId).sort(
    ([, one], [, other]) => notBack(other) - notBack(one) || other.length - one.length,
  )
  const rows = ofProjects.slice(0, mostProjects).map(([project, own]) => impactRow(project, own, incident.mode))
  const rest = ofProjects.slice(mostProjects)
  if (rest.length > 0) {
    const others = counted(rest.length, 'more project')
    rows.push(
      impactRow(
        others,
        rest.flatMap(([, own]) => own),
        incident.mode,
      ),
    )
  }
  if (ofProjects.length > 1) rows.push(impactRow('**All**', lines, incident.mode))
  const head =
    incident.mode === 'observe'
      ? ['Project', 'Instances', 'Would have been recovered']
      : ['Project', 'Instances', 'Back', 'Median downtime', 'Longest downtime']
  const counts =
    incident.crashed === null
      ? 'Downtime counts from the last heartbeat of the host until Nova showed the instance running.'
      : 'Downtime counts from the report of the crash until Nova showed the instance running.'
  return `${title}\n\n${table(head, rows)}${incident.mode === 'observe' ? '' : `\n\n${counts}`}`
}

function grouped(
  lines: readonly InstanceLine[],
  by: (line: InstanceLine) => string,
): [string, readonly InstanceLine[]][] {
  const groups = new Map<string, InstanceLine[]>()
  for (const line of lines) {
    const group = groups.get(by(line))
    if (group === undefined) groups.set(by(line), [line])
    else group.push(line)
  }
  return [...groups]
}

function notBack(lines: readonly InstanceLine[]): number {
  return lines.filter(({ outcome }) => outcome !== 'recovered').length
}

function impactRow(project: string, lines: readonly InstanceLine[], mode: 'observe' | 'armed'): string[] {
  const instances = String(lines.length)
  if (mode === 'observe')
    return [project, instances, String(lines.filter(({ decision }) => decision === 'recover').length)]
  const down = lines.flatMap((line) => downMs(line) ?? [])
  const back = lines.length - notBack(lines)
  const middle = median(down)
  return [
    project,
    instances,
    String(back),
    middle === null ? '–' : span(middle),
    middle === null ? '–' : span(Math.max(...down)),
  ]
}

/** The most urgent first. */
const ends: readonly (OutcomeKind | 'open')[] = ['stuck', 'failed', 'open', 'left']

function lostPart(
  { incident }: IncidentRecord,
  lines: readonly InstanceLine[],
  names: ReadonlyMap<string, string>,
): string {
  const observed = incident.mode === 'observe'
  const lost = observed
    ? lines.filter(({ decision }) => decision !== 'recover')
    : lines.filter(({ outcome }) => outcome !== 'recovered')
  if (lost.length === 0) return ''
  const groups = grouped(lost, (line) => `${line.outcome} ${line.code ?? line.reason}`).sort(
    ([, [one]], [, [other]]) => ends.indexOf(one?.outcome ?? 'open') - ends.indexOf(other?.outcome ?? 'open'),
  )
  const rows = groups.map(([, group]) => {
    const [first] = group
    const named = group.slice(0, mostNames).map(({ name }) => name)
    const more = group.length > mostNames ? ` and ${group.length - mostNames} more` : ''
    const end = observed ? `would be ${first?.decision === 'hold' ? 'held for a person' : 'left'}` : first?.outcome
    return [`${named.join(', ')}${more}`, end ?? '', readable(first?.outcomeMessage ?? first?.message ?? '', names)]
  })
  const title = observed ? 'What would not have come back' : 'What is not back, and why'
  return `## ${title}\n\n${table(['Instances', 'Outcome', 'Why'], rows)}`
}

function todoPart(
  { incident, signOff }: IncidentRecord,
  entries: readonly Entry[],
  retry: FenceRetry,
  names: ReadonlyMap<string, string>,
): string {
  const returns = new Map<string, ReturnRecord>()
  for (const entry of entries) applyToReturns(returns, entry)
  const known = returns.get(incident.host)
  const hostReturn = known !== undefined && incidentOf(known) === incident.id ? returnDetail(known) : null
  const advice = adviceFor(incident, hostReturn, signOff !== null, retry)
  const text = advice.length === 0 ? 'Nothing.' : bullets(advice.map((one) => oneLine(readable(one.text, names))))
  return `## What is left to do\n\n${text}`
}

function byHandPart(entries: readonly Entry[], names: ReadonlyMap<string, string>): string {
  const acts = entries.filter(({ actor }) => actor.startsWith('operator:'))
  if (acts.length === 0) return '## Done by hand\n\nNothing.'
  const lines = acts.map((entry) => `${time(entry.at)}: ${oneLine(readable(sentenceOf(entry).text, names))}`)
  return `## Done by hand\n\n${bullets(lines)}`
}

function proofPart({ incident }: IncidentRecord): string {
  // Its host lives: nothing is fenced.
  if (failureOf(incident) !== 'host') return ''
  return `## How it was proven dead\n\n${bullets(proofLines(incident))}`
}
