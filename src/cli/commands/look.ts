/** Live data from the running daemon: status, host list. */
import type { Command } from 'commander'
import type { ReceiverHealth } from '../../domain/notice.ts'
import type { ConfigurationState, DaemonStatus, HostStatus, UnreviewedCounts } from '../../domain/operations.ts'
import { scopeText } from '../../domain/order.ts'
import { verdictWord } from '../../domain/verdict.ts'
import { prints } from '../described.ts'
import { listFrame, oneFrame } from '../frame.ts'
import type { Column } from '../output/formats.ts'
import { toned, tonedTally, type Words } from '../output/words.ts'
import { addHostCommands } from './hosts.ts'
import type { Session } from '../session.ts'
import { tenureText } from '../tenure-text.ts'
import { show, withWatch, type WatchOptions } from '../watch.ts'
import { faultIsOver } from '../../domain/text/freeze-sentence.ts'
import { span } from '../../domain/text/span.ts'
import { hostTone, receiverStanding, verdictTone } from '../../domain/text/tone.ts'
import { clockTime, counted } from '../wording.ts'
import { addHostMaintenance } from './maintenance.ts'
import { orderLine } from './order-options.ts'

type Lines = Extract<Words, readonly unknown[]>

function receiverLine(it: ReceiverHealth): Lines {
  const { receiver, waiting, takenAt, failingSince, problem } = it
  const queue = waiting === 0 ? '' : `, ${counted(waiting, 'notice')} waiting`
  if (failingSince !== null) {
    const { tone } = receiverStanding(it)
    return [`${receiver}: `, toned(tone, 'takes nothing'), ` since ${clockTime(failingSince)} (${problem})${queue}`]
  }
  return [`${receiver}: ${takenAt === null ? 'nothing sent yet' : `last took one ${clockTime(takenAt)}`}${queue}`]
}

function joined(lines: readonly Lines[]): Lines {
  return lines.flatMap((line, index) => (index === 0 ? line : ['\n', ...line]))
}

const statusColumns: Column<DaemonStatus>[] = [
  {
    title: 'Mode',
    type: 'string',
    means: '`observe` or `armed`',
    value: (it) => it.mode,
    text: (it) => (it.mode === 'observe' ? 'observe: decides and journals, sends nothing' : 'armed'),
  },
  {
    title: 'Paused',
    type: 'object?',
    means: 'The pause of the whole cloud: `by`, `reason`, `since`, `until`; null when there is none',
    value: (it) => it.paused,
    text: ({ paused }) =>
      paused === null
        ? 'no'
        : [
            toned('wait', `by ${paused.by}`),
            ` since ${clockTime(paused.since)}, ${paused.until === null ? 'until resumed' : `until ${clockTime(paused.until)}`}: ${paused.reason}`,
          ],
  },
  {
    title: 'In Force',
    type: 'list of objects',
    means: 'Every pause and maintenance in force, the oldest first',
    value: (it) => it.standingOrders,
    text: ({ standingOrders }) =>
      standingOrders.map((order) => `${scopeText(order.scope)}: ${orderLine(order)}`).join('\n') || 'none',
  },
  {
    title: 'Frozen',
    type: 'object?',
    means:
      'Why all verdicts are frozen: `reason`, `message`, `since`, `thawsAt` (null while the fault lasts); null when they are not',
    value: (it) => it.frozen,
    text: ({ frozen }) =>
      frozen === null
        ? 'no'
        : [toned('wait', frozen.reason), ` since ${clockTime(frozen.since)}: ${frozen.message}${thawText(frozen)}`],
  },
  {
    title: 'Tenure',
    type: 'object?',
    means:
      'Where it stands among the daemons that share its journal: `state`, `active`, `daemons`; null when the journal is its own',
    value: (it) => it.tenure,
    text: ({ tenure }) => (tenure === null ? 'the journal is its own' : tenureText(tenure)),
  },
  {
    title: 'Restart Loop',
    type: 'object?',
    means: 'Set if the daemon keeps dying: `died` (how often), `message`; else null',
    value: (it) => it.restartLoop,
    text: ({ restartLoop }) => (restartLoop === null ? 'no' : toned('bad', restartLoop.message)),
  },
  {
    title: 'Brake',
    type: 'list of objects',
    means: 'The scopes where the brake holds recoveries, each with its numbers',
    value: (it) => it.brake,
    text: ({ brake }) =>
      brake.length === 0
        ? 'not tripped'
        : joined(
            brake.map(({ trippedSince, message }) => [
              toned('urgent', 'holds'),
              ` since ${clockTime(trippedSince ?? '')}: ${message}`,
            ]),
          ),
  },
  {
    title: 'Notices',
    type: 'list of objects',
    means:
      'Each receiver: `receiver`, `waiting`, `takenAt`, `failingSince`, `problem`, `dead` (has taken nothing for a minute or longer)',
    value: (it) => it.receivers,
    text: ({ receivers }) => (receivers.length === 0 ? 'no receivers' : joined(receivers.map(receiverLine))),
  },
  {
    title: 'Cloud',
    type: 'string?',
    means: 'Its name in clouds.yaml; null when the environment names it',
    value: (it) => it.cloud,
    text: (it) => it.cloud ?? 'from the environment',
  },
  {
    title: 'Last Poll',
    type: 'object?',
    means: 'The last reading of the services: `at`, `ok`, `tookMs`, `error`; null before the first',
    moving: true,
    value: ({ lastPoll }) => lastPoll && { ...lastPoll, tookMs: Math.round(lastPoll.tookMs) },
    text: ({ lastPoll }) =>
      lastPoll === null
        ? 'none yet'
        : [
            `${clockTime(lastPoll.at)}, `,
            ...(lastPoll.ok
              ? [toned('good', 'answered'), ` in ${span(lastPoll.tookMs)}`]
              : [
                  toned('bad', 'Nova did not answer'),
                  `: ${lastPoll.error ?? 'unknown'} (after ${span(lastPoll.tookMs)})`,
                ]),
          ],
  },
  {
    title: 'Hosts',
    type: 'object',
    means: 'How many hosts have each verdict',
    value: (it) => it.hosts,
    text: ({ hosts }) => {
      const words = tonedTally(hosts, verdictTone)
      return words.length === 0 ? 'none seen' : words
    },
  },
  {
    title: 'Incidents',
    type: 'object',
    means:
      'How many are `open` and how many of those `held`; `unsettled`: closed with instances not back, and not signed off',
    value: (it) => it.incidents,
    text: ({ incidents }) =>
      joined([
        [
          toned(incidents.open === 0 ? 'plain' : 'live', `${incidents.open} open`),
          ', ',
          toned(incidents.held === 0 ? 'plain' : 'wait', `${incidents.held} of them held`),
        ],
        ...unreviewedLines(incidents.unsettled),
      ]),
  },
  {
    title: 'Workflow',
    type: 'object',
    means: 'The recovery workflow in use: `name`, `revision`, `digest`',
    value: (it) => it.workflow,
    text: ({ workflow }) => `${workflow.name} revision ${workflow.revision} (${workflow.digest.slice(0, 12)})`,
  },
  {
    title: 'Configuration',
    type: 'object',
    means:
      'The configuration in force: `files`, `loadedAt`, `loadedBy`; `waiting`: takes effect at the next restart; `refused`: the last rejected reload',
    moving: true,
    value: (it) => it.configuration,
    text: ({ configuration }) => configurationWords(configuration),
  },
  {
    title: 'Log Level',
    type: 'object',
    means: 'The level of the log: `level` now, the `configured` one, and `until` when',
    value: (it) => it.logLevel,
    text: ({ logLevel: { level, configured, until } }) =>
      level === configured && until === null
        ? level
        : `${level} ${until === null ? 'until the next reload' : `until ${clockTime(until)}`}, then ${configured}`,
  },
  {
    title: 'Journal',
    type: 'object',
    means: 'The journal: `path`, `entries`, `head`',
    moving: true,
    value: (it) => it.journal,
    text: ({ journal }) => `${journal.path}, ${journal.entries} entries`,
  },
  { title: 'Version', type: 'string', means: "The daemon's", value: (it) => it.version },
  { title: 'PID', type: 'integer', means: 'Its process', value: (it) => it.pid },
  {
    title: 'Started',
    type: 'time',
    means: 'When the daemon started',
    value: (it) => it.startedAt,
    text: (it) => clockTime(it.startedAt),
  },
]

function thawText({ reason, thawsAt }: NonNullable<DaemonStatus['frozen']>): string {
  return thawsAt === null ? '' : `. ${faultIsOver(reason)}; verdicts move from ${clockTime(thawsAt)}`
}

function configurationWords({ loadedAt, loadedBy, waiting, refused }: ConfigurationState): Words {
  const read = `read ${clockTime(loadedAt)} (${loadedBy})`
  const problems = [refused?.message ?? '', ...(refused?.problems ?? [])].join('\n')
  return joined([
    refused === null
      ? [read]
      : [`${read}; `, toned('bad', 'REFUSED'), ` ${clockTime(refused.at)} (${refused.by}): ${problems}`],
    ...(waiting.length === 0 ? [] : [[`waiting for a restart: ${waiting.join(', ')}`]]),
  ])
}

const hostColumns: Column<HostStatus>[] = [
  { title: 'Host', type: 'string', means: "Nova's name of it", whole: true, value: (it) => it.host },
  { title: 'Segment', type: 'string', means: 'The segment whose rules apply to it', value: (it) => it.segment },
  { title: 'Zone', type: 'string?', means: 'Its availability zone', whenNamed: true, value: (it) => it.zone },
  {
    title: 'Verdict',
    type: 'string',
    means: 'What Lifeboat concludes about it',
    value: (it) => it.verdict,
    text: (it) => toned(hostTone(it), verdictWord({ ...it, kind: it.verdict })),
  },
  {
    title: 'Status',
    type: 'string',
    means: "Nova's: `enabled` or `disabled`",
    whenNamed: true,
    value: (it) => it.status,
  },
  {
    title: 'State',
    type: 'string?',
    means: "Nova's: `up` or `down`; null when Nova does not know",
    whenNamed: true,
    value: (it) => it.state,
    text: (it) => `${it.state ?? 'unknown'}${it.forcedDown ? ' (forced)' : ''}`,
  },
  {
    title: 'Silent',
    type: 'integer',
    means: 'Milliseconds since its last heartbeat',
    moving: true,
    value: (it) => Math.round(it.silentMs),
    text: (it) => `${span(it.silentMs)} (${it.missedBeats.toFixed(1)} beats)`,
  },
  {
    title: 'Probes',
    type: 'list of objects',
    means: 'The last answer of each probe',
    whenNamed: true,
    value: (it) => it.probes,
    text: (it) => it.probes.map(({ probe, answer }) => `${probe} ${answer}`).join(', '),
  },
  {
    title: 'In Force',
    type: 'list of objects',
    means: 'Pauses and maintenance that cover it',
    value: (it) => it.standingOrders,
    text: (it) => it.standingOrders.map(orderLine).join('\n'),
  },
  { title: 'Incident', type: 'string?', means: 'Its open incident', whole: true, value: (it) => it.incident },
  {
    title: 'Message',
    type: 'string',
    means: 'The verdict in words',
    whenNamed: true,
    moving: true,
    value: (it) => it.message,
  },
]

const returnColumn: Column<HostStatus> = {
  title: 'Return',
  type: 'string?',
  means: 'How far its return to service is, after an incident; in tables only while some host is returning',
  value: (it) => it.returning,
}
const allHostColumns = [...hostColumns, returnColumn]

export function addLookCommands(program: Command, session: Session): void {
  const status = withWatch(program.command('status'))
    .description('show the running daemon: mode, pauses, maintenance, last poll, hosts, incidents')
    .action((options: WatchOptions) =>
      show(session, options, async () => oneFrame(await session.daemon().status(), statusColumns, session.shape())),
    )
  prints(status, 'one', statusColumns)
  const host = program.command('host').description('hosts')
  addHostMaintenance(host, session)
  addHostCommands(host, session)
  const list = withWatch(host.command('list'))
    .description('list every host with its verdict; with --long why')
    .action((options: WatchOptions) =>
      show(session, options, async () => {
        const hosts = await session.daemon().hosts()
        const shape = session.shape()
        const onScreen = shape.format === 'table' && shape.columns.length === 0 && !shape.long
        // On a screen only while some host is on its way back: a column that is always empty is read by nobody.
        const idle = onScreen && !hosts.some(({ returning }) => returning !== null)
        return listFrame(
          hosts.toSorted((a, b) => a.host.localeCompare(b.host, 'en', { numeric: true })),
          idle ? hostColumns : allHostColumns,
          shape,
        )
      }),
    )
  prints(list, 'list', allHostColumns)
}

/** What is over and not done with, and where it is shown: nothing is open then, and nobody must take that for all being well. */
function unreviewedLines({ incidents, left, lost }: UnreviewedCounts): Lines[] {
  if (incidents === 0) return []
  const what = tonedTally({ 'failed or stuck': lost, left }, { 'failed or stuck': 'bad', left: 'wait' })
  return [[`${incidents} over and not signed off (`, ...what, '): lifeboat incident list --unsettled']]
}
