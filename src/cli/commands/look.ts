/** Live data from the running daemon: status, host list. */
import type { Command } from 'commander'
import type { ConfigurationState, DaemonStatus, HostStatus } from '../../domain/operations.ts'
import { scopeText } from '../../domain/standing-order.ts'
import type { Column } from '../output/formats.ts'
import { addHostCommands } from './hosts.ts'
import type { Session } from '../session.ts'
import { clockTime, span, tally } from '../wording.ts'
import { addHostMaintenance } from './maintenance.ts'
import { orderLine } from './order-options.ts'

const statusColumns: Column<DaemonStatus>[] = [
  {
    title: 'Mode',
    value: (it) => it.mode,
    text: (it) => (it.mode === 'observe' ? 'observe: decides and journals, sends nothing' : 'armed'),
  },
  {
    title: 'Paused',
    value: (it) => it.paused,
    text: ({ paused }) =>
      paused === null
        ? 'no'
        : `by ${paused.by} since ${clockTime(paused.since)}, ${paused.until === null ? 'until resumed' : `until ${clockTime(paused.until)}`}: ${paused.reason}`,
  },
  {
    title: 'In Force',
    value: (it) => it.standingOrders,
    text: ({ standingOrders }) =>
      standingOrders.map((order) => `${scopeText(order.scope)}: ${orderLine(order)}`).join('\n') || 'no order',
  },
  {
    title: 'Frozen',
    value: (it) => it.frozen,
    text: ({ frozen }) =>
      frozen === null ? 'no' : `${frozen.reason} since ${clockTime(frozen.since)}: ${frozen.message}`,
  },
  {
    title: 'Brake',
    value: (it) => it.brake,
    text: ({ brake }) =>
      brake.length === 0
        ? 'open'
        : brake
            .map(({ trippedSince, message }) => `holds since ${clockTime(trippedSince ?? '')}: ${message}`)
            .join('\n'),
  },
  { title: 'Cloud', value: (it) => it.cloud, text: (it) => it.cloud ?? 'from the environment' },
  {
    title: 'Last Poll',
    value: ({ lastPoll }) => lastPoll && { ...lastPoll, tookMs: Math.round(lastPoll.tookMs) },
    text: ({ lastPoll }) =>
      lastPoll === null
        ? 'none yet'
        : `${clockTime(lastPoll.at)}, ${lastPoll.ok ? 'answered' : `failed: ${lastPoll.error ?? 'unknown'}`}, took ${Math.round(lastPoll.tookMs)} ms`,
  },
  { title: 'Hosts', value: (it) => it.hosts, text: (it) => tally(it.hosts) || 'none seen' },
  {
    title: 'Incidents',
    value: (it) => it.incidents,
    text: ({ incidents }) => `${incidents.open} open, ${incidents.held} of them held`,
  },
  {
    title: 'Workflow',
    value: (it) => it.workflow,
    text: ({ workflow }) => `${workflow.name} revision ${workflow.revision} (${workflow.digest.slice(0, 12)})`,
  },
  {
    title: 'Configuration',
    value: (it) => it.configuration,
    text: ({ configuration }) => configurationText(configuration),
  },
  {
    title: 'Log Level',
    value: (it) => it.logLevel,
    text: ({ logLevel: { level, configured, until } }) =>
      level === configured && until === null
        ? level
        : `${level} ${until === null ? 'until the next reload' : `until ${clockTime(until)}`}, then ${configured}`,
  },
  { title: 'Journal', value: (it) => it.journal, text: ({ journal }) => `${journal.path}, ${journal.entries} entries` },
  { title: 'Version', value: (it) => it.version },
  { title: 'PID', value: (it) => it.pid },
  { title: 'Started', value: (it) => it.startedAt, text: (it) => clockTime(it.startedAt) },
]

function configurationText({ loadedAt, loadedBy, waiting, refused }: ConfigurationState): string {
  const read = `read ${clockTime(loadedAt)} (${loadedBy})`
  return [
    refused === null
      ? read
      : `${read}; REFUSED ${clockTime(refused.at)} (${refused.by}): ${[refused.message, ...refused.problems].join('\n')}`,
    ...(waiting.length === 0 ? [] : [`waiting for a restart: ${waiting.join(', ')}`]),
  ].join('\n')
}

const hostColumns: Column<HostStatus>[] = [
  { title: 'Host', value: (it) => it.host },
  { title: 'Segment', value: (it) => it.segment },
  { title: 'Zone', value: (it) => it.zone },
  { title: 'Verdict', value: (it) => it.verdict },
  { title: 'Status', value: (it) => it.status },
  {
    title: 'State',
    value: (it) => it.state,
    text: (it) => `${it.state ?? 'unknown'}${it.forcedDown ? ' (forced)' : ''}`,
  },
  {
    title: 'Silent',
    value: (it) => Math.round(it.silentMs),
    text: (it) => `${span(it.silentMs)} (${it.missedBeats.toFixed(1)} beats)`,
  },
  {
    title: 'Probes',
    value: (it) => it.probes,
    text: (it) => it.probes.map(({ probe, answer }) => `${probe} ${answer}`).join(', '),
  },
  {
    title: 'In Force',
    value: (it) => it.standingOrders,
    text: (it) => it.standingOrders.map(orderLine).join('\n'),
  },
  { title: 'Incident', value: (it) => it.incident },
  { title: 'Message', value: (it) => it.message },
]

const returnColumn: Column<HostStatus> = { title: 'Return', value: (it) => it.returning }

export function addLookCommands(program: Command, session: Session): void {
  program
    .command('status')
    .description('the running daemon: mode, pauses, maintenance, last poll, hosts, incidents')
    .action(async () => session.one(await session.daemon().status(), statusColumns))
  const host = program.command('host').description('hosts')
  addHostMaintenance(host, session)
  addHostCommands(host, session)
  host
    .command('list')
    .description('every host with its verdict and why')
    .action(async () => {
      const hosts = await session.daemon().hosts()
      const { format, columns } = session.shape()
      const onScreen = format === 'table' && columns.length === 0
      session.list(
        hosts.toSorted((a, b) => a.host.localeCompare(b.host, 'en', { numeric: true })),
        // On a screen only while some host is on its way back: a column that is always empty is read by nobody.
        onScreen && !hosts.some(({ returning }) => returning !== null) ? hostColumns : [...hostColumns, returnColumn],
      )
    })
}
