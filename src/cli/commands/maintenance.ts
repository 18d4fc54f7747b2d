/** `maintenance start | end | list`, and `host maintenance` as the short way for one host. */
import type { Command } from 'commander'
import { scopeText, type Scope, type Order } from '../../domain/order.ts'
import type { Column } from '../output/formats.ts'
import { prints } from '../described.ts'
import { listFrame } from '../frame.ts'
import { printable } from '../output/width.ts'
import type { Session } from '../session.ts'
import { show, withWatch, type WatchOptions } from '../watch.ts'
import { clockTime } from '../wording.ts'
import { endOf, orderLength, requiredScope, text, untilText, withScope, type ScopeOptions } from './order-options.ts'

const columns: Column<Order>[] = [
  { title: 'Kind', type: 'string', means: '`maintenance` or `pause`', value: (it) => it.kind },
  {
    title: 'Scope',
    type: 'object',
    means: 'Of what: `kind` (`host`, `segment`, `cloud`) and `name`',
    value: (it) => it.scope,
    text: (it) => scopeText(it.scope),
  },
  { title: 'By', type: 'string', means: 'Who ordered it', value: (it) => it.by },
  { title: 'Since', type: 'time', means: 'Since when', value: (it) => it.since, text: (it) => clockTime(it.since) },
  {
    title: 'Until',
    type: 'time?',
    means: 'When it ends by itself; null: by hand',
    value: (it) => it.until,
    text: (it) => (it.until === null ? 'until someone ends it' : clockTime(it.until)),
  },
  { title: 'Reason', type: 'string', means: 'Why', value: (it) => it.reason },
]

export function addMaintenanceCommands(program: Command, session: Session): void {
  const maintenance = program.command('maintenance').description('hosts whose silence opens no incident')
  withScope(maintenance.command('start'), { cloud: true })
    .description('open no incident for silent hosts in this scope, and hold the open ones')
    .requiredOption('--reason <text>', 'why', text)
    .option('--for <duration>', 'end after this time, e.g. 4h (default: until someone ends it)', orderLength)
    .action((options: ScopeOptions & { reason: string; for?: number }) =>
      start(session, requiredScope(options), options.reason, options.for),
    )
  withScope(maintenance.command('end'), { cloud: true })
    .description('end maintenance; hosts that are still down are then recovered')
    .requiredOption('--reason <text>', 'why', text)
    .action((options: ScopeOptions & { reason: string }) => end(session, requiredScope(options), options.reason))
  const list = withWatch(maintenance.command('list'))
    .description('list every maintenance and pause in force')
    .action((options: WatchOptions) =>
      show(session, options, async () =>
        listFrame((await session.daemon().status()).standingOrders, columns, session.shape(), orderName),
      ),
    )
  prints(list, 'list', columns)
}

/** `host maintenance HOST`. */
export function addHostMaintenance(host: Command, session: Session): void {
  host
    .command('maintenance')
    .description('put one host in maintenance: its silence opens no incident; --end ends it')
    .argument('<host>')
    .requiredOption('--reason <text>', 'why', text)
    .option('--for <duration>', 'end after this time, e.g. 4h (default: until someone ends it)', orderLength)
    .option('--end', 'end its maintenance', false)
    .action(async (name: string, options: { reason: string; for?: number; end: boolean }, command: Command) => {
      if (options.end && options.for !== undefined) command.error("error: option '--end' cannot be used with '--for'")
      const scope: Scope = { kind: 'host', name: text(name) }
      await (options.end ? end(session, scope, options.reason) : start(session, scope, options.reason, options.for))
    })
}

async function start(session: Session, scope: Scope, reason: string, forMs: number | undefined): Promise<void> {
  const order = { by: session.by(), reason, until: endOf(session, forMs), scope }
  const { until } = await session.daemon().startMaintenance(order)
  const then = `${scope.kind === 'host' ? 'if it is' : 'a host of it that is'} down when it ends${scope.kind === 'host' ? ', it' : ''} is recovered`
  session.terminal.stdout(printable(`${startOf(scope)} is in maintenance ${untilText(until)}; ${then}`) + '\n')
}

async function end(session: Session, scope: Scope, reason: string): Promise<void> {
  await session.daemon().endMaintenance({ by: session.by(), reason, scope })
  session.terminal.stdout(printable(`Maintenance of ${scopeText(scope)} ended`) + '\n')
}

/** No scope has two orders of one kind by one source. */
function orderName({ kind, scope, source }: Order): string {
  return `${kind} of ${scopeText(scope)}${source === null ? '' : ` (${source})`}`
}

function startOf(scope: Scope): string {
  const name = scopeText(scope)
  return name.charAt(0).toUpperCase() + name.slice(1)
}
