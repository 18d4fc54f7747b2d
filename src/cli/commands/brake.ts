/** What the brake holds, one line for each failure, and the order that lets all hosts of one past it. */
import type { Command } from 'commander'
import type { CountedGroup } from '../../domain/brake.ts'
import { LifeboatError } from '../../domain/errors.ts'
import { groupOverrideText } from '../../domain/text/group-override.ts'
import { prints } from '../described.ts'
import { listFrame } from '../frame.ts'
import type { Column } from '../output/formats.ts'
import type { Session } from '../session.ts'
import { show, withWatch, type WatchOptions } from '../watch.ts'
import { clockTime, counted } from '../wording.ts'
import { text } from './order-options.ts'

const columns: Column<CountedGroup>[] = [
  { title: 'Scope', type: 'string', means: 'The argument of `brake override`', whole: true, value: (it) => it.scope },
  {
    title: 'Hosts',
    type: 'list of strings',
    means: 'The hosts that it holds',
    value: (it) => it.members.map(({ host }) => host),
    text: (it) => it.members.map(({ host }) => host).join('\n'),
  },
  {
    title: 'Instances',
    type: 'integer',
    means: 'How many instances Nova shows on them',
    value: (it) => it.instances,
    text: (it) =>
      it.uncounted === 0 ? String(it.instances) : `${it.instances}, ${counted(it.uncounted, 'host')} not counted yet`,
  },
  { title: 'Running', type: 'integer', means: 'How many of them ran', value: (it) => it.running },
  {
    title: 'Since',
    type: 'time',
    means: 'Since when it holds',
    value: (it) => it.trippedSince,
    text: (it) => clockTime(it.trippedSince),
  },
  { title: 'Why', type: 'string', means: 'Its numbers in words', value: (it) => it.message },
]

export function addBrakeCommands(program: Command, session: Session): void {
  const brake = program.command('brake').description('recoveries that wait because too many hosts failed at once')
  const list = withWatch(brake.command('list'))
    .description('list what the brake holds, one line for each failure')
    .action((options: WatchOptions) =>
      show(session, options, async () => listFrame(await session.daemon().heldGroups(), columns, session.shape())),
    )
  prints(list, 'list', columns)
  brake
    .command('override')
    .description('let every host that one scope holds now past the brake')
    .argument('<scope>', 'as `brake list` calls it: cloud, segment:NAME or domain:NAME', text)
    .requiredOption('--reason <text>', 'why', text)
    .action(async (scope: string, { reason }: { reason: string }) => {
      const group = (await session.daemon().heldGroups()).find((one) => one.scope === scope)
      if (group === undefined)
        throw new LifeboatError(
          'CONFLICT',
          `The brake holds nothing of ${scope}: lifeboat brake list shows what it holds`,
        )
      const incidents = group.members.map(({ incident }) => incident)
      const done = await session.daemon().overrideGroup({ by: session.by(), reason, scope, incidents })
      const past = done.overridden.map(({ host }) => host).join(', ')
      session.say(groupOverrideText(done, group.members, group.title))
      session.say(`Past it now: ${past}`)
    })
}
