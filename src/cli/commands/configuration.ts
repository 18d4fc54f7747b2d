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
    means: 'The value in force; secrets are masked',
    value: shownValue,
    text: (option) => valueText(shownValue(option)),
  },
]

const originColumns: Column<EffectiveOption>[] = [
  ...optionColumns,
  {
    title: 'Origin',
    type: 'string',
    means: 'Where it comes from: `file:line`, `default` or `$VARIABLE`',
    value: ({ origin }) => origin,
  },
  { title: 'Reload', type: 'string', means: 'Whether a reload changes it', value: ({ reload }) => reload },
]

const reportColumns: Column<ReloadReport>[] = [
  listColumn('Changed', 'Options that changed and are in force', ({ changed }) => changed, 'nothing'),
  listColumn(
    'Waiting For Restart',
    'Options that changed and take effect at the next restart',
    ({ waiting }) => waiting,
    'nothing',
  ),
  {
    title: 'Mode',
    type: 'object?',
    means: '`from` and `to`; null: unchanged',
    value: ({ mode }) => mode,
    text: ({ mode }) => (mode === null ? 'unchanged' : `${mode.from} → ${mode.to}`),
  },
  listColumn('Files', 'The files that were read', ({ files }) => files, 'none, all defaults'),
  listColumn('Warnings', 'Settings that are valid but risky', ({ warnings }) => warnings, 'none'),
]

const levelColumns: Column<LogLevelState>[] = [
  { title: 'Level', type: 'string', means: 'The level in force', value: ({ level }) => level },
  { title: 'Configured', type: 'string', means: 'The configured level', value: ({ configured }) => configured },
  {
    title: 'Until',
    type: 'time?',
    means: 'When the configured level returns; null: at the next reload',
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
    .description('show every option in force, secrets masked; yaml and json print one document like the file')
    .option(
      '--origins',
      'also show where each comes from (file:line, default, $VARIABLE) and whether a reload changes it',
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
    documents: [
      {
        about: 'without `--origins` and `-c`: one document like the configuration file',
        fields: [],
      },
    ],
  })
  const checked = config
    .command('check')
    .description('check the files, the secrets and the workflows; asks no cloud (lifeboat check does)')
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
        ? '; it sets nothing, so every option has its default: no host is fenced, no probe is asked'
        : ''
      say(`valid: ${what}${defaults}; mode ${read.mode}, ${counted(workflows.length, 'workflow')}`)
    })
  ends(checked, { 78: 'something is not valid' })
  const reload = program
    .command('reload')
    .description('reload the configuration; on any error the current one stays in force')
    .option('--reason <text>', 'why, for the journal', text)
    .option('--by <name>', 'your name, if you share the account (root)', text)
    .action(async ({ reason = '', by }: { reason?: string; by?: string }) => {
      const report = await session.daemon().reload({ by: session.by(by), reason })
      if (session.shape().format === 'table' && session.shape().columns.length === 0)
        for (const line of reportLines(report)) say(line)
      else session.one(report, reportColumns)
    })
  prints(reload, 'one', reportColumns, { exits: { 78: 'rejected; the current configuration stays in force' } })
  const level = program
    .command('log-level')
    .description("set the level of the daemon's log; without an argument: show it")
    .addArgument(new Argument('[level]').choices(levels))
    .option(
      '--for <duration>',
      'return to the configured level after this time, e.g. 10m (default: at the next reload)',
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
      : [
          mode.to === 'armed'
            ? 'Armed: from now on Lifeboat recovers hosts'
            : 'Observing: from now on Lifeboat sends nothing',
        ]),
    changed.length === 0 ? 'Nothing changed' : `In force: ${changed.join(', ')}`,
    ...(waiting.length === 0 ? [] : [`Takes effect at the next restart: ${waiting.join(', ')}`]),
    ...warnings.map((warning) => `warning: ${warning}`),
  ]
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
