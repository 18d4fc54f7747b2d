/** The configuration: what holds and why, whether it is valid, and putting it in force in the running daemon. */
import { Argument, type Command } from 'commander'
import { effectiveDocument, setsNothing, shownValue, type EffectiveOption } from '../../config/shown-options.ts'
import type { LogLevel, LogLevelState, ReloadReport } from '../../domain/operations.ts'
import { jsonText, listColumn, yamlText, type Column } from '../output/formats.ts'
import { printable } from '../output/width.ts'
import { ends, prints } from '../described.ts'
import type { Session } from '../session.ts'
import { clockTime, counted } from '../wording.ts'
import { endOf, orderLength, text } from './order-options.ts'

const optionColumns: Column<EffectiveOption>[] = [
  { title: 'Option', type: 'string', means: 'Its name, with dots', value: ({ name }) => name },
  {
    title: 'Value',
    type: 'any',
    means: 'What holds; secrets are masked',
    value: shownValue,
    text: (option) => valueText(shownValue(option)),
  },
]

const originColumns: Column<EffectiveOption>[] = [
  ...optionColumns,
  {
    title: 'Origin',
    type: 'string',
    means: 'Where it is from: `file:line`, `default` or `$VARIABLE`',
    value: ({ origin }) => origin,
  },
  { title: 'Reload', type: 'string', means: 'Whether a reload changes it', value: ({ reload }) => reload },
]

const reportColumns: Column<ReloadReport>[] = [
  listColumn('Changed', 'Options that hold differently now', ({ changed }) => changed, 'nothing'),
  listColumn(
    'Waiting For Restart',
    'Options that changed and hold only after a restart',
    ({ waiting }) => waiting,
    'nothing',
  ),
  {
    title: 'Mode',
    type: 'object?',
    means: '`from` and `to`; null: as before',
    value: ({ mode }) => mode,
    text: ({ mode }) => (mode === null ? 'as before' : `${mode.from} → ${mode.to}`),
  },
  listColumn('Files', 'What was read', ({ files }) => files, 'none, all defaults'),
  listColumn('Warnings', 'What is valid and unwise', ({ warnings }) => warnings, 'none'),
]

const levelColumns: Column<LogLevelState>[] = [
  { title: 'Level', type: 'string', means: 'What is written now', value: ({ level }) => level },
  { title: 'Configured', type: 'string', means: 'What the configuration says', value: ({ configured }) => configured },
  {
    title: 'Until',
    type: 'time?',
    means: 'When the configured one holds again; null: at the next reload',
    value: ({ until }) => until,
    text: ({ until }) => (until === null ? '-' : clockTime(until)),
  },
]

const levels: LogLevel[] = ['debug', 'info', 'warn', 'error']

export function addConfigurationCommands(program: Command, session: Session): void {
  const say = (line: string): void => session.terminal.stdout(`${printable(line)}\n`)
  const config = program.command('config').description('the configuration files')
  const show = config
    .command('show')
    .description('every option as it holds, secrets masked; yaml and json give one document in the form of the file')
    .option(
      '--origins',
      'also where each is from (file:line, default, $VARIABLE) and whether a reload changes it',
      false,
    )
    .action(({ origins }: { origins: boolean }) => {
      const { options } = session.load({ withSecrets: false })
      const { format, columns } = session.shape()
      if (!origins && columns.length === 0 && (format === 'yaml' || format === 'json'))
        session.terminal.stdout((format === 'json' ? jsonText : yamlText)(effectiveDocument(options)))
      else session.list(options, origins ? originColumns : optionColumns)
    })
  prints(show, 'list', originColumns, {
    documents: {
      about: 'without `--origins` and `-c`: one document in the form of the configuration file',
      fields: [],
    },
  })
  const checked = config
    .command('check')
    .description('whether the files, the secrets and the workflows are valid; reads no cloud (lifeboat check does)')
    .action(async () => {
      const { config: read, files, options, warnings } = session.load({ withSecrets: true })
      const workflows = await session.commands.checkWorkflows(read, [])
      const problems = workflows.flatMap((workflow) => workflow.problems)
      for (const line of problems) say(line)
      for (const { message, advice } of warnings) {
        say(`warning: ${message}`)
        say(`  → ${advice}`)
      }
      if (problems.length > 0) return session.endsAs('config')
      const what = files.length === 0 ? 'no file' : files.join(', ')
      const defaults = setsNothing(options)
        ? '; it sets nothing, so all is at its default: no host is fenced, no probe is asked'
        : ''
      say(`valid: ${what}${defaults}; mode ${read.mode}, ${counted(workflows.length, 'workflow')}`)
    })
  ends(checked, { 78: 'something is not valid' })
  const reload = program
    .command('reload')
    .description('let the running daemon read its configuration again; when anything is wrong, what holds stays')
    .option('--reason <text>', 'why, for the journal', text)
    .option('--by <name>', 'your name, where the account is not yours alone (root)', text)
    .action(async ({ reason = '', by }: { reason?: string; by?: string }) => {
      const report = await session.daemon().reload({ by: by ?? session.by(), reason })
      if (session.shape().format === 'table' && session.shape().columns.length === 0)
        for (const line of reportLines(report)) say(line)
      else session.one(report, reportColumns)
    })
  prints(reload, 'one', reportColumns, { exits: { 78: 'refused; what held before holds on' } })
  const level = program
    .command('log-level')
    .description("the level of the running daemon's log; without an argument: what it is")
    .addArgument(new Argument('[level]').choices(levels))
    .option(
      '--for <duration>',
      'back to the configured one after this time, e.g. 10m (default: until the next reload)',
      orderLength,
    )
    .action(async (wanted: LogLevel | undefined, options: { for?: number }) => {
      const daemon = session.daemon()
      const state =
        wanted === undefined
          ? await daemon.logLevel()
          : await daemon.setLogLevel({ by: session.by(), level: wanted, until: endOf(session, options.for) })
      session.one(state, levelColumns)
    })
  prints(level, 'one', levelColumns)
}

/** What an operator reads after a reload, most important first. */
export function reportLines({ changed, waiting, mode, warnings }: ReloadReport): string[] {
  return [
    ...(mode === null
      ? []
      : [mode.to === 'armed' ? 'Armed: recoveries act from now on' : 'Observing: nothing is sent any more']),
    changed.length === 0 ? 'Nothing changed' : `In force: ${changed.join(', ')}`,
    ...(waiting.length === 0 ? [] : [`Only after a restart: ${waiting.join(', ')}`]),
    ...warnings.map((warning) => `warning: ${warning}`),
  ]
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
