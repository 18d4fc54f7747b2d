/** Commands that need the whole program and no running daemon: run, check, plan, workflow check, demo. */
import { InvalidArgumentError, type Command } from 'commander'
import type { InstancePlan } from '../../domain/plan.ts'
import type { CheckLine, WorkflowCheck } from '../composition.ts'
import type { Column } from '../output/formats.ts'
import { printable } from '../output/width.ts'
import type { Session } from '../session.ts'

const checkColumns: Column<CheckLine>[] = [
  { title: 'Result', value: (line) => line.result },
  { title: 'What', value: (line) => line.what },
  { title: 'Message', value: (line) => line.message },
  { title: 'Advice', value: (line) => line.advice },
]

const planColumns: Column<InstancePlan>[] = [
  { title: 'ID', value: (plan) => plan.instanceId },
  { title: 'Name', value: (plan) => plan.name },
  { title: 'Decision', value: (plan) => plan.decision },
  { title: 'Original', value: (plan) => plan.original.instance.vmState },
  { title: 'Ends', value: (plan) => plan.expected },
  { title: 'Reason', value: (plan) => plan.reason },
  { title: 'Message', value: (plan) => plan.message },
]

const workflowColumns: Column<WorkflowCheck>[] = [
  { title: 'File', value: (check) => check.file },
  { title: 'Name', value: (check) => check.name },
  { title: 'Revision', value: (check) => check.revision },
  { title: 'Result', value: (check) => (check.problems.length === 0 ? 'ok' : 'fail') },
  { title: 'Problems', value: (check) => check.problems, text: (check) => check.problems.join('\n') },
]

const scenarioColumns: Column<{ name: string; title: string }>[] = [
  { title: 'Name', value: ({ name }) => name },
  { title: 'Title', value: ({ title }) => title },
]

export function addDaemonCommands(program: Command, session: Session): void {
  const { commands, terminal } = session
  program
    .command('run')
    .description('run the daemon until SIGTERM')
    .action(async () => {
      await commands.runDaemon(() => session.load({ withSecrets: true }))
    })
  program
    .command('check')
    .description(
      'look at everything the daemon needs, without side effects: configuration, credentials, permissions, fencing',
    )
    .action(() => check(session))
  program
    .command('plan')
    .description('what would happen if this host died now; reads only')
    .argument('<host>')
    .action(async (host: string) => {
      const plan = await commands.planHost(session.config({ withSecrets: true }), host)
      session.list(plan.instances, planColumns)
      if (session.shape().format !== 'table') return
      if (plan.instances.length === 0) terminal.stdout(`There is no instance on ${printable(host)}\n`)
      for (const { name, notes, debts } of plan.instances) {
        for (const note of [...notes, ...debts.map(({ message }) => `will be left behind: ${message}`)])
          terminal.stdout(`${printable(name)}: ${printable(note)}\n`)
      }
    })
  program
    .command('workflow')
    .description('recovery workflows')
    .command('check')
    .description('whether workflows are valid; default: all of the configured directory')
    .argument('[files...]')
    .action(async (files: string[]) => {
      const checks = await commands.checkWorkflows(session.config({ withSecrets: false }), files)
      session.list(checks, workflowColumns)
      if (checks.some(({ problems }) => problems.length > 0)) session.endsAs('config')
    })
  program
    .command('generate', { hidden: true })
    .description('for developers: write the generated files of docs and config again')
    .action(async () => {
      for (const path of await commands.generate()) terminal.stdout(`${path}\n`)
    })
  program
    .command('rehearse')
    .description(
      'play a scenario on a simulated cloud: faults, acts and what Lifeboat makes of them; touches nothing real',
    )
    .argument('[scenario]', 'a name, or the path of a scenario.yaml; default: list those there are')
    .option('--raw', 'every journal entry instead of sentences', false)
    .option('--fast', 'as fast as it goes instead of live', false)
    .action(async (scenario: string | undefined, { raw, fast }: { raw: boolean; fast: boolean }) => {
      if (scenario === undefined) session.list(commands.scenarios(), scenarioColumns)
      else await commands.rehearse((text) => terminal.stdout(text), { scenario, raw, live: !fast })
    })
  program
    .command('demo')
    .description('a simulated cloud, a dying host and its recovery, here and now; touches nothing real')
    .option('--hosts <number>', 'hosts of the simulated cloud', atLeastTwo, 4)
    .option('--instances <number>', 'instances of the dying host', wholeNumber, 12)
    .option('--keep', 'keep its state directory, to look at the journal', false)
    .action((options: { hosts: number; instances: number; keep: boolean }) =>
      commands.demo((text) => terminal.stdout(text), options),
    )
}

/** Defaults alone never fence and know no segment: somebody forgot to name the file. */
const noFile: CheckLine = {
  result: 'warn',
  what: 'configuration',
  message: 'no file: all is at its default',
  advice: 'Name yours with --config or $LIFEBOAT_CONFIG',
}

const openFile = 'Take it from others, or keep the secret in a file of its own (password_file)'

async function check(session: Session): Promise<void> {
  const lines: CheckLine[] = []
  const { format, columns } = session.shape()
  const asTheyCome = format === 'table' && columns.length === 0
  const found = (line: CheckLine): void => {
    lines.push(line)
    if (asTheyCome) session.terminal.stdout(checkText(line))
  }
  const { config, warnings } = session.load({ withSecrets: true })
  if (session.configPath() === null) found(noFile)
  for (const message of warnings) found({ result: 'warn', what: 'configuration', message, advice: openFile })
  for await (const line of session.commands.check(config)) found(line)
  const failed = lines.filter(({ result }) => result === 'fail').length
  const warned = lines.filter(({ result }) => result === 'warn').length
  if (asTheyCome) session.terminal.stdout(`\n${lines.length} checks: ${failed} failed, ${warned} with a warning\n`)
  else session.list(lines, checkColumns)
  if (failed > 0) session.endsAs('failed')
}

function checkText({ what, result, message, advice }: CheckLine): string {
  const line = `${result.padEnd(4)}  ${printable(what)}: ${printable(message)}\n`
  return advice === null || result === 'ok' ? line : `${line}      → ${printable(advice)}\n`
}

function wholeNumber(text: string): number {
  if (!/^\d{1,4}$/.test(text) || Number(text) < 1)
    throw new InvalidArgumentError('It must be a whole number from 1 to 9999.')
  return Number(text)
}

function atLeastTwo(text: string): number {
  const number = wholeNumber(text)
  if (number < 2) throw new InvalidArgumentError('It must be at least 2: one dies, one takes its instances.')
  return number
}
