/** What the commands about pauses and maintenance have in common: scope, reason, length, and how they are said. */
import { InvalidArgumentError, Option, type Command } from 'commander'
import { parseDuration } from '../../formats/duration.ts'
import { wholeCloud, type Scope, type Order } from '../../domain/order.ts'
import { CliFailure } from '../exit-codes.ts'
import type { Session } from '../session.ts'
import { clockTime } from '../wording.ts'

/** An order that nobody remembers leaves a cloud unprotected; beyond this, change the mode or the configuration instead. */
const longestOrderMs = 30 * 86_400_000

export interface ScopeOptions {
  host?: string
  segment?: string
  cloud?: true
}

/** Adds --host, --segment and, where the whole cloud must be asked for by name, --cloud: at most one may be given. */
export function withScope(command: Command, { cloud }: { cloud: boolean }): Command {
  const others = (own: string): string[] => ['host', 'segment', 'cloud'].filter((name) => name !== own)
  command.addOption(new Option('--host <host>', 'only this host').argParser(text).conflicts(others('host')))
  command.addOption(new Option('--segment <segment>', 'only this segment').argParser(text).conflicts(others('segment')))
  return cloud ? command.addOption(new Option('--cloud', 'the whole cloud').conflicts(others('cloud'))) : command
}

/** The scope that was asked for, or undefined. */
export function scopeOf({ host, segment, cloud }: ScopeOptions): Scope | undefined {
  if (host !== undefined) return { kind: 'host', name: host }
  if (segment !== undefined) return { kind: 'segment', name: segment }
  return cloud === true ? wholeCloud : undefined
}

/** Throws CliFailure: maintenance of everything must not be what someone gets who forgot a name. */
export function requiredScope(options: ScopeOptions): Scope {
  const scope = scopeOf(options)
  if (scope === undefined) throw new CliFailure('usage', 'name the scope: --host HOST, --segment SEGMENT or --cloud')
  return scope
}

export function text(given: string): string {
  if (given.trim() === '') throw new InvalidArgumentError('It must not be empty: the journal keeps it.')
  return given.trim()
}

export function orderLength(given: string): number {
  const ms = parseDuration(given)
  if (ms === null || ms <= 0 || ms > longestOrderMs)
    throw new InvalidArgumentError('It must be a duration such as 30m or 2h, at most 30d.')
  return ms
}

/** The length of an order, for the daemon to count: the clock of this machine may be wrong. */
export function lengthOf(forMs: number | undefined): { forSeconds?: number } {
  return forMs === undefined ? {} : { forSeconds: forMs / 1_000 }
}

/** When an order of this length ends, ISO; null without one. */
export function endOf(session: Session, forMs: number | undefined): string | null {
  return forMs === undefined ? null : new Date(session.commands.clock.wall() + forMs).toISOString()
}

/** until 2026-01-02 05:04:05Z; "until someone ends it" and what follows from that. */
export function untilText(until: string | null): string {
  return until === null ? 'until someone ends it' : `until ${clockTime(until)}`
}

/** pause by ann until …: reason */
export function orderLine({ kind, by, until, reason }: Order): string {
  return `${kind} by ${by} ${untilText(until)}: ${reason}`
}
