/** Notices: what was told to whom, from the journal, and a test of a receiver. */
import { Option, type Command } from 'commander'
import {
  byReceiver,
  noticeEntryKinds,
  noticeRecords,
  noticeStates,
  type NoticeRecord,
} from '../../domain/notice-record.ts'
import { prints, ends } from '../described.ts'
import { CliFailure } from '../exit-codes.ts'
import type { Column } from '../output/formats.ts'
import { toned } from '../output/words.ts'
import { noticeTone } from '../../domain/text/tone.ts'
import type { Session } from '../session.ts'
import { clockTime } from '../wording.ts'
import { text } from './order-options.ts'
import { wholeNumber } from './whole-number.ts'

const columns: Column<NoticeRecord>[] = [
  { title: 'Receiver', type: 'string', means: 'Who is told', value: (it) => it.receiver },
  {
    title: 'Time',
    type: 'time',
    means: 'When Lifeboat queued it',
    value: (it) => it.queuedAt,
    text: (it) => clockTime(it.queuedAt),
  },
  {
    title: 'State',
    type: 'string',
    means: '`waiting`, `retrying`, `sent` or `dead`',
    value: (it) => it.state,
    text: (it) => toned(noticeTone[it.state], it.state),
  },
  { title: 'Tries', type: 'integer', means: 'How many times Lifeboat tried to send it', value: (it) => it.attempts },
  { title: 'Topic', type: 'string', means: 'What it is about', value: (it) => it.notice.topic },
  { title: 'Severity', type: 'string', means: '`info`, `warning` or `critical`', value: (it) => it.notice.severity },
  { title: 'Host', type: 'string?', means: 'The host it is about', whole: true, value: (it) => it.notice.host },
  {
    title: 'Project',
    type: 'string?',
    means: 'The project whose instances it is about, for tenants',
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
    means: 'What a tenant can quote when asking',
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
  const notice = program.command('notice').description('notices that Lifeboat sends to people')
  const listed = notice
    .command('list')
    .description('list notices by receiver, the newest of each last')
    .option('--receiver <name>', 'only to this receiver')
    .option('--incident <incident>', 'only of this incident')
    .option('--host <host>', 'only about this host')
    .addOption(new Option('--state <state>', 'only these').choices(Object.keys(noticeStates)))
    .addOption(new Option('--dead', 'only dead letters: --state dead').conflicts('state'))
    .option('--limit <number>', 'at most this many of each receiver, the newest', wholeNumber(1), 20)
    .action((options: ListOptions) => list(session, options))
  prints(listed, 'list', columns)
  const tested = notice
    .command('test')
    .description('send a test notice to a receiver; needs no daemon')
    .argument('<receiver>')
    .option('--project <id>', 'the project, if the receiver is for tenants; default: the first one configured', text)
    .action(async (receiver: string, { project }: { project?: string }) => {
      const config = session.config({ withSecrets: true })
      const by = session.by()
      const { ok, detail } = await session.commands.testNotice(config, { receiver, by, project: project ?? null })
      if (!ok) throw new CliFailure('failed', `${receiver} refused the test: ${detail}`)
      session.terminal.stdout(`${receiver} accepted the test: ${detail}\n`)
    })
  ends(tested, { 1: 'the receiver refused the test' })
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
  const grouped = byReceiver(found, limit).flatMap((group) => group.records)
  session.list(grouped, wide ? columns : columns.filter(({ title }) => narrow.has(title)))
}
