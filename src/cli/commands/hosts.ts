/** One host: everything known of it, and a person's word on its return. */
import type { Command } from 'commander'
import type { HostDetail } from '../../domain/operations.ts'
import { CliFailure } from '../exit-codes.ts'
import { printable } from '../output/width.ts'
import type { Column } from '../output/formats.ts'
import { toned } from '../output/words.ts'
import { prints } from '../described.ts'
import { oneFrame } from '../frame.ts'
import type { Session } from '../session.ts'
import { show, withWatch, type WatchOptions } from '../watch.ts'
import { span } from '../../domain/text/span.ts'
import { probeTone, standing, verdictTone } from '../../domain/text/tone.ts'
import { clockTime } from '../wording.ts'
import { text } from './order-options.ts'

const columns: Column<HostDetail>[] = [
  { title: 'Host', type: 'string', means: "Nova's name of it", value: (it) => it.host },
  { title: 'Segment', type: 'string', means: 'The segment whose rules apply to it', value: (it) => it.segment },
  { title: 'Zone', type: 'string?', means: 'Its availability zone', value: (it) => it.zone },
  {
    title: 'Verdict',
    type: 'string',
    means: 'What Lifeboat concludes about it',
    value: (it) => it.verdict,
    text: (it) => toned(verdictTone[it.verdict], it.verdict),
  },
  { title: 'Reason', type: 'string', means: 'The verdict as a code', value: (it) => it.reason },
  { title: 'Message', type: 'string', means: 'The verdict in words', moving: true, value: (it) => it.message },
  {
    title: 'Nova',
    type: 'object',
    means: 'What Nova says: `status`, `state`, `forcedDown`, `disabledReason`, `updatedAt` (cloud time)',
    moving: true,
    value: ({ status, state, forcedDown, disabledReason, updatedAt }) => ({
      ...{ status, state, forcedDown, disabledReason, updatedAt },
    }),
    text: ({ status, state, forcedDown, disabledReason, updatedAt }) =>
      `${status}${disabledReason === null ? '' : ` (${disabledReason})`}, ${state ?? 'unknown'}${forcedDown ? ' (forced)' : ''}, last heartbeat ${updatedAt ?? 'unknown'}`,
  },
  {
    title: 'Silent',
    type: 'integer',
    means: 'Milliseconds since its last heartbeat',
    moving: true,
    value: (it) => Math.round(it.silentMs),
    text: (it) => `${span(it.silentMs)} (${it.missedBeats.toFixed(1)} beats of ${span(it.intervalMs)})`,
  },
  {
    title: 'Probes',
    type: 'list of objects',
    means: 'The last reading of each probe',
    value: (it) => it.probes,
    text: (it) =>
      it.probes.flatMap(({ probe, answer, detail }, index) => [
        `${index === 0 ? '' : ', '}${probe} `,
        toned(probeTone[answer], answer),
        ` (${detail})`,
      ]),
  },
  {
    title: 'Ours',
    type: 'object?',
    means: 'The flags that an incident set on its service and that Lifeboat has not cleared yet',
    value: (it) => it.mark,
    text: ({ mark }) =>
      mark === null
        ? 'none'
        : `${[mark.forcedDown ? 'forced_down' : '', mark.disabled ? 'disabled' : ''].filter((at) => at !== '').join(' and ') || 'nothing'}, by incident ${mark.incidents.join(', ')}`,
  },
  {
    title: 'Set Aside',
    type: 'object?',
    means:
      'Disabled while it or its nova-compute is silent, so that Nova sends no guest there: `incident` (whose guests), `because`, `since`, `keptOut` (by whom and why, or null)',
    value: (it) => it.setAside,
    text: ({ setAside }) =>
      setAside === null
        ? ''
        : `disabled since ${clockTime(setAside.since)}, ${setAside.keptOut === null ? 'until it is well' : 'until someone returns it'}: ${setAside.because} (${setAside.incident})`,
  },
  {
    title: 'Return',
    type: 'object?',
    means: 'How far its return to service is; null: Lifeboat never set a flag there',
    value: (it) => it.return,
    text: (it) =>
      it.return === null
        ? ''
        : `${it.return.state}${it.return.since === null ? '' : ` since ${clockTime(it.return.since)}`}: ${it.return.message}`,
  },
  {
    title: 'Order',
    type: 'object?',
    means: 'The order about its return: `by`, `reason`, `keepOut`, `at`',
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
    type: 'list of objects',
    means: 'What its evacuated instances left on it, each with `code` and `message`',
    value: (it) => it.return?.leftovers ?? [],
    text: (it) => (it.return?.leftovers ?? []).map(({ code, message }) => `${code}: ${message}`).join('\n'),
  },
  {
    title: 'Return Rules',
    type: 'object',
    means: 'How hosts of its segment return',
    value: (it) => it.returnRules,
    text: ({ returnRules: { mode, healthyMs, maxReturns, withinMs } }) =>
      `${mode === 'confirm' ? 'after confirmation' : 'automatic'}, healthy for ${span(healthyMs)}, at most ${maxReturns} failures in ${span(withinMs)}`,
  },
  {
    title: 'Incidents',
    type: 'list of objects',
    means: 'Its incidents, the newest first',
    value: (it) => it.incidents,
    text: (it) =>
      it.incidents.flatMap((incident, index) => {
        const { id, ended, phase } = incident
        return [
          `${index === 0 ? '' : '\n'}${id} `,
          toned(standing(incident).tone, ended?.outcome ?? phase),
          ended === null ? '' : `: ${ended.message}`,
        ]
      }),
  },
]

/** `host show` and `host return`, beside `host list`. */
export function addHostCommands(host: Command, session: Session): void {
  const shown = withWatch(host.command('show'))
    .description(
      'show one host: its verdict with the evidence, the flags that Lifeboat set, its return, its last incidents',
    )
    .argument('<host>')
    .action((name: string, options: WatchOptions) =>
      show(session, options, async () => oneFrame(await session.daemon().host(name), columns, session.shape())),
    )
  prints(shown, 'one', columns)
  host
    .command('return')
    .description('return a fenced host to service, or keep it out')
    .argument('<host>')
    .option('--reason <text>', 'why (needed with --keep-out)', text)
    .option('--keep-out', 'keep the host out until someone returns it to service')
    .action(async (name: string, { reason, keepOut = false }: { reason?: string; keepOut?: boolean }) => {
      if (keepOut && reason === undefined)
        throw new CliFailure('usage', '--keep-out needs a --reason: the next person who finds the host out will ask')
      const order = { host: name, by: session.by(), reason: reason ?? '', keepOut }
      const { state, message } = await session.daemon().returnHost(order)
      // Why it was kept out until now would read as if it still were.
      const howFar = state === 'kept-out' ? `lifeboat host show ${name} says how far it is` : `${state}: ${message}`
      const done = keepOut
        ? `${name} is kept out until someone returns it to service`
        : `${name} may return (${howFar})`
      session.terminal.stdout(`${printable(done)}\n`)
    })
}
