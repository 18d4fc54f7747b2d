/** Incidents, read from the journal itself: they can be reviewed while the daemon is down. With --url the daemon reads it. */
import { Option, type Command } from 'commander'
import { comparedParts, differs, type ComparedFact } from '../../domain/incident-comparison.ts'
import { instanceMeant, offered } from '../../domain/instance-meant.ts'
import type { IncidentFilter } from '../../domain/operations.ts'
import { comparedText } from '../../domain/text/compared.ts'
import { prints } from '../described.ts'
import { follow, followExits } from '../follow.ts'
import { listFrame, oneFrame, type Frame } from '../frame.ts'
import { detailColumns, incidentDocument, listColumns } from '../incident-fields.ts'
import { incidentPage } from '../incident-page.ts'
import { jsonText, yamlText, type Column } from '../output/formats.ts'
import type { Session } from '../session.ts'
import { show, withWatch, type WatchOptions } from '../watch.ts'
import { addIncidentActs } from './acts.ts'
import { idMeant, idOrName, incidentId } from './incident-id.ts'
import { wholeNumber } from './whole-number.ts'

export function addIncidentCommands(program: Command, session: Session): void {
  const incident = program
    .command('incident')
    .description('incidents: one for each failure of a host, of its nova-compute or of a guest')
  const list = withWatch(incident.command('list'))
    .description('list incidents, newest first')
    .option('--open', 'only open ones')
    .addOption(
      new Option('--unsettled', 'only closed ones with instances not back that nobody has signed off').conflicts(
        'open',
      ),
    )
    .option('--host <host>', 'only of this host')
    .option('--instance <instance>', 'only those that this instance was in, by name or UUID')
    .option('--limit <number>', 'at most this many', wholeNumber(1), 100)
    .action(({ watch, ...filter }: IncidentFilter & WatchOptions) =>
      show(session, watch === undefined ? {} : { watch }, async () => {
        const record = session.record()
        const { instance: wanted } = filter
        const instance = wanted === undefined ? null : instanceMeant(await record.instances(wanted, offered), wanted)
        const found = await record.incidents({ ...filter, ...(instance !== null && { instance }) })
        return listFrame(found, listColumns, session.shape())
      }),
    )
  prints(list, 'list', listColumns)
  const shown = withWatch(incident.command('show'))
    .description(
      'show one incident: what to do, what died, how we know, how it was fenced, and the outcome of every instance',
    )
    .argument('<incident>', idOrName, incidentId)
    .addOption(new Option('--follow', 'show its progress until it ends').conflicts('watch').default(false))
    .action(async (given: string, options: WatchOptions & { follow: boolean }) => {
      const id = await idMeant(session.record(), given)
      await (options.follow ? follow(session, id) : show(session, options, () => incidentFrame(session, id)))
    })
  prints(shown, 'one', detailColumns, {
    documents: [{ about: 'Without `-c`, JSON and YAML are the whole incident:', fields: incidentDocument }],
    exits: followExits,
  })
  const compared = incident
    .command('diff')
    .description('compare two incidents: durations, counts and decisions side by side')
    .argument('<incident>', idOrName, incidentId)
    .argument('<other>', idOrName, incidentId)
    .option('--all', 'also what is the same in both')
    .action(async (first: string, second: string, { all }: { all?: true }) => {
      const record = session.record()
      const { facts } = await record.compare(await idMeant(record, first), await idMeant(record, second))
      session.list(all === true ? facts : facts.filter(differs), comparedColumns)
    })
  prints(compared, 'list', comparedColumns)
  addIncidentActs(incident, session)
}

const comparedColumns: Column<ComparedFact>[] = [
  {
    title: 'Part',
    type: 'string',
    means: listed(comparedParts),
    value: (it) => it.part,
  },
  { title: 'Fact', type: 'string', means: 'What is compared', value: (it) => it.fact },
  {
    title: 'First',
    type: 'any?',
    means: 'Of the first incident; durations in ms; null: it has none of that',
    value: (it) => it.first,
    text: (it) => comparedText(it, it.first),
  },
  {
    title: 'Second',
    type: 'any?',
    means: 'Of the other one',
    value: (it) => it.second,
    text: (it) => comparedText(it, it.second),
  },
]

function listed(meanings: Readonly<Record<string, string>>): string {
  return Object.keys(meanings)
    .map((word) => `\`${word}\``)
    .join(', ')
}

/** For people the page; whole for programs that ask for no column. */
async function incidentFrame(session: Session, id: string): Promise<Frame> {
  const detail = await session.record().reviewed(id)
  const shape = session.shape()
  const { format, columns, indent } = shape
  if (columns.length > 0 || format === 'csv' || format === 'value') return oneFrame(detail, detailColumns, shape)
  const page = (maxWidth: number | null): string => {
    if (format === 'json') return jsonText(detail, indent)
    return format === 'yaml' ? yamlText(detail) : incidentPage(detail, { maxWidth, paint: shape.paint })
  }
  return { ...oneFrame(detail, detailColumns, shape, page), document: detail }
}
