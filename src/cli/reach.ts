/**
 * Which commands need the machine that they run on, each with why: all others ask the daemon, here or with --url elsewhere. A command that is
 * missing here is asked of the daemon.
 */

import type { Command } from 'commander'
import { pathOf } from './described.ts'
import { CliFailure } from './exit-codes.ts'
import type { GlobalOptions, Session } from './session.ts'

/** `journal`: of the machine where the daemon runs. `files`: of this one, whatever $LIFEBOAT_URL says. */
export const local: Readonly<Record<string, 'journal' | 'files'>> = {
  run: 'files',
  check: 'files',
  plan: 'files',
  'workflow check': 'files',
  'workflow test': 'files',
  rehearse: 'files',
  demo: 'files',
  generate: 'files',
  completion: 'files',
  'config check': 'files',
  'config show': 'files',
  'import-masakari': 'files',
  'notice test': 'files',
  report: 'journal',
  'notice list': 'journal',
  'journal list': 'journal',
  'journal verify': 'journal',
  'journal export': 'journal',
  'journal init': 'files',
  'journal move': 'files',
}

const whyLocal: Record<'journal' | 'files', string> = {
  journal: 'reads the journal file on the machine where the daemon runs: run it there',
  files: 'works with the files of this machine: run it without --url',
}

/** The options that mean a daemon elsewhere. */
export const remoteOptions: readonly string[] = ['--url', '--cacert']

/** Null: the command asks the daemon. */
export function localWhy(command: Command): 'journal' | 'files' | null {
  const path = pathOf(command).split(' ').slice(1).join(' ')
  // What one host would come to is planned here, from Nova; of all hosts the daemon knows.
  if (path === 'plan' && command.opts()['all'] === true) return null
  return Object.hasOwn(local, path) ? (local[path] ?? null) : null
}

/** Throws CliFailure for a command that cannot be asked of the daemon that is meant, and for options that contradict each other. */
export function refuseElsewhere(session: Session, command: Command, options: GlobalOptions): void {
  if (options.url !== undefined && options.config !== undefined)
    throw new CliFailure('usage', '--url and --config name two daemons: give one')
  const why = localWhy(command)
  // With the variable alone nobody asked for this command to go elsewhere; only what it read would be taken for the other's journal.
  if (why === 'files' && options.url === undefined && options.cacert === undefined) return session.stayHere()
  const url = session.url()
  if (options.cacert !== undefined && url === null)
    throw new CliFailure('usage', '--cacert is for a daemon elsewhere: add --url, or set LIFEBOAT_URL')
  if (url === null || why === null) return
  const unset = options.url === undefined ? ['LIFEBOAT_URL is set: unset it to read the journal of this machine'] : []
  throw new CliFailure('usage', `\`${pathOf(command)}\` ${whyLocal[why]}`, unset)
}
