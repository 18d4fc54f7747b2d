/** Incidents, read from the journal itself: they can be reviewed while the daemon is down. */
import { InvalidArgumentError, type Command } from 'commander'
import type { IncidentDetail, IncidentFilter, IncidentSummary } from '../../domain/operations.ts'
import { incidentPage } from '../incident-page.ts'
import { jsonText, yamlText, type Column } from '../output/formats.ts'
import type { Session } from '../session.ts'
import { clockTime, tally } from '../wording.ts'
import { addIncidentActs } from './acts.ts'

const summaryColumns: Column<IncidentSummary>[] = [
  { title: 'ID', value: (it) => it.id },
  { title: 'Host', value: (it) => it.host },
  { title: 'Segment', value: (it) => it.segment },
  { title: 'Mode', value: (it) => it.mode },
  { title: 'Opened', value: (it) => it.openedAt, text: (it) => clockTime(it.openedAt) },
  // People see how far fencing has come; machines read the state.
  {
    title: 'State',
    value: stateOf,
    text: (it) => [stateOf(it), it.fencing].filter((part) => part !== null).join(': '),
  },
  { title: 'Instances', value: (it) => it.instances },
  {
    title: 'Outcomes',
    value: (it) => it.outcomes,
    text: (it) => (it.mode === 'observe' ? 'observed, nothing sent' : tally(it.outcomes)),
  },
]

const detailColumns: Column<IncidentDetail>[] = [
  ...(summaryColumns as Column<IncidentDetail>[]),
  { title: 'Opened By', value: (it) => it.openedBy },
  { title: 'Verdict', value: (it) => it.verdict },
  { title: 'Proof', value: (it) => it.proof },
  { title: 'Statement', value: (it) => it.statement },
  { title: 'Override', value: (it) => it.override },
  { title: 'Cancelled', value: (it) => it.cancelled },
  { title: 'Held', value: (it) => it.held },
  { title: 'Ended', value: (it) => it.ended },
  { title: 'Fencing', value: (it) => it.fencing },
  { title: 'Fence Attempts', value: (it) => it.fenceAttempts },
  { title: 'Instance List', value: (it) => it.instanceList },
]

export function addIncidentCommands(program: Command, session: Session): void {
  const incident = program.command('incident').description('incidents: one failure episode of one host each')
  incident
    .command('list')
    .description('the newest first, from the journal')
    .option('--open', 'only those that are not over')
    .option('--host <host>', 'only of this host')
    .option('--limit <number>', 'at most so many', limit, 100)
    .action((filter: IncidentFilter) =>
      session.list(
        session.withJournal((journal) => journal.incidents(filter)),
        summaryColumns,
      ),
    )
  incident
    .command('show')
    .description('what died, how we know, how it was fenced, and every instance with its end')
    .argument('<incident>')
    .action((id: string) => {
      const detail = session.withJournal((journal) => journal.incident(id))
      const { format, columns } = session.shape()
      if (columns.length > 0 || format === 'csv' || format === 'value') session.one(detail, detailColumns)
      else if (format === 'json') session.terminal.stdout(jsonText(detail))
      else if (format === 'yaml') session.terminal.stdout(yamlText(detail))
      else session.terminal.stdout(incidentPage(detail))
    })
  addIncidentActs(incident, session)
}

function stateOf({ ended, held, phase }: IncidentSummary): string {
  if (ended !== null) return ended.outcome
  return held === null ? phase : `held: ${held.code}`
}

function limit(text: string): number {
  if (!/^\d{1,6}$/.test(text) || Number(text) < 1) throw new InvalidArgumentError('It must be a whole number from 1.')
  return Number(text)
}
