/** Notices: what was told to whom, from the journal, and a test of a receiver. */
import { Option, type Command } from 'commander'
import { noticeEntryKinds, noticeRecords, noticeStates, type NoticeRecord } from '../../domain/notice-record.ts'
import { prints, ends } from '../described.ts'
import { CliFailure } from '../exit-codes.ts'
import type { Column } from '../output/formats.ts'
import type { Session } from '../session.ts'
import { clockTime } from '../wording.ts'
import { text } from './order-options.ts'
import { wholeNumber } from './whole-number.ts'

const columns: Column<NoticeRecord>[] = [
  {
    title: 'Time',
    type: 'time',
    means: 'When it was put on record',
    value: (it) => it.queuedAt,
    text: (it) => clockTime(it.queuedAt),
  },
  { title: 'Receiver', type: 'string', means: 'Who is told', value: (it) => it.receiver },
  { title: 'State', type: 'string', means: '`waiting`, `retrying`, `sent` or `dead`', value: (it) => it.state },
  { title: 'Tries', type: 'integer', means: 'How often it was tried', value: (it) => it.attempts },
  { title: 'Topic', type: 'string', means: 'What it is about', value: (it) => it.notice.topic },
  { title: 'Severity', type: 'string', means: '`info`, `warning` or `critical`', value: (it) => it.notice.severity },
  { title: 'Host', type: 'string?', means: 'About which host', value: (it) => it.notice.host },
  {
    title: 'Project',
    type: 'string?',
    means: 'Whose instances, to a receiver for tenants',
    value: (it) => it.notice.project,
  },
  {
    title: 'Instances',
    type: 'integer?',
    means: 'How many instances it is about',
    value: (it) => it.notice.instanceCount ?? null,
  },
  { title: 'Code', type: 'string', means: 'The reason, for programs', value: (it) => it.notice.code },
  { title: 'Detail', type: 'string?', means: 'What the receiver answered, or why it failed', value: (it) => it.detail },
  {
    title: 'Reference',
    type: 'string?',
    means: 'What a tenant can name in a question',
    value: (it) => it.notice.reference,
  },
  { title: 'ID', type: 'string', means: 'Of the notice; the same at every try', value: (it) => it.notice.id },
]

/** What a person needs at a glance; every format for machines has all columns. */
const narrow = new Set(['Time', 'Receiver', 'State', 'Tries', 'Topic', 'Host', 'Project', 'Detail'])

interface ListOptions {
  receiver?: string
  incident?: string
  host?: string
  state?: keyof typeof noticeStates
  dead?: true
  limit: number
}

export function addNoticeCommands(program: Command, session: Session): void {
  const notice = program.command('notice').description('what people outside are told')
  const listed = notice
    .command('list')
    .description('notices by receiver, the newest last')
    .option('--receiver <name>', 'only to this receiver')
    .option('--incident <incident>', 'only of this incident')
    .option('--host <host>', 'only about this host')
    .addOption(new Option('--state <state>', 'only these').choices(Object.keys(noticeStates)))
    .addOption(new Option('--dead', 'only dead letters: --state dead').conflicts('state'))
    .option('--limit <number>', 'at most so many, the newest', wholeNumber(1), 50)
    .action((options: ListOptions) => list(session, options))
  prints(listed, 'list', columns)
  const tested = notice
    .command('test')
    .description('send a test to a receiver, straight from the configuration; the daemon need not run')
    .argument('<receiver>')
    .option(
      '--project <id>',
      'of a receiver for tenants: whose notice it is; default: the first that is configured',
      text,
    )
    .action(async (receiver: string, { project }: { project?: string }) => {
      const config = session.config({ withSecrets: true })
      const by = session.by()
      const { ok, detail } = await session.commands.testNotice(config, { receiver, by, project: project ?? null })
      if (!ok) throw new CliFailure('failed', `${receiver} did not take the test: ${detail}`)
      session.terminal.stdout(`${receiver} took the test: ${detail}\n`)
    })
  ends(tested, { 1: 'the receiver did not take it' })
}

function list(session: Session, { receiver, incident, host, state, dead, limit }: ListOptions): void {
  const filter = { kinds: [...noticeEntryKinds], ...(incident !== undefined && { incident }), ...(host && { host }) }
  const records = session.withJournal((journal) => noticeRecords(journal.each(filter)))
  const wanted = dead === true ? 'dead' : state
  const found = records.filter(
    (record) =>
      (receiver === undefined || record.receiver === receiver) && (wanted === undefined || record.state === wanted),
  )
  const { format, columns: chosen } = session.shape()
  const wide = format !== 'table' || chosen.length > 0
  session.list(found.slice(-limit), wide ? columns : columns.filter(({ title }) => narrow.has(title)))
}
