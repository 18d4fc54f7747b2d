/** The journal itself: reading it, proving that it is whole, handing it on. Works while the daemon runs and while it is down. */
import { InvalidArgumentError, type Command } from 'commander'
import type { Entry } from '../../domain/entry.ts'
import type { EntryFilter } from '../../domain/journal.ts'
import { CliFailure } from '../exit-codes.ts'
import type { Column } from '../output/formats.ts'
import type { Session } from '../session.ts'
import { clockTime } from '../wording.ts'

type ReadEntry = Entry & { sentence: string | null }

const entryColumns: Column<ReadEntry>[] = [
  { title: 'Seq', value: (it) => it.seq },
  { title: 'Time', value: (it) => it.at, text: (it) => clockTime(it.at) },
  { title: 'Actor', value: (it) => it.actor },
  { title: 'Host', value: (it) => it.host },
  { title: 'Incident', value: (it) => it.incident },
  { title: 'Instance', value: (it) => it.instance },
  { title: 'Kind', value: (it) => it.kind },
  { title: 'Message', value: (it) => it.sentence ?? it.kind },
]

interface Verified {
  entries: number
  head: string
  broken: { seq: number; problem: string } | null
}

const verifyColumns: Column<Verified>[] = [
  { title: 'Result', value: (it) => (it.broken === null ? 'whole' : 'broken') },
  { title: 'Entries', value: (it) => it.entries },
  { title: 'Head', value: (it) => it.head },
  { title: 'Broken At', value: (it) => it.broken?.seq ?? null },
  { title: 'Problem', value: (it) => it.broken?.problem ?? null },
]

interface ListOptions {
  incident?: string
  host?: string
  instance?: string
  after?: number
  limit: number
}

export function addJournalCommands(program: Command, session: Session): void {
  const journal = program.command('journal').description('the record of everything that was decided and done')
  journal
    .command('list')
    .description('entries, the newest last')
    .option('--incident <incident>', 'only of this incident')
    .option('--host <host>', 'only of this host')
    .option('--instance <instance>', 'only of this instance')
    .option('--after <seq>', 'only those after this number', wholeNumber)
    .option('--limit <number>', 'at most so many: the newest, or with --after the first', wholeNumber, 50)
    .action((options: ListOptions) => {
      const newestFirst = options.after === undefined
      const filter: EntryFilter = { ...options, newestFirst }
      const entries = session.withJournal((open) =>
        open.read(filter).map((entry): ReadEntry => ({ ...entry, sentence: open.sentence(entry) })),
      )
      session.list(newestFirst ? entries.toReversed() : entries, entryColumns)
    })
  journal
    .command('verify')
    .description(
      'prove that no entry was changed, put in or taken out; cut-off newest ones show against a head kept elsewhere',
    )
    .action(() => {
      const verified = session.withJournal((open) => open.verify())
      session.one(verified, verifyColumns)
      if (verified.broken !== null) session.endsAs('failed')
    })
  journal
    .command('export')
    .description(
      'the whole journal or one incident: --format json (one entry a line, with hashes) or markdown (a report)',
    )
    .argument('[incident]')
    .action((incident?: string) => {
      const format = session.namedFormat() ?? 'json'
      if (format !== 'json' && format !== 'markdown')
        throw new CliFailure('usage', `the journal cannot be exported as "${format}"`, ['formats: json, markdown'])
      session.withJournal((open) => {
        for (const piece of open.export(format, incident ?? null)) session.terminal.stdout(piece)
      })
    })
}

function wholeNumber(text: string): number {
  if (!/^\d{1,12}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}
