/** `lifeboat import-masakari`: the fragment of our configuration, the report, and on request the maintenance orders. */
import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { ensureError } from '../../domain/errors.ts'
import { scopeText, type Scope } from '../../domain/order.ts'
import type { MasakariImport } from '../../masakari/masakari-import.ts'
import { prints } from '../described.ts'
import { CliFailure } from '../exit-codes.ts'
import type { Column } from '../output/formats.ts'
import { printable } from '../output/width.ts'
import { wrapLine } from '../output/wrap.ts'
import type { Session } from '../session.ts'
import { text } from './order-options.ts'

const columns: Column<MasakariImport>[] = [
  { title: 'From', type: 'string', means: 'The cloud', value: (it) => it.from },
  { title: 'Segments', type: 'integer', means: 'How many Masakari has', value: (it) => it.segments },
  { title: 'Hosts', type: 'integer', means: 'How many Masakari has', value: (it) => it.hosts },
  { title: 'YAML', type: 'string', means: 'The fragment of lifeboat.yaml', value: (it) => it.yaml },
  {
    title: 'Maintenance',
    type: 'list of objects',
    means: 'Maintenance to order: `scope` and `reason`',
    value: (it) => it.maintenance,
  },
  {
    title: 'Notes',
    type: 'list of strings',
    means: 'What differs or has no counterpart in Lifeboat',
    value: (it) => it.notes,
  },
]

interface ImportOptions {
  output?: string
  applyMaintenance: boolean
  reason?: string
}

export function addImportCommand(program: Command, session: Session): void {
  const command = program
    .command('import-masakari')
    .description("read Masakari's segments, hosts and maintenance, and write them as a configuration; reads only")
    .option('--output <file>', 'write the fragment to this file, which must not exist (default: print it)')
    .option('--apply-maintenance', 'also put these scopes in maintenance, in the running daemon', false)
    .option('--reason <text>', 'the reason for the maintenance (default: what Masakari says)', text)
    .action((options: ImportOptions) => importMasakari(session, options))
  prints(command, 'one', columns, { exits: { 1: 'something was not done, e.g. the daemon refused an order' } })
}

async function importMasakari(session: Session, options: ImportOptions): Promise<void> {
  const made = await session.commands.importMasakari(session.config({ withSecrets: true }))
  const forPeople = session.shape().format === 'table' && session.shape().columns.length === 0
  if (options.output !== undefined) writeNew(options.output, made.yaml)
  if (!forPeople) session.one(made, columns)
  else if (options.output === undefined) session.terminal.stdout(made.yaml)
  if (forPeople) {
    // The fragment alone on standard output: it can go straight into a file.
    const report = reportText(made, options)
    if (options.output === undefined) session.terminal.stderr(report)
    else session.terminal.stdout(report)
  }
  if (options.applyMaintenance) await order(session, made, options.reason)
}

function reportText({ from, segments, hosts, maintenance, notes }: MasakariImport, options: ImportOptions): string {
  const paragraph = (line: string): string =>
    wrapLine(printable(line), 96)
      .map((part, index) => `${index === 0 ? '- ' : '  '}${part}\n`)
      .join('')
  const to = options.output === undefined ? '' : `; the fragment is in ${options.output}`
  const lines = [`\nMasakari of ${printable(from)}: ${segments} segments, ${hosts} hosts${printable(to)}\n`]
  lines.push('\nWhat you need to know\n', ...notes.map(paragraph))
  if (maintenance.length > 0 && !options.applyMaintenance)
    lines.push(
      '\nMaintenance to order once the daemon runs with these segments (or pass --apply-maintenance)\n',
      ...maintenance.map(({ scope, reason }) => `  ${commandOf(scope, options.reason ?? reason)}\n`),
    )
  return lines.join('')
}

function commandOf(scope: Scope, reason: string): string {
  const name = shellWord(scope.name ?? '')
  const what = scope.kind === 'host' ? `host maintenance ${name}` : `maintenance start --segment ${name}`
  return printable(`lifeboat ${what} --reason ${shellWord(reason)}`)
}

/** As a shell takes it, whatever people called their segments. */
function shellWord(word: string): string {
  return /^[\w.:/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

async function order(session: Session, { maintenance }: MasakariImport, reason?: string): Promise<void> {
  const daemon = session.daemon()
  const by = session.by()
  let refused = 0
  for (const { scope, reason: said } of maintenance) {
    try {
      await daemon.startMaintenance({ by, reason: reason ?? said, scope })
      session.say(`${scopeText(scope)} is in maintenance until someone ends it`)
    } catch (thrown) {
      // Without a daemon none can be ordered; a single refusal must not keep the others out.
      if (thrown instanceof CliFailure) throw thrown
      refused += 1
      session.terminal.stderr(`${printable(`${scopeText(scope)}: ${ensureError(thrown).message}`)}\n`)
    }
  }
  if (refused > 0) session.endsAs('failed')
}

function writeNew(file: string, yaml: string): void {
  try {
    writeFileSync(file, yaml, { flag: 'wx' })
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST')
      throw new CliFailure('failed', `${file} exists already; it is not overwritten`, [], { cause: thrown })
    throw new CliFailure('failed', `${file} cannot be written: ${ensureError(thrown).message}`, [], { cause: thrown })
  }
}
