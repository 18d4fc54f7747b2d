/** What a person orders the running daemon to do. Each act needs a reason: it ends in the journal under the person's name. */
import { InvalidArgumentError, type Command } from 'commander'
import { parseDuration } from '../../daemon/config/index.ts'
import { printable } from '../output/width.ts'
import type { Session } from '../session.ts'
import { clockTime } from '../wording.ts'

/** A pause that nobody remembers leaves a cloud unprotected; beyond this, change the mode instead. */
const longestPauseMs = 30 * 86_400_000

export function addActCommands(program: Command, session: Session): void {
  const say = (text: string): void => session.terminal.stdout(`${printable(text)}\n`)
  program
    .command('recover')
    .description('recover the instances of a host on your word that it is dead')
    .argument('<host>')
    .requiredOption('--proof <text>', 'how you know that the host is dead, e.g. "I pulled its power cords"', sentence)
    .action(async (host: string, { proof }: { proof: string }) => {
      const { incident } = await session.daemon().recover({ host, by: session.by(), proof })
      say(`Incident ${incident} has your word that ${host} is dead; follow it with: lifeboat incident show ${incident}`)
    })
  program
    .command('pause')
    .description('start no new recoveries; those that run stop before their next write')
    .requiredOption('--reason <text>', 'why', sentence)
    .option('--for <duration>', 'resume by itself after this time, e.g. 2h (default: until resumed)', pauseLength)
    .action(async (options: { reason: string; for?: number }) => {
      const until =
        options.for === undefined ? null : new Date(session.commands.clock.wall() + options.for).toISOString()
      const pause = await session.daemon().pause({ by: session.by(), reason: options.reason, until })
      say(
        `Paused ${pause.until === null ? 'until somebody resumes' : `until ${clockTime(pause.until)}`}: no host is recovered meanwhile`,
      )
    })
  program
    .command('resume')
    .description('end a pause')
    .requiredOption('--reason <text>', 'why', sentence)
    .action(async ({ reason }: { reason: string }) => {
      await session.daemon().resume({ by: session.by(), reason })
      say('Resumed')
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
      .requiredOption('--reason <text>', 'why', sentence)
      .action(async (id: string, { reason }: { reason: string }) => {
        await session.daemon()[act](id, { by: session.by(), reason })
        session.terminal.stdout(`${done}\n`)
      })
  }
}

function sentence(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty: it is kept in the journal.')
  return text.trim()
}

function pauseLength(text: string): number {
  const ms = parseDuration(text)
  if (ms === null || ms <= 0 || ms > longestPauseMs)
    throw new InvalidArgumentError('It must be a duration such as 30m or 2h, at most 30d.')
  return ms
}
