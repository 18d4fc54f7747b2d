/** The command line as a whole: its grammar, its errors and its exit code. What each command does is in commands/. */
import { Command, CommanderError } from 'commander'
import { addConfigurationCommands } from './commands/configuration.ts'
import { addDaemonCommands } from './commands/daemon.ts'
import { addActCommands } from './commands/acts.ts'
import { addIncidentCommands } from './commands/incidents.ts'
import { addJournalCommands } from './commands/journal.ts'
import { addLookCommands } from './commands/look.ts'
import { addMaintenanceCommands } from './commands/maintenance.ts'
import type { Commands } from './composition.ts'
import { exitCodes, reportOf } from './exit-codes.ts'
import { printable } from './output/width.ts'
import { Session, type GlobalOptions, type Terminal } from './session.ts'

/** Every command with its options, not yet run: also what the manual page is made from. */
export function commandTree(session: Session): Command {
  const program = new Command('lifeboat')
  program
    .description('Instance-HA recovery for OpenStack: brings the instances of a dead host back elsewhere.')
    .version(session.commands.version, '-V, --version', 'print the version')
    .option(
      '--config <file>',
      'configuration file, or directory of *.yaml (default: $LIFEBOAT_CONFIG, else /etc/lifeboat/lifeboat.yaml)',
    )
    .option('-f, --format <format>', 'table, json, yaml, csv or value')
    .option('-c, --column <name>', 'only this column; may be repeated', (name: string, all?: string[]) => [
      ...(all ?? []),
      name,
    ])
    .addHelpText('after', `\nExit codes:\n${exitCodeHelp()}`)
  addDaemonCommands(program, session)
  addConfigurationCommands(program, session)
  addLookCommands(program, session)
  addIncidentCommands(program, session)
  addActCommands(program, session)
  addMaintenanceCommands(program, session)
  addJournalCommands(program, session)
  return program
}

/** Runs one command line (without node and script) and returns the exit code. Never throws, never exits. */
export async function runCli(argv: string[], terminal: Terminal, commands: Commands): Promise<number> {
  const session: Session = new Session(commands, terminal, () => program.opts<GlobalOptions>())
  const program = commandTree(session)
  program.hook('preAction', (_program, action) => {
    // Before anything is asked of a cloud or a daemon. Export has formats of its own.
    if (action.name() !== 'export') session.shape()
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
  command.configureOutput({
    writeOut: (text) => terminal.stdout(text),
    writeErr: (text) => terminal.stderr(text),
    outputError: (text, write) => write(`lifeboat: ${text.replace(/^error: /, '')}`),
  })
  for (const inner of command.commands) tame(inner, terminal)
}

function exitCodeHelp(): string {
  return Object.values(exitCodes)
    .map(({ code, means }) => `  ${String(code).padEnd(4)}${means}\n`)
    .join('')
}
