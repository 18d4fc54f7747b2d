/** Segments: which hosts are under one set of rules, how they are, and what the rules are. */
import type { Command } from 'commander'
import type { SegmentStatus } from '../../domain/review.ts'
import { prints } from '../described.ts'
import { CliFailure } from '../exit-codes.ts'
import { listFrame, oneFrame } from '../frame.ts'
import { listColumn, type Column } from '../output/formats.ts'
import { tonedTally } from '../output/words.ts'
import type { Session } from '../session.ts'
import { show, withWatch, type WatchOptions } from '../watch.ts'
import { span } from '../../domain/text/span.ts'
import { verdictTone } from '../../domain/text/tone.ts'

const listColumns: Column<SegmentStatus>[] = [
  { title: 'Segment', type: 'string', means: 'Its name', whole: true, value: (it) => it.name },
  {
    title: 'Hosts',
    type: 'integer',
    means: 'How many hosts it has',
    value: (it) => it.hosts.length,
  },
  {
    title: 'Verdicts',
    type: 'object',
    means: 'How many of them have each verdict',
    value: (it) => it.verdicts,
    text: (it) => tonedTally(it.verdicts, verdictTone),
  },
  listColumn('Open Incidents', 'Their incidents that are not over', (it) => it.openIncidents),
  { title: 'Storage', type: 'string', means: '`shared` or `local` disks', value: (it) => it.rules.storage },
  {
    title: 'Fencing',
    type: 'list of strings',
    means: 'Methods, in the order in which they are tried',
    value: (it) => it.rules.fencing,
    text: (it) => it.rules.fencing.join(', ') || "a person's word",
  },
]

const showColumns: Column<SegmentStatus>[] = [
  ...listColumns.slice(0, 1),
  {
    title: 'Hosts',
    type: 'list of strings',
    means: 'Its hosts',
    value: (it) => it.hosts,
    text: (it) => it.hosts.join(', ') || 'none',
  },
  ...listColumns.slice(2),
  {
    title: 'Probes',
    type: 'list of strings',
    means: 'What Lifeboat asks besides Nova',
    value: (it) => it.rules.probes,
    text: (it) => it.rules.probes.join(', ') || 'none: only Nova says that a host is dead',
  },
  {
    title: 'Brake',
    type: 'object',
    means: 'How many hosts may be down at once: `maxHosts`, `maxShare`',
    value: (it) => it.rules.brake,
    text: ({ rules: { brake } }) => `at most ${brake.maxHosts} hosts and ${brake.maxShare * 100} % of them at once`,
  },
  {
    title: 'Policy',
    type: 'object',
    means: 'What happens to instances that were not simply running',
    value: (it) => it.rules.policy,
    text: ({ rules: { policy } }) =>
      `stopped: ${policy.stopped}, in error before: ${policy.errorBefore}, memory lost: ${policy.memoryLost}, unasked: ${policy.unasked}`,
  },
  {
    title: 'On',
    type: 'object',
    means: 'What Lifeboat does when a host is declared down, is disabled and down, or lives without nova-compute',
    value: ({ rules: { onDeclaredDown, onDisabledDown, onServiceDown } }) => ({
      declaredDown: onDeclaredDown,
      disabledDown: onDisabledDown,
      serviceDown: onServiceDown,
    }),
    text: ({ rules: { onDeclaredDown, onDisabledDown, onServiceDown } }) =>
      `declared down: ${onDeclaredDown}, disabled and down: ${onDisabledDown}, agent down: ${onServiceDown}`,
  },
  { title: 'Priority', type: 'integer', means: 'Higher is recovered earlier', value: (it) => it.rules.priority },
  {
    title: 'Parallel',
    type: 'integer',
    means: 'Evacuations in flight at once from one host',
    value: (it) => it.rules.maxParallelPerHost,
  },
  {
    title: 'Return Rules',
    type: 'object',
    means: 'How its hosts return',
    value: (it) => it.rules.return,
    text: ({ rules: { return: rules } }) =>
      `${rules.mode === 'confirm' ? 'after confirmation' : 'automatic'}, healthy for ${span(rules.healthyMs)}, at most ${rules.maxReturns} failures in ${span(rules.withinMs)}`,
  },
  {
    title: 'Restart Rules',
    type: 'object',
    means: 'How a guest that crashes on a living host is restarted',
    value: (it) => it.rules.restart,
    text: ({ rules: { restart } }) =>
      `${restart.unasked === 'recover' ? 'unless its owner says no' : 'where its owner asks for it'}, at most ${restart.maxRestarts} times in ${span(restart.withinMs)}`,
  },
]

export function addSegmentCommands(program: Command, session: Session): void {
  const segment = program.command('segment').description('segments: hosts under one set of rules')
  const list = withWatch(segment.command('list'))
    .description('list every segment with its hosts and their verdicts')
    .action((options: WatchOptions) =>
      show(session, options, async () => listFrame(await session.daemon().segments(), listColumns, session.shape())),
    )
  prints(list, 'list', listColumns)
  const shown = withWatch(segment.command('show'))
    .description('show one segment: its hosts and all its rules')
    .argument('<segment>')
    .action((name: string, options: WatchOptions) =>
      show(session, options, async () => {
        const segments = await session.daemon().segments()
        const found = segments.find((one) => one.name === name)
        if (found !== undefined) return oneFrame(found, showColumns, session.shape())
        const names = segments.map((one) => one.name).join(', ')
        throw new CliFailure('failed', `There is no segment ${name}`, [`segments: ${names || 'none'}`])
      }),
    )
  prints(shown, 'one', showColumns)
}
