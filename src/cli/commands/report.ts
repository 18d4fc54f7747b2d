/** `lifeboat report`: what a period showed, from the journal, and what holds for the hosts now, from the daemon if one answers. */
import type { Command } from 'commander'
import type { PeriodReport } from '../../domain/period-report.ts'
import type { Readiness } from '../../domain/readiness.ts'
import { prints } from '../described.ts'
import { CliFailure } from '../exit-codes.ts'
import { oneFrame } from '../frame.ts'
import type { Column } from '../output/formats.ts'
import { printable } from '../output/width.ts'
import type { Session } from '../session.ts'
import { moment } from './journal-filter.ts'

const dayMs = 86_400_000
const usualDays = 7

const columns: Column<PeriodReport>[] = [
  { title: 'From', type: 'time', means: 'Where the period begins', value: (it) => it.from },
  { title: 'To', type: 'time', means: 'Where it ends: now', value: (it) => it.to },
  {
    title: 'Modes',
    type: 'list of strings',
    means: '`observe`, `armed`, or both, in that order',
    value: (it) => it.modes,
  },
  {
    title: 'Verdicts',
    type: 'list of objects',
    means:
      'Hosts found dead: `host`, `segment`, `at`, `reason`, `message`, `incident`, `backAt`, `false` (`healed-without-incident`, `life-after-proof`, or null)',
    value: (it) => it.verdicts,
  },
  {
    title: 'Suspicions',
    type: 'integer',
    means: 'How often a host was silent for long enough to be watched closely',
    value: (it) => it.suspicions,
  },
  {
    title: 'Incidents',
    type: 'list of objects',
    means:
      'Those that opened: `id`, `host`, `failure`, `mode`, `openedAt`, `provenAt`, `lastOutcomeAt`, `closedAt`, `outcome`, `outcomes`, `decisions`, and the rest',
    value: (it) => it.incidents,
  },
  {
    title: 'Now',
    type: 'object?',
    means:
      'The hosts now: `at`, `sentences`, `hosts`, `unplanned` (not read yet), `unfenced`, `left` (instances by reason); null: no daemon answered',
    value: (it) => it.now,
  },
]

export function addReportCommand(program: Command, session: Session): void {
  const report = program
    .command('report')
    .description(
      'report on a period, such as a week of observing: verdicts, which of them were false, incidents, and what is missing now',
    )
    .option(
      '--since <time>',
      'begin at this time: 2026-01-02T03:04:05Z, or 2h for two hours ago (default: 7d)',
      moment(session),
    )
    .option(
      '--brief',
      'print a few sentences, for chat or mail: how many of each, and why instances would be left',
      false,
    )
    .action(async ({ since, brief }: { since?: string; brief: boolean }) => {
      const now = session.commands.clock.wall()
      const from = since ?? new Date(now - usualDays * dayMs).toISOString()
      const to = new Date(now).toISOString()
      if (from > to) throw new CliFailure('usage', `--since (${from}) is in the future`)
      const shape = session.shape()
      const forPeople = shape.format === 'table' && shape.columns.length === 0
      if (brief && !forPeople) throw new CliFailure('usage', '--brief is for people: leave it out, or -f and -c')
      const readiness = await knownNow(session)
      const frame = session.withJournal((journal) => {
        const found = journal.period({ from, to }, readiness)
        const page = (): string => (brief ? printable(journal.briefText(found), true) : journal.periodText(found))
        return oneFrame(found, columns, shape, forPeople ? page : undefined)
      })
      session.terminal.stdout(frame.page(shape.maxWidth))
    })
  prints(report, 'one', columns)
}

/** Null: no daemon answers, which is said; the journal is enough for the rest. */
async function knownNow(session: Session): Promise<Readiness | null> {
  try {
    return await session.daemon().readiness()
  } catch (thrown) {
    if (!(thrown instanceof CliFailure) || thrown.exit !== 'daemonDown') throw thrown
    session.terminal.stderr(`lifeboat: ${printable(thrown.message)}; the report does not say how the hosts are now\n`)
    return null
  }
}
