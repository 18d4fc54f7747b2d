/** What a person orders the running daemon to do. Each act needs a reason: it ends in the journal under the person's name. */
import type { Command } from 'commander'
import { scopeText } from '../../domain/order.ts'
import { ends } from '../described.ts'
import { follow, followExits } from '../follow.ts'
import type { Session } from '../session.ts'
import { clockTime } from '../wording.ts'
import { incidentId } from './incident-id.ts'
import { lengthOf, orderLength, scopeOf, text, withScope, type ScopeOptions } from './order-options.ts'

export function addActCommands(program: Command, session: Session): void {
  const say = (line: string): void => session.say(line)
  const recover = program
    .command('recover')
    .description('recover the instances of a host on your word that the host is dead')
    .argument('<host>')
    .requiredOption('--proof <text>', 'how you know that the host is dead, e.g. "I pulled its power cords"', text)
    .option('--by <name>', 'your name, if you share the account (root)', text)
    .option('--follow', 'show its progress until it ends', false)
    .action(async (host: string, options: { proof: string; by?: string; follow: boolean }) => {
      const unixUser = session.by()
      const order = { host, by: session.by(options.by), proof: options.proof, unixUser }
      const { incident, held } = await session.daemon().recover(order)
      const how = options.follow ? '' : `; follow it with: lifeboat incident show ${incident} --follow`
      say(`Incident ${incident} has your word that ${host} is dead${how}`)
      // A daemon of an older release does not say.
      if ((held ?? null) !== null)
        say(
          `The brake still holds it (${held ?? ''}): nothing happens until the brake opens. To override it: lifeboat incident override ${incident} --reason "why"`,
        )
      if (options.follow) await follow(session, incident)
    })
  ends(recover, followExits)
  withScope(program.command('pause'), { cloud: false })
    .description('pause recoveries: none begins, and those under way stop before their next write')
    .requiredOption('--reason <text>', 'why', text)
    .option('--for <duration>', 'resume after this time, e.g. 2h (default: until someone resumes)', orderLength)
    .action(async (options: ScopeOptions & { reason: string; for?: number }) => {
      const scope = scopeOf(options)
      const order = { by: session.by(), reason: options.reason, ...lengthOf(options.for) }
      const pause = await session.daemon().pause({ ...order, ...(scope && { scope }) })
      const what = scope === undefined ? 'no host' : `nothing of ${scopeText(scope)}`
      say(
        `Paused ${pause.until === null ? 'until someone resumes' : `until ${clockTime(pause.until)}`}: ${what} is recovered meanwhile`,
      )
    })
  withScope(program.command('resume'), { cloud: false })
    .description('end the pause of the cloud, or of one host or segment')
    .requiredOption('--reason <text>', 'why', text)
    .action(async (options: ScopeOptions & { reason: string }) => {
      const scope = scopeOf(options)
      await session.daemon().resume({ by: session.by(), reason: options.reason, ...(scope && { scope }) })
      say(scope === undefined ? 'Resumed' : `Resumed ${scopeText(scope)}`)
    })
  const handOver = program
    .command('hand-over')
    .description(
      'let another daemon that shares the journal take over; this one stops, and stands by when it starts again',
    )
    .requiredOption('--reason <text>', 'why', text)
    .action(async ({ reason }: { reason: string }) => {
      const { standbys } = await session.daemon().handOver({ by: session.by(), reason })
      say(`It stops now, and one of the standbys takes over within seconds: ${standbys.join(', ')}`)
    })
  ends(handOver, { 1: 'no other daemon stands by', 75: 'it is not the active one; the message says which is' })
}

/** `incident override`, `cancel`, `start`, `note` and `sign-off`, beside the reading commands. */
export function addIncidentActs(incident: Command, session: Session): void {
  for (const [act, about, done] of [
    ['override', 'let one held incident past the brake, or restart its crashed guest once more', 'It goes on'],
    [
      'cancel',
      'end an incident, once Nova has answered for the writes in flight',
      'Cancelled: it ends once Nova has answered for the writes in flight',
    ],
    [
      'startInstances',
      'start the instances that a host outage left off, except those that their owners stopped',
      'Starting them, and any that turn out to be off later',
    ],
  ] as const) {
    incident
      .command(act === 'startInstances' ? 'start' : act)
      .description(about)
      .argument('<incident>', '', incidentId)
      .requiredOption('--reason <text>', 'why', text)
      .action(async (id: string, { reason }: { reason: string }) => {
        await session.daemon()[act](id, { by: session.by(), reason })
        session.terminal.stdout(`${done}\n`)
      })
  }
  incident
    .command('note')
    .description('add a note to an incident for its reviewers; it changes nothing else')
    .argument('<incident>', '', incidentId)
    .argument('<text>', 'what you found, did or want others to know', text)
    .action(async (id: string, words: string) => {
      await session.daemon().note(id, { by: session.by(), text: words })
      session.say(`Noted; lifeboat incident show ${id} has it`)
    })
  incident
    .command('sign-off')
    .description('sign off a closed incident')
    .argument('<incident>', '', incidentId)
    .requiredOption('--reason <text>', 'what you conclude', text)
    .action(async (id: string, { reason }: { reason: string }) => {
      const { by, at } = await session.daemon().signOff(id, { by: session.by(), text: reason })
      session.say(`Incident ${id} is signed off by ${by} at ${clockTime(at)}`)
    })
}
