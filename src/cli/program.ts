/** The command tree, and one run of it: parse, act, exit code. Never throws, never ends the process. */
import { Command, CommanderError, type Option } from 'commander'
import { addActCommands } from './commands/acts.ts'
import { addBrakeCommands } from './commands/brake.ts'
import { addCompletionCommands } from './commands/completion.ts'
import { addConfigurationCommands } from './commands/configuration.ts'
import { addDaemonCommands } from './commands/daemon.ts'
import { addImportCommand } from './commands/import-masakari.ts'
import { addIncidentCommands } from './commands/incidents.ts'
import { addInstanceCommands } from './commands/instances.ts'
import { addJournalCommands } from './commands/journal.ts'
import { addLookCommands } from './commands/look.ts'
import { addMaintenanceCommands } from './commands/maintenance.ts'
import { addNoticeCommands } from './commands/notices.ts'
import { addOpen } from './commands/open.ts'
import { addReportCommand } from './commands/report.ts'
import { addSegmentCommands } from './commands/segments.ts'
import { addWhoami } from './commands/whoami.ts'
import type { Commands } from './composition.ts'
import { pathOf, printedBy } from './described.ts'
import { exitCodes, reportOf } from './exit-codes.ts'
import { addShapeOptions } from './output/shape-options.ts'
import { printable } from './output/width.ts'
import { localWhy, refuseElsewhere, remoteOptions } from './reach.ts'
import { Session, type GlobalOptions } from './session.ts'
import type { Terminal } from './terminal-port.ts'

/** Every command, on a session that nothing is asked of until one runs. */
export function commandTree(commands: Commands, terminal: Terminal): { program: Command; session: Session } {
  const program = new Command('lifeboat')
  const session = new Session(commands, terminal, () => program.opts<GlobalOptions>())
  program
    .description('Instance HA for OpenStack: brings the instances of a dead host back on other hosts.')
    .version(commands.build, '-V, --version', 'print the version, and how this program was built')
    .option(
      '--config <file>',
      'configuration file, or directory of *.yaml (default: $LIFEBOAT_CONFIG, else /etc/lifeboat/lifeboat.yaml)',
    )
    .option(
      '--url <url>',
      'ask the daemon of another machine, with your OS_* login: https://HOST:9394 (default: $LIFEBOAT_URL, else the socket here)',
    )
    .option(
      '--cacert <file>',
      'with --url: file of the CA certificates to trust (default: $OS_CACERT, else those of this machine)',
    )
    .addHelpText('after', `\nExit codes:\n${exitCodeHelp()}`)
    .configureHelp({ visibleGlobalOptions: globalOptionsOf, showGlobalOptions: true })
  addShapeOptions(program)
  addDaemonCommands(program, session)
  addConfigurationCommands(program, session)
  addLookCommands(program, session)
  addWhoami(program, session)
  addOpen(program, session)
  addSegmentCommands(program, session)
  addIncidentCommands(program, session)
  addInstanceCommands(program, session)
  addActCommands(program, session)
  addBrakeCommands(program, session)
  addMaintenanceCommands(program, session)
  addNoticeCommands(program, session)
  addJournalCommands(program, session)
  addReportCommand(program, session)
  addImportCommand(program, session)
  addCompletionCommands(program, session)
  return { program, session }
}

/** Runs one command line (without node and script) and returns the exit code. Never throws, never exits. */
export async function runCli(argv: string[], terminal: Terminal, commands: Commands): Promise<number> {
  const { program, session } = commandTree(commands, terminal)
  program.hook('preAction', async (_program, action) => {
    // Before anything is asked of a cloud or a daemon. Export has formats of its own.
    if (action.name() !== 'export') session.shape()
    refuseElsewhere(session, action, program.opts<GlobalOptions>())
    await session.prepare()
  })
  tame(program, terminal)
  try {
    await program.parseAsync(argv, { from: 'user' })
    return session.exitCode
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? exitCodes.ok.code : exitCodes.usage.code
    const { exit, line, details } = reportOf(thrown)
    terminal.stderr(`lifeboat: ${printable(line)}\n${details.map((detail) => `  ${printable(detail)}\n`).join('')}`)
    return exit
  }
}

/** Commander must neither exit nor write by itself, in any subcommand. */
function tame(command: Command, terminal: Terminal): void {
  command.exitOverride()
  command.showSuggestionAfterError()
  command.showHelpAfterError(`  see \`${pathOf(command)} --help\``)
  command.configureOutput({
    writeOut: (text) => terminal.stdout(text),
    writeErr: (text) => terminal.stderr(text),
    outputError: (text, write) => write(`lifeboat: ${text.replace(/^error: /, '')}`),
  })
  for (const inner of command.commands) tame(inner, terminal)
}

/** In the help of a command: those options of every command that mean something for it. */
function globalOptionsOf(command: Command): Option[] {
  const program = rootOf(command)
  if (command === program) return []
  const elsewhere = localWhy(command) === null
  const offered = (named: readonly string[]): Option[] =>
    program.options.filter(
      ({ long }) => named.includes(long ?? '') && (elsewhere || !remoteOptions.includes(long ?? '')),
    )
  if ((printedBy(command)?.fields.length ?? 0) > 0)
    return offered(program.options.map(({ long }) => long ?? '').filter((long) => long !== '--version'))
  // Export has formats of its own; the other commands print a sentence at most.
  const named = command.name() === 'export' ? ['--config', '--format'] : ['--config', ...remoteOptions]
  return offered(named)
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent)
}

function exitCodeHelp(): string {
  return Object.values(exitCodes)
    .map(({ code, means }) => `  ${String(code).padEnd(4)}${means}\n`)
    .join('')
}
