/** `maintenance start | withdraw | end | list`, and `host maintenance` as the short way for one host. */
import { InvalidArgumentError, type Command } from 'commander'
import { localText } from '../../domain/local-time.ts'
import { scopeText, type Scope } from '../../domain/order.ts'
import { prints } from '../described.ts'
import type { Session } from '../session.ts'
import { printable } from '../output/width.ts'
import { show, withWatch, type WatchOptions } from '../watch.ts'
import { clockTime } from '../wording.ts'
import { maintenanceColumns, maintenanceFrame } from './maintenance-list.ts'
import { lengthOf, orderLength, requiredScope, text, untilText, withScope, type ScopeOptions } from './order-options.ts'

interface StartOptions {
  reason: string
  at?: string
  for?: number
}

export function addMaintenanceCommands(program: Command, session: Session): void {
  const maintenance = program.command('maintenance').description('hosts whose silence opens no incident')
  withScope(maintenance.command('start'), { cloud: true })
    .description('open no incident for silent hosts in this scope, and hold the open ones')
    .requiredOption('--reason <text>', 'why', text)
    .option('--at <time>', atHelp, text)
    .option('--for <duration>', 'end after this time, e.g. 4h (default: until someone ends it)', orderLength)
    .action((options: ScopeOptions & StartOptions) => start(session, requiredScope(options), options))
  maintenance
    .command('withdraw')
    .description('withdraw a planned maintenance that has not begun')
    .argument('<plan>', 'its number: `maintenance list` shows it', planNumber)
    .requiredOption('--reason <text>', 'why', text)
    .action(async (plan: number, { reason }: { reason: string }) => {
      await session.daemon().withdrawMaintenance({ by: session.by(), reason, plan })
      session.terminal.stdout(`Maintenance ${plan} is withdrawn: it will not begin\n`)
    })
  withScope(maintenance.command('end'), { cloud: true })
    .description('end maintenance; hosts that are still down are then recovered')
    .requiredOption('--reason <text>', 'why', text)
    .action((options: ScopeOptions & { reason: string }) => end(session, requiredScope(options), options.reason))
  const list = withWatch(maintenance.command('list'))
    .description('list maintenance and pauses: in force, planned, and the next of each calendar window')
    .action((options: WatchOptions) =>
      show(session, options, async () => maintenanceFrame(await session.daemon().maintenance(), session.shape())),
    )
  prints(list, 'list', maintenanceColumns)
}

/** `host maintenance HOST`. */
export function addHostMaintenance(host: Command, session: Session): void {
  host
    .command('maintenance')
    .description(
      'put one host in maintenance, as maintenance start --host does: its silence opens no incident; --end ends it',
    )
    .argument('<host>')
    .requiredOption('--reason <text>', 'why', text)
    .option('--at <time>', atHelp, text)
    .option('--for <duration>', 'end after this time, e.g. 4h (default: until someone ends it)', orderLength)
    .option('--end', 'end its maintenance', false)
    .action(async (name: string, options: StartOptions & { end: boolean }, command: Command) => {
      for (const other of ['for', 'at'] as const)
        if (options.end && options[other] !== undefined)
          command.error(`error: option '--end' cannot be used with '--${other}'`)
      const scope: Scope = { kind: 'host', name: text(name) }
      await (options.end ? end(session, scope, options.reason) : start(session, scope, options))
    })
}

/** Which times are allowed the daemon says: it knows the zone of its machine. */
const atHelp =
  'begin then: local time of the daemon’s machine ("2026-11-23 02:00"), or with an offset ("2026-11-23T02:00+01:00"); default: now'

function planNumber(given: string): number {
  if (!/^[1-9]\d{0,14}$/.test(given)) throw new InvalidArgumentError('It must be the number of a plan, e.g. 4711.')
  return Number(given)
}

async function start(session: Session, scope: Scope, options: StartOptions): Promise<void> {
  const { reason, at, for: forMs } = options
  if (at !== undefined) return plan(session, scope, reason, at, forMs)
  const order = { by: session.by(), reason, ...lengthOf(forMs), scope }
  const { until } = await session.daemon().startMaintenance(order)
  session.terminal.stdout(printable(`${startOf(scope)} is in maintenance ${untilText(until)}; ${then(scope)}`) + '\n')
}

async function plan(session: Session, scope: Scope, reason: string, from: string, forMs?: number): Promise<void> {
  const daemon = session.daemon()
  // Before the order: were its answer lost, the plan would stand and look refused.
  const { timezone } = await daemon.maintenance()
  const order = { by: session.by(), reason, from, ...lengthOf(forMs), scope }
  const planned = await daemon.planMaintenance(order)
  const both = (iso: string): string => `${localText(iso, timezone)} (${clockTime(iso)})`
  const until = planned.until === null ? untilText(null) : `until ${both(planned.until)}`
  const what = `${startOf(scope)} goes into maintenance at ${both(planned.from)} ${until}; ${then(scope)}`
  const back = `Plan ${planned.plan}; to withdraw it: lifeboat maintenance withdraw ${planned.plan} --reason "…"`
  session.terminal.stdout(`${printable(what)}\n${back}\n`)
}

function then({ kind }: Scope): string {
  return kind === 'host'
    ? 'if it is down when the maintenance ends, Lifeboat recovers it'
    : 'Lifeboat recovers any of its hosts that is down when the maintenance ends'
}

async function end(session: Session, scope: Scope, reason: string): Promise<void> {
  await session.daemon().endMaintenance({ by: session.by(), reason, scope })
  session.terminal.stdout(printable(`Maintenance of ${scopeText(scope)} ended`) + '\n')
}

function startOf(scope: Scope): string {
  const name = scopeText(scope)
  return name.charAt(0).toUpperCase() + name.slice(1)
}
