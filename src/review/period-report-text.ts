/** The report of a period for people: what someone who has observed for a week shows to others, in Markdown or in a few sentences. */
import { incidentEnds } from '../domain/entry.ts'
import { falseSigns, type PeriodHosts, type PeriodIncident, type PeriodReport } from '../domain/period-report.ts'
import { counted } from '../domain/text/counted.ts'
import { between } from '../domain/text/span.ts'
import { bullets, oneLine, table, time } from './markdown.ts'

export function periodText(report: PeriodReport): string {
  const { from, to, verdicts, incidents, now } = report
  const parts = [
    `# Lifeboat from ${time(from)} to ${time(to)}\n\n${bullets(headlines(report))}`,
    verdicts.length === 0 ? '' : verdictsPart(report),
    incidents.length === 0 ? '' : `## Incidents\n\n${incidentTable(incidents)}`,
    now === null ? '' : unfencedPart(now),
    now === null ? '' : leftPart(now),
    now === null ? '' : `## Now\n\n${bullets(now.sentences.map(oneLine))}`,
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

/** The same in plain sentences, a line each and unescaped: what is told first, and why instances would not come back. */
export function briefText(report: PeriodReport): string {
  const { from, to, now } = report
  const reasons = (now?.left ?? []).map(
    ({ instances, decision, reason, message }) =>
      `${counted(instances, 'instance')} would be ${wouldBe[decision]}: ${message} (${reason})`,
  )
  const lines = [`Lifeboat from ${time(from)} to ${time(to)}`, ...headlines(report), ...reasons]
  return lines.map((line) => `${line.replace(/\s+/g, ' ')}\n`).join('')
}

function headlines({ verdicts, suspicions, modes, incidents, now }: PeriodReport): string[] {
  const wrong = verdicts.filter((verdict) => verdict.false !== null).length
  const concluded =
    verdicts.length === 0
      ? 'No host was found dead'
      : `${counted(verdicts.length, 'verdict')} that a host is dead, ${wrong === 0 ? 'none of them' : wrong} false`
  const mode = modes.length === 0 ? 'unknown' : modes.join(', then ')
  const lines = [
    `${concluded}; ${counted(suspicions, 'suspicion')}.`,
    `${counted(incidents.length, 'incident')}. Mode: ${mode}.`,
  ]
  if (now === null) lines.push('What holds for the hosts now is not in this report: no daemon answered.')
  else {
    const left = now.left.reduce((sum, { instances }) => sum + instances, 0)
    const unknown = now.unplanned === 0 ? '' : `; ${counted(now.unplanned, 'host')} not read yet`
    lines.push(
      `${now.unfenced.length} of ${counted(now.hosts, 'host')} cannot be fenced; ${counted(left, 'instance')} would be left${unknown}.`,
    )
  }
  return lines
}

function verdictsPart({ verdicts }: PeriodReport): string {
  const rows = verdicts.map(({ at, host, segment, message, incident, backAt, false: sign }) => [
    time(at),
    host,
    segment,
    message,
    incident ?? 'none',
    backAt === null ? 'not yet' : between(at, backAt),
    sign === null ? 'no' : `**${falseSigns[sign].toLowerCase()}**`,
  ])
  const head = ['At', 'Host', 'Segment', 'Why', 'Incident', 'Beat again after', 'False']
  return `## Hosts found dead\n\n${table(head, rows)}\n\nEach of these hosts must have been dead: ask those who were there.`
}

function incidentTable(incidents: readonly PeriodIncident[]): string {
  const rows = incidents.map((incident) => {
    const { openedAt, host, failure, provenAt, lastOutcomeAt, closedAt } = incident
    return [
      time(openedAt),
      host,
      failure,
      provenAt === null ? '' : between(openedAt, provenAt),
      lastOutcomeAt === null ? '' : between(openedAt, lastOutcomeAt),
      closedAt === null ? `open${incident.held === null ? '' : `: ${incident.held}`}` : endOf(incident),
      instancesOf(incident),
    ]
  })
  const head = ['Opened', 'Host', 'Of', 'Proven after', 'Last outcome after', 'End', 'Instances']
  return table(head, rows)
}

function endOf({ outcome }: PeriodIncident): string {
  return outcome === null ? '' : incidentEnds[outcome]
}

const wouldBe = { recover: 'would be recovered', leave: 'left', hold: 'held for a person' } as const

function instancesOf({ mode, outcomes, decisions }: PeriodIncident): string {
  const counts: [string, number | undefined][] =
    mode === 'armed'
      ? Object.entries(outcomes)
      : (['recover', 'leave', 'hold'] as const).map((decision) => [wouldBe[decision], decisions[decision]])
  return counts
    .filter(([, count]) => (count ?? 0) > 0)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ')
}

function unfencedPart({ unfenced }: PeriodHosts): string {
  if (unfenced.length === 0) return ''
  const rows = unfenced.map(({ host, segment, message }) => [host, segment, message])
  return `## Hosts that cannot be fenced\n\n${table(['Host', 'Segment', 'Why'], rows)}`
}

function leftPart({ left }: PeriodHosts): string {
  if (left.length === 0) return ''
  const rows = left.map(({ decision, reason, message, instances, hosts, names }) => [
    String(instances),
    String(hosts),
    decision === 'hold' ? 'held for a person' : 'left',
    reason,
    message,
    names.join(', '),
  ])
  return `## Instances that would not come back\n\n${table(['Instances', 'On hosts', 'Would be', 'Reason', 'Why', 'For example'], rows)}`
}
