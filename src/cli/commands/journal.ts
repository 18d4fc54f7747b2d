/** The journal itself: reading it, proving that it is whole, handing it on. Works while the daemon runs and while it is down. */
import { Option, type Command } from 'commander'
import type { Entry } from '../../domain/entry.ts'
import { instanceInJournal } from '../../domain/instance-meant.ts'
import type { EntryFilter, VerifiedChain } from '../../domain/journal.ts'
import { reportFormats, type ReportFormat } from '../../domain/review.ts'
import { toneOf } from '../../domain/text/entry-tone.ts'
import type { JournalAccess } from '../../review/journal-access.ts'
import { prints } from '../described.ts'
import { CliFailure } from '../exit-codes.ts'
import { jsonText, record, renderList, type Column } from '../output/formats.ts'
import { printable } from '../output/width.ts'
import { toned } from '../output/words.ts'
import { InterruptibleWait } from '../interruptible-wait.ts'
import type { Session } from '../session.ts'
import { passing } from '../watch.ts'
import { clockTime } from '../wording.ts'
import { kind, moment } from './journal-filter.ts'
import { addSharedJournalCommands } from './shared-journal.ts'
import { wholeNumber } from './whole-number.ts'

function isReportFormat(format: string): format is ReportFormat {
  return format in reportFormats
}

type ReadEntry = Entry & { sentence: string | null }

/** Beyond any journal. */
const mostEntries = 999_999_999_999

/** People wait for the next line; the journal is a file that is cheap to look at. */
const followEveryMs = 1000

const entryColumns: Column<ReadEntry>[] = [
  { title: 'Seq', type: 'integer', means: 'Its number; the journal has no gaps', value: (it) => it.seq },
  { title: 'Time', type: 'time', means: 'When it was written', value: (it) => it.at, text: (it) => clockTime(it.at) },
  { title: 'Actor', type: 'string', means: '`daemon`, `operator:NAME` or `calendar:NAME`', value: (it) => it.actor },
  { title: 'Host', type: 'string?', means: 'The host it is about', whole: true, value: (it) => it.host },
  { title: 'Incident', type: 'string?', means: 'The incident it is about', whole: true, value: (it) => it.incident },
  { title: 'Instance', type: 'string?', means: 'The instance it is about', value: (it) => it.instance },
  {
    title: 'Kind',
    type: 'string',
    means: 'What happened, as a code',
    value: (it) => it.kind,
    text: (it) => toned(toneOf(it), it.kind),
  },
  { title: 'Message', type: 'string', means: 'What happened, in words', value: (it) => it.sentence ?? it.kind },
]

const verifyColumns: Column<VerifiedChain>[] = [
  {
    title: 'Result',
    type: 'string',
    means: '`whole` or `broken`',
    value: (it) => (it.broken === null ? 'whole' : 'broken'),
    text: (it) => (it.broken === null ? toned('good', 'whole') : toned('bad', 'broken')),
  },
  { title: 'Entries', type: 'integer', means: 'How many were checked', value: (it) => it.entries },
  {
    title: 'Head',
    type: 'string',
    means: 'The hash of the newest entry: keep a copy elsewhere',
    value: (it) => it.head,
  },
  {
    title: 'Kept Head',
    type: 'string?',
    means:
      'What `journal.db.head` says about the end: `agrees` or `contradicts`; `missing` or `unreadable`: nothing can show that the end is there',
    value: (it) => it.keptHead ?? null,
  },
  {
    title: 'Broken At',
    type: 'integer?',
    means: 'The first entry that does not fit, or is missing',
    value: (it) => it.broken?.seq ?? null,
  },
  { title: 'Problem', type: 'string?', means: 'What is wrong with it', value: (it) => it.broken?.problem ?? null },
]

interface ListOptions {
  incident?: string
  host?: string
  instance?: string
  kind?: Entry['kind'][]
  actor?: string
  /** ISO. */
  since?: string
  until?: string
  after?: number
  limit: number
  follow: boolean
}

export function addJournalCommands(program: Command, session: Session): void {
  const journal = program.command('journal').description('the record of everything that Lifeboat decided and did')
  const list = journal
    .command('list')
    .description('list entries, newest last')
    .option('--incident <incident>', 'only of this incident')
    .option('--host <host>', 'only of this host')
    .option(
      '--instance <instance>',
      'only of this instance (name or UUID), and all entries of the incidents in which its guest crashed',
    )
    .option('--kind <kind>', 'only of this kind, e.g. verdict.changed; may be repeated', kind)
    .option('--actor <actor>', 'only by this actor: daemon, operator:NAME')
    .option('--since <time>', 'only since then: 2026-01-02T03:04:05Z, or 2h for two hours ago', moment(session))
    .option('--until <time>', 'only until then', moment(session))
    .option('--after <seq>', 'only those after this number', wholeNumber(0, mostEntries))
    .option(
      '--limit <number>',
      'at most this many: the newest, or with --after the first',
      wholeNumber(0, mostEntries),
      50,
    )
    .addOption(
      new Option('--follow', 'then print new entries as they are written').conflicts(['until', 'after']).default(false),
    )
    .action((options: ListOptions, command: Command) => {
      const { since, until } = options
      if (since !== undefined && until !== undefined && until < since)
        command.error(`error: --until (${until}) is before --since (${since})`)
      return options.follow ? follow(session, options) : listed(session, options)
    })
  prints(list, 'list', entryColumns)
  const verify = journal
    .command('verify')
    .description(
      'prove that no entry was changed, inserted or removed; the head file beside the journal shows whether the newest are missing',
    )
    .action(() => {
      const verified = session.withJournal((open) => open.verify())
      session.one(verified, verifyColumns)
      if (verified.broken !== null) session.endsAs('failed')
    })
  prints(verify, 'one', verifyColumns, { exits: { 1: 'the chain is broken' } })
  journal
    .command('export')
    .description(
      'export the journal or one incident: --format json (one entry a line, with hashes), markdown (a report) or post-mortem (one page)',
    )
    .argument('[incident]')
    .action((incident?: string) => {
      const format = session.namedFormat() ?? 'json'
      if (!isReportFormat(format))
        throw new CliFailure('usage', `the journal cannot be exported as "${format}"`, [
          `formats: ${Object.keys(reportFormats).join(', ')}`,
        ])
      session.withJournal((open) => {
        for (const piece of open.export(format, incident ?? null)) session.terminal.stdout(piece)
      })
    })
  addSharedJournalCommands(journal, session)
}

function listed(session: Session, options: ListOptions): void {
  session.list(
    session.withJournal((open) => entriesOf(open, options)),
    entryColumns,
  )
}

/** Oldest first. */
function entriesOf(open: JournalAccess, options: ListOptions): ReadEntry[] {
  const newestFirst = options.after === undefined
  const entries = open
    .read({ ...filterOf(open, options), limit: options.limit, newestFirst })
    .map((entry): ReadEntry => ({ ...entry, sentence: open.sentence(entry) }))
  return newestFirst ? entries.toReversed() : entries
}

/** Prints what there is, then each new entry, until someone interrupts. */
async function follow(session: Session, options: ListOptions): Promise<void> {
  const { terminal } = session
  const shape = session.shape()
  if (shape.format === 'yaml' || shape.format === 'csv')
    throw new CliFailure('usage', `--follow cannot be printed as ${shape.format}`, [
      'formats with --follow: table, value, json (one entry per line)',
    ])
  const waiting = new InterruptibleWait(session)
  const say = (entries: ReadEntry[]): void => {
    if (shape.format === 'value') terminal.stdout(renderList(entries, entryColumns, shape))
    else if (shape.format === 'json')
      for (const entry of entries) terminal.stdout(jsonText(record(entryColumns, entry), false))
    else terminal.stdout(entries.map(lineOf).join(''))
  }
  try {
    const found = session.withJournal((open) => ({
      // First of all: what is written between the two looks must not count as shown.
      newest: open.read({ newestFirst: true, limit: 1 }).at(0)?.seq ?? 0,
      entries: entriesOf(open, options),
    }))
    say(found.entries)
    let after = Math.max(found.newest, found.entries.at(-1)?.seq ?? 0)
    let lost = false
    while (await waiting.pause(followEveryMs)) {
      try {
        const fresh = session.withJournal((open) =>
          open
            .read({ ...filterOf(open, options), after })
            .map((entry): ReadEntry => ({ ...entry, sentence: open.sentence(entry) })),
        )
        lost = false
        say(fresh)
        after = fresh.at(-1)?.seq ?? after
      } catch (thrown) {
        const line = passing(thrown)
        if (!lost) terminal.stderr(`${printable(line)}; still trying\n`)
        lost = true
      }
    }
  } finally {
    waiting.close()
  }
}

function lineOf({ at, actor, host, sentence, kind: what }: ReadEntry): string {
  return `${printable([at, actor, host, sentence ?? what].filter((part) => part !== null).join('  '))}\n`
}

/** Throws as `instanceInJournal` does for a name that no instance has, or several have. */
function filterOf(open: JournalAccess, options: ListOptions): EntryFilter {
  const { incident, host, instance, kind: kinds, actor, since, until, after } = options
  const allOfInstance =
    instance === undefined ? undefined : instanceInJournal(instance, (text, limit) => open.instances(text, limit))
  const asked = { incident, host, allOfInstance, kinds, actor, since, until, after }
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined))
}
