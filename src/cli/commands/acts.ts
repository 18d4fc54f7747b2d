/** What a person orders the running daemon to do. Each act needs a reason: it ends in the journal under the person's name. */
import type { Command } from 'commander'
import { scopeText } from '../../domain/standing-order.ts'
import { printable } from '../output/width.ts'
import type { Session } from '../session.ts'
import { clockTime } from '../wording.ts'
import { endOf, orderLength, scopeOf, text, withScope, type ScopeOptions } from './order-options.ts'

export function addActCommands(program: Command, session: Session): void {
  const say = (line: string): void => session.terminal.stdout(`${printable(line)}\n`)
  program
    .command('recover')
    .description('recover the instances of a host on your word that it is dead')
    .argument('<host>')
    .requiredOption('--proof <text>', 'how you know that the host is dead, e.g. "I pulled its power cords"', text)
    .option('--by <name>', 'your name, where the account is not yours alone (root)', text)
    .action(async (host: string, { proof, by }: { proof: string; by?: string }) => {
      const unixUser = session.by()
      const { incident } = await session.daemon().recover({ host, by: by ?? unixUser, proof, unixUser })
      say(`Incident ${incident} has your word that ${host} is dead; follow it with: lifeboat incident show ${incident}`)
    })
  withScope(program.command('pause'), { cloud: false })
    .description('start no new recoveries; those that run stop before their next write')
    .requiredOption('--reason <text>', 'why', text)
    .option('--for <duration>', 'resume by itself after this time, e.g. 2h (default: until resumed)', orderLength)
    .action(async (options: ScopeOptions & { reason: string; for?: number }) => {
      const scope = scopeOf(options)
      const order = { by: session.by(), reason: options.reason, until: endOf(session, options.for) }
      const pause = await session.daemon().pause({ ...order, ...(scope && { scope }) })
      const what = scope === undefined ? 'no host' : `nothing of ${scopeText(scope)}`
      say(
        `Paused ${pause.until === null ? 'until somebody resumes' : `until ${clockTime(pause.until)}`}: ${what} is recovered meanwhile`,
      )
    })
  withScope(program.command('resume'), { cloud: false })
    .description('end a pause: of the whole cloud, or of one host or segment')
    .requiredOption('--reason <text>', 'why', text)
    .action(async (options: ScopeOptions & { reason: string }) => {
      const scope = scopeOf(options)
      await session.daemon().resume({ by: session.by(), reason: options.reason, ...(scope && { scope }) })
      say(scope === undefined ? 'Resumed' : `Resumed ${scopeText(scope)}`)
    })
}

/** `incident override` and `incident cancel`, beside the reading commands. */
export function addIncidentActs(incident: Command, session: Session): void {
  for (const [act, about, done] of [
    ['override', 'let one held incident past the brake', 'Let past the brake'],
    [
      'cancel',
      'end an incident; writes in flight are settled first',
      'Cancelled: it ends when the writes in flight are settled',
    ],
  ] as const) {
    incident
      .command(act)
      .description(about)
      .argument('<incident>')
      .requiredOption('--reason <text>', 'why', text)
      .action(async (id: string, { reason }: { reason: string }) => {
        await session.daemon()[act](id, { by: session.by(), reason })
        session.terminal.stdout(`${done}\n`)
      })
  }
}
