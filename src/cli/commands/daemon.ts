/** Commands that need the whole program and no running daemon: run, check, plan, workflow, rehearse, demo. */
import { Option, type Command } from 'commander'
import type { InstancePlan, PlanSubject, ProcessRuling } from '../../domain/plan.ts'
import type { WorkflowCheck } from '../../preflight/workflow-files.ts'
import type { WorkflowTest } from '../../rehearsal/workflow-tests.ts'
import type { DemoOptions } from '../../rehearsal/demo.ts'
import { prints } from '../described.ts'
import { CliFailure } from '../exit-codes.ts'
import { listColumn, type Column } from '../output/formats.ts'
import { toned, type Words } from '../output/words.ts'
import { decisionTone } from '../../domain/text/tone.ts'
import { printable } from '../output/width.ts'
import type { Session } from '../session.ts'
import { counted } from '../wording.ts'
import { addCheck } from './check.ts'
import { planAll, readinessColumns } from './readiness.ts'
import { addRehearsal } from './rehearsal.ts'
import { wholeNumber } from './whole-number.ts'

const planColumns: Column<InstancePlan>[] = [
  { title: 'ID', type: 'string', means: 'Of the instance', whole: true, value: (plan) => plan.instanceId },
  { title: 'Name', type: 'string', means: 'Of the instance', value: (plan) => plan.name },
  {
    title: 'Decision',
    type: 'string',
    means: '`recover`, `leave` or `hold`',
    value: (plan) => plan.decision,
    text: (plan) => toned(decisionTone[plan.decision], plan.decision),
  },
  {
    title: 'Original',
    type: 'string',
    means: 'Its vm_state as Nova has it now',
    value: (plan) => plan.original.instance.vmState,
  },
  {
    title: 'Ends',
    type: 'string?',
    means: 'The state it will be in; null when it is left',
    value: (plan) => plan.expected,
  },
  { title: 'Reason', type: 'string', means: 'The decision as a code', value: (plan) => plan.reason },
  { title: 'Message', type: 'string', means: 'The decision in words', whenNamed: true, value: (plan) => plan.message },
]

const rulingColumns: Column<ProcessRuling & { host: string }>[] = [
  { title: 'Host', type: 'string', means: "Nova's name of it", value: (it) => it.host },
  {
    title: 'Decision',
    type: 'string',
    means: '`disable` its service, or `leave` it to people',
    value: (it) => it.do,
  },
  {
    title: 'Enable',
    type: 'string?',
    means: 'How it is enabled again: `automatic` or `confirm`; null: as its segment says',
    value: (it) => it.enable,
  },
  { title: 'Rule', type: 'string', means: 'The rule of the workflow that decides', value: (it) => it.rule },
  { title: 'Message', type: 'string', means: 'The decision in words', value: (it) => it.because },
]

interface PlanWords {
  all: boolean
  process: boolean
  instance?: string
}

function subjectOf(host: string, { process, instance }: Omit<PlanWords, 'all'>): PlanSubject {
  if (instance !== undefined) return { host, failure: 'instance', instance }
  return { host, failure: process ? 'process' : 'host' }
}

function resultColumn<Row>(wrong: (row: Row) => readonly string[]): Column<Row> {
  const value = (row: Row): 'ok' | 'fail' => (wrong(row).length === 0 ? 'ok' : 'fail')
  const text = (row: Row): Words => toned(value(row) === 'ok' ? 'good' : 'bad', value(row))
  return { title: 'Result', type: 'string', means: '`ok` or `fail`', value, text }
}

const workflowColumns: Column<WorkflowCheck>[] = [
  { title: 'File', type: 'string', means: 'Its path', value: (check) => check.file },
  {
    title: 'Name',
    type: 'string?',
    means: 'Of the workflow; null when it cannot be read',
    value: (check) => check.name,
  },
  { title: 'Revision', type: 'integer?', means: 'Of the workflow', value: (check) => check.revision },
  resultColumn((check) => check.problems),
  listColumn('Problems', '`file:line:col: what is wrong`', (check) => check.problems),
]

const testColumns: Column<WorkflowTest>[] = [
  { title: 'File', type: 'string', means: 'The file of expected plans', value: (test) => test.file },
  { title: 'Line', type: 'integer', means: 'Where the case begins', value: (test) => test.line },
  { title: 'Case', type: 'string', means: 'Its name', value: (test) => test.name },
  resultColumn((test) => test.differences),
  listColumn('Differences', 'What the plan has instead', (test) => test.differences),
]

export function addDaemonCommands(program: Command, session: Session): void {
  const { commands, terminal } = session
  program
    .command('run')
    .description('run the daemon until SIGTERM')
    .action(async () => {
      // systemd starts it again, and it stands by.
      if ((await commands.runDaemon(() => session.load({ withSecrets: true }))) === 'again') session.endsAs('notActive')
    })
  addCheck(program, session)
  const planning = program
    .command('plan')
    .description(
      'show what would happen if this host died now, its nova-compute failed or a guest on it crashed; changes nothing',
    )
    .argument('[host]')
    .option('--all', 'show whether each host could fail safely now, as far as the daemon knows', false)
    .addOption(
      new Option('--instance <name>', 'if the guest of this instance on the host crashed now (name or UUID)').conflicts(
        ['all', 'process'],
      ),
    )
    .addOption(new Option('--process', 'if nova-compute of the host failed now').conflicts('all').default(false))
    .action(async (host: string | undefined, { all, ...words }: PlanWords) => {
      if (all !== (host === undefined)) throw new CliFailure('usage', 'name one host, or say --all')
      if (host === undefined) return planAll(session)
      const plan = await commands.planFailure(session.config({ withSecrets: true }), subjectOf(host, words))
      if (plan.service !== undefined) return session.list([{ ...plan.service, host }], rulingColumns)
      session.list(plan.instances, planColumns)
      if (session.shape().format !== 'table') return
      if (words.process)
        terminal.stdout(`${printable(host)} would be fenced (on_service_down: fence): this is the plan of the host\n`)
      if (plan.instances.length === 0) terminal.stdout(`${printable(host)} has no instances\n`)
      for (const { name, notes, debts } of plan.instances) {
        for (const note of [...notes, ...debts.map(({ message }) => `will be left behind: ${message}`)])
          terminal.stdout(`${printable(name)}: ${printable(note)}\n`)
      }
    })
  prints(planning, 'list', planColumns, {
    documents: [
      { about: 'With `--all`, each host:', fields: readinessColumns },
      {
        about: 'With `--process`, unless its segment fences a host whose nova-compute is down (`on_service_down`):',
        fields: rulingColumns,
      },
    ],
  })
  const workflow = program.command('workflow').description('recovery workflows')
  const checked = workflow
    .command('check')
    .description('check that workflows are valid; default: all of the configured directory')
    .argument('[files...]')
    .action(async (files: string[]) => {
      const checks = await commands.checkWorkflows(session.config({ withSecrets: false }), files)
      session.list(checks, workflowColumns)
      if (checks.some(({ problems }) => problems.length > 0)) session.endsAs('config')
    })
  prints(checked, 'list', workflowColumns, { exits: { 78: 'a workflow is not valid' } })
  const tested = workflow
    .command('test')
    .description(
      'check that workflows make the plans that their tests expect; default: the tests beside the configured directory',
    )
    .argument('[files...]')
    .action(async (files: string[]) => {
      const tests = await commands.testWorkflows(session.config({ withSecrets: false }), files)
      const failed = tests.filter(({ differences }) => differences.length > 0)
      const { format, columns } = session.shape()
      const onScreen = format === 'table' && columns.length === 0
      // People want to read what is wrong, not a hundred lines that are right.
      if (!onScreen || failed.length > 0) session.list(onScreen ? failed : tests, testColumns)
      if (onScreen) session.say(`${counted(tests.length, 'case')}: ${failed.length} failed`)
      if (failed.length > 0) session.endsAs('failed')
    })
  prints(tested, 'list', testColumns, { exits: { 1: 'a plan is not as expected', 78: 'a file is not valid' } })
  program
    .command('generate', { hidden: true })
    .description('for developers: write the generated files of docs and config')
    .action(async () => {
      for (const path of await commands.generate()) terminal.stdout(`${path}\n`)
    })
  addRehearsal(program, session)
  program
    .command('demo')
    .description('watch a simulated host die and its instances come back; touches nothing real')
    .option('--hosts <number>', 'hosts of the simulated cloud', wholeNumber(leastHosts, mostOfAny), 4)
    .option('--instances <number>', 'instances of the dying host', wholeNumber(1, mostOfAny), 12)
    .option('--keep', 'keep its state directory, to look at the journal', false)
    .addOption(
      new Option('--web', 'open the pages on a simulated cloud of 20 hosts, and pull its plugs there')
        .conflicts(['hosts', 'instances', 'keep'])
        .default(false),
    )
    .addOption(
      new Option('--port <number>', 'with --web: where it listens on this machine (default: any free port)').argParser(
        wholeNumber(1, highestPort),
      ),
    )
    .action(({ web, port, ...options }: DemoWords) => {
      const write = (text: string): void => terminal.stdout(text)
      if (web) return commands.demoPages(write, { port: port ?? 0 })
      if (port !== undefined) throw new CliFailure('usage', '--port is for the pages: add --web')
      return commands.demo(write, options)
    })
}

interface DemoWords extends DemoOptions {
  web: boolean
  port?: number
}

const highestPort = 65_535

/** One dies, one takes its instances. */
const leastHosts = 2
const mostOfAny = 9999
