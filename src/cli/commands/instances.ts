/** One instance over all its incidents, read from the journal itself; with --url the daemon reads it. */
import { InvalidArgumentError, type Command } from 'commander'
import { instanceMeant, offered } from '../../domain/instance-meant.ts'
import type { InstanceHistory, InstanceStay } from '../../domain/review.ts'
import { between } from '../../domain/text/span.ts'
import { outcomeTone } from '../../domain/text/tone.ts'
import { prints } from '../described.ts'
import { oneFrame } from '../frame.ts'
import type { Column } from '../output/formats.ts'
import { grid } from '../output/table.ts'
import { toned, type Paint } from '../output/words.ts'
import type { Session } from '../session.ts'
import { show, withWatch, type WatchOptions } from '../watch.ts'
import { clockTime } from '../wording.ts'

const columns: Column<InstanceHistory>[] = [
  { title: 'ID', type: 'string', means: 'Its UUID', value: (it) => it.id },
  { title: 'Name', type: 'string', means: 'As its newest incident found it', value: (it) => it.name },
  { title: 'Project', type: 'string', means: 'The id of its project', value: (it) => it.projectId },
  { title: 'Headline', type: 'string', means: 'The newest incident in a few words', value: (it) => it.headline },
  {
    title: 'Now',
    type: 'object',
    means:
      'Where it was seen last, in which state, since when, and why: `host`, `state`, `at`, `outcome`, `code`, `message`',
    value: (it) => it.now,
  },
  {
    title: 'Incidents',
    type: 'list of objects',
    means:
      'Each incident, newest first: `incident`, `host`, `lastBeatAt`, `downSince`, `upAt`, `outcome`, `landedOn`, and the rest of its line',
    value: (it) => it.stays,
  },
]

export function addInstanceCommands(program: Command, session: Session): void {
  const instance = program.command('instance').description('instances, across all their incidents')
  const shown = withWatch(instance.command('show'))
    .description('show where an instance was, how long it was down, where it is now, and why')
    .argument('<instance>', 'its name or UUID', nameOrId)
    .action((wanted: string, options: WatchOptions) =>
      show(session, options, async () => {
        const record = session.record()
        const found = await record.instance(instanceMeant(await record.instances(wanted, offered), wanted))
        const shape = session.shape()
        const forPeople = shape.format === 'table' && shape.columns.length === 0
        return oneFrame(found, columns, shape, forPeople ? pageOf(found, shape.paint) : undefined)
      }),
    )
  prints(shown, 'one', columns)
}

function nameOrId(given: string): string {
  if (given.trim() === '') throw new InvalidArgumentError('It must not be empty: give a name or a UUID.')
  return given.trim()
}

function pageOf(record: InstanceHistory, paint: Paint): (maxWidth: number | null) => string {
  const { id, name, projectId, headline, now, stays } = record
  const facts = [
    ['Instance', name],
    ['ID', id],
    ['Project', projectId],
    ['Now', [now.host ?? 'unknown host', now.state, `as of ${clockTime(now.at)}`].filter(Boolean).join(', ')],
    ['Why', `${now.code}: ${now.message}`],
  ]
  const rows = stays.map((stay) => [
    stay.incident,
    stay.host,
    stay.lastBeatAt === null ? '' : clockTime(stay.lastBeatAt),
    downFor(stay),
    // What is only observed is nothing that is under way.
    toned(stay.mode === 'observe' ? 'plain' : outcomeTone[stay.outcome], stay.outcome),
    stay.landedOn ?? '',
    stay.code ?? stay.reason,
  ])
  const titles = ['Incident', 'Was On', 'Last Alive', 'Down For', 'Outcome', 'Now On', 'Why']
  return (maxWidth) => {
    const look = { maxWidth, paint }
    return `${headline}\n${grid(['Field', 'Value'], facts, look)}\n${grid(titles, rows, look)}`
  }
}

function downFor({ downSince, upAt, mode }: InstanceStay): string {
  if (downSince === null) return ''
  if (upAt !== null) return between(downSince, upAt)
  return mode === 'observe' ? '' : 'not back'
}
