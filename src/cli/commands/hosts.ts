/** One host: everything known of it, and a person's word on its return. */
import { InvalidArgumentError, type Command } from 'commander'
import type { HostDetail } from '../../domain/operations.ts'
import { CliFailure } from '../exit-codes.ts'
import { printable } from '../output/width.ts'
import type { Column } from '../output/formats.ts'
import type { Session } from '../session.ts'
import { clockTime, span } from '../wording.ts'

const columns: Column<HostDetail>[] = [
  { title: 'Host', value: (it) => it.host },
  { title: 'Segment', value: (it) => it.segment },
  { title: 'Zone', value: (it) => it.zone },
  { title: 'Verdict', value: (it) => it.verdict },
  { title: 'Reason', value: (it) => it.reason },
  { title: 'Message', value: (it) => it.message },
  {
    title: 'Nova',
    value: ({ status, state, forcedDown, disabledReason, updatedAt }) => ({
      ...{ status, state, forcedDown, disabledReason, updatedAt },
    }),
    text: ({ status, state, forcedDown, disabledReason, updatedAt }) =>
      `${status}${disabledReason === null ? '' : ` (${disabledReason})`}, ${state ?? 'unknown'}${forcedDown ? ' (forced)' : ''}, last heartbeat ${updatedAt ?? 'unknown'}`,
  },
  {
    title: 'Silent',
    value: (it) => Math.round(it.silentMs),
    text: (it) => `${span(it.silentMs)} (${it.missedBeats.toFixed(1)} beats of ${span(it.intervalMs)})`,
  },
  {
    title: 'Probes',
    value: (it) => it.probes,
    text: (it) => it.probes.map(({ probe, answer, detail }) => `${probe} ${answer} (${detail})`).join(', '),
  },
  {
    title: 'Ours',
    value: (it) => it.mark,
    text: ({ mark }) =>
      mark === null
        ? 'nothing is set by us'
        : `${[mark.forcedDown ? 'forced_down' : '', mark.disabled ? 'disabled' : ''].filter((at) => at !== '').join(' and ') || 'nothing'}, by incident ${mark.incidents.join(', ')}`,
  },
  {
    title: 'Return',
    value: (it) => it.return,
    text: (it) =>
      it.return === null
        ? ''
        : `${it.return.state}${it.return.since === null ? '' : ` since ${clockTime(it.return.since)}`}: ${it.return.message}`,
  },
  {
    title: 'Order',
    value: (it) => it.return?.order ?? null,
    text: (it) => {
      const order = it.return?.order ?? null
      if (order === null) return ''
      const what = order.keepOut ? 'kept out' : 'let back'
      return `${what} by ${order.by} at ${clockTime(order.at)}${order.reason === '' ? '' : `: ${order.reason}`}`
    },
  },
  {
    title: 'Leftovers',
    value: (it) => it.return?.leftovers ?? [],
    text: (it) => (it.return?.leftovers ?? []).map(({ code, message }) => `${code}: ${message}`).join('\n'),
  },
  {
    title: 'Return Rules',
    value: (it) => it.returnRules,
    text: ({ returnRules: { mode, healthyMs, maxReturns, withinMs } }) =>
      `${mode === 'confirm' ? 'after confirmation' : 'automatic'}, healthy for ${span(healthyMs)}, at most ${maxReturns} failures in ${span(withinMs)}`,
  },
  {
    title: 'Incidents',
    value: (it) => it.incidents,
    text: (it) =>
      it.incidents
        .map(({ id, ended, phase }) => `${id} ${ended === null ? phase : `${ended.outcome}: ${ended.message}`}`)
        .join('\n'),
  },
]

/** `host show` and `host return`, beside `host list`. */
export function addHostCommands(host: Command, session: Session): void {
  host
    .command('show')
    .description('one host: its verdict with the evidence, what we set there, its return, its last incidents')
    .argument('<host>')
    .action(async (name: string) => session.one(await session.daemon().host(name), columns))
  host
    .command('return')
    .description('let a host that was taken out back, or keep it out')
    .argument('<host>')
    .option('--reason <text>', 'why (needed with --keep-out)', sentence)
    .option('--keep-out', 'it stays out until somebody lets it back')
    .action(async (name: string, { reason, keepOut = false }: { reason?: string; keepOut?: boolean }) => {
      if (keepOut && reason === undefined)
        throw new CliFailure('usage', '--keep-out needs a --reason: whoever finds the host out will ask')
      const order = { host: name, by: session.by(), reason: reason ?? '', keepOut }
      const { state, message } = await session.daemon().returnHost(order)
      const done = keepOut
        ? `${name} is kept out until somebody lets it back`
        : `${name} may return (${state}: ${message})`
      session.terminal.stdout(`${printable(done)}\n`)
    })
}

function sentence(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty: it is kept in the journal.')
  return text.trim()
}
