/** `lifeboat rehearse`: the scenarios there are, one of them played, or the rules of a configuration tried. */
import type { Command } from 'commander'
import type { RehearsalLine } from '../../rehearsal/performance.ts'
import { prints } from '../described.ts'
import { CliFailure } from '../exit-codes.ts'
import { choose, jsonText, record, renderList, type Column } from '../output/formats.ts'
import { printable } from '../output/width.ts'
import type { Session } from '../session.ts'

const scenarioColumns: Column<{ name: string; title: string }>[] = [
  { title: 'Name', type: 'string', means: 'The argument of `rehearse`', whole: true, value: ({ name }) => name },
  { title: 'Title', type: 'string', means: 'What happens in it', value: ({ title }) => title },
]

const lineColumns: Column<RehearsalLine>[] = [
  {
    title: 'Since',
    type: 'string?',
    means: 'Simulated time since the scenario began; null before and after',
    value: (it) => it.since,
  },
  { title: 'Seq', type: 'integer?', means: 'Of the journal entry; null where there is none', value: (it) => it.seq },
  { title: 'Actor', type: 'string?', means: 'As in `journal list`', value: (it) => it.actor },
  { title: 'Host', type: 'string?', means: 'The host it is about', value: (it) => it.host },
  { title: 'Instance', type: 'string?', means: 'The instance it is about, by name', value: (it) => it.instance },
  {
    title: 'Kind',
    type: 'string',
    means: 'Of the entry; or `scenario` (the title), `script` (what is done to the cloud), `end` (how all ended)',
    value: (it) => it.kind,
  },
  { title: 'Message', type: 'string', means: 'What happened, in words', value: (it) => it.message },
]

/** Where nothing says how wide: a title is folded, a name never breaks. */
const usualWidth = 120

export function addRehearsal(program: Command, session: Session): void {
  const rehearsal = program
    .command('rehearse')
    .description(
      'play a scenario on a simulated cloud and show what Lifeboat does (with --config: by the rules of that file); touches nothing real',
    )
    .argument(
      '[scenario]',
      'a name, or the path of a scenario.yaml; default: list all scenarios; with --config: let hosts of each segment die',
    )
    .option('--raw', 'print every journal entry instead of sentences', false)
    .option('--fast', 'play as fast as possible instead of live', false)
    .addHelpText(
      'after',
      '\nWith --config, hosts die on a simulated cloud that is made from that file: its hosts and segments, its brake, owner policy\n' +
        'and workflows. It contacts nothing real. If you also give a scenario, it must be a file about hosts of that configuration.',
    )
    .action(async (scenario: string | undefined, { raw, fast }: { raw: boolean; fast: boolean }) => {
      const config = session.namedConfig()
      if (config !== null)
        await session.commands.rehearseOwn(teller(session), { config, scenario: ownFile(scenario), raw, live: !fast })
      else if (scenario === undefined) await list(session)
      else await session.commands.rehearse(teller(session), { scenario, raw, live: !fast })
    })
  prints(rehearsal, 'list', scenarioColumns, {
    exits: { 78: 'the scenario, the configuration or its workflows are not valid' },
    documents: [
      {
        about:
          'With a scenario, `-f json` and `-f value` have a line for each thing that happens, all of them; of each:',
        fields: lineColumns.map(({ title, type, means }) => ({ title, type, means })),
      },
    ],
  })
}

/** Throws CliFailure for a shipped scenario's name: its hosts are not those of anyone's configuration. */
function ownFile(scenario: string | undefined): string | null {
  if (scenario === undefined) return null
  if (scenario.includes('/') || /\.ya?ml$/.test(scenario)) return scenario
  throw new CliFailure('usage', `${scenario} plays on hosts and rules of its own: leave out --config, or name a file`, [
    'with --config, a scenario is the path of a file about hosts of that configuration',
  ])
}

async function list(session: Session): Promise<void> {
  const { screen } = session.terminal
  const shape = session.shape()
  const width = Math.min(usualWidth, screen?.size().columns ?? usualWidth)
  const rows = await session.commands.scenarios()
  session.terminal.stdout(
    renderList(rows, scenarioColumns, { ...shape, maxWidth: (session.namedWidth() ?? width) || null }),
  )
}

/** How each line is told in the format asked for. Throws CliFailure. */
function teller(session: Session): (line: RehearsalLine) => void {
  const { terminal } = session
  const shape = session.shape()
  const columns = choose(lineColumns, shape.columns)
  switch (shape.format) {
    case 'json':
      return (line) => terminal.stdout(jsonText(record(columns, line), false))
    case 'value':
      return (line) => terminal.stdout(renderList([line], lineColumns, shape))
    case 'table':
      return ({ text }) => void (text !== null && terminal.stdout(`${printable(text, true)}\n`))
    default:
      throw new CliFailure('usage', `a scenario cannot be printed as ${shape.format}`, [
        'formats with a scenario: table (sentences), value, json (one object per line)',
      ])
  }
}
