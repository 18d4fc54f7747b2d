/** Exit codes of the command line, and which failure has which. Scripts and systemd depend on them: they never change. */
import { LifeboatError, problemsOf, type ErrorCode } from '../domain/errors.ts'
import { sourceStack } from '../system/stacks.ts'

export const exitCodes = {
  ok: { code: 0, means: 'done' },
  failed: { code: 1, means: 'it failed, or a check found a problem' },
  usage: { code: 2, means: 'the command line is wrong' },
  conflict: { code: 3, means: 'a conflict: already done, over, or not possible now' },
  daemonDown: { code: 69, means: 'no daemon answers' },
  journal: {
    code: 74,
    means: 'the journal cannot be read or written; if the message says so, the order may still have been carried out',
  },
  notActive: { code: 75, means: 'another daemon is active: give the order there (the message says where)' },
  noPermission: { code: 77, means: 'not permitted' },
  config: { code: 78, means: 'the configuration or a workflow is not valid (systemd does not restart on it)' },
  interrupted: { code: 130, means: 'interrupted (ctrl-C) before the incident ended' },
} as const

export type ExitName = keyof typeof exitCodes

/** A failure that only the command line knows. */
export class CliFailure extends Error {
  readonly exit: ExitName
  readonly hints: string[]

  constructor(exit: ExitName, message: string, hints: string[] = [], options?: ErrorOptions) {
    super(message, options)
    this.name = 'CliFailure'
    this.exit = exit
    this.hints = hints
  }
}

const exits: Partial<Record<ErrorCode, ExitName>> = {
  USAGE: 'usage',
  CONFLICT: 'conflict',
  CONFIG_INVALID: 'config',
  WORKFLOW_INVALID: 'config',
  AUTH_FAILED: 'noPermission',
  AUTH_FORBIDDEN: 'noPermission',
  JOURNAL_UNAVAILABLE: 'journal',
  NOT_ACTIVE: 'notActive',
  JOURNAL_CORRUPT: 'journal',
}

export function exitOf(code: ErrorCode): ExitName {
  return exits[code] ?? 'failed'
}

export interface Report {
  exit: number
  /** The one line. */
  line: string
  details: string[]
}

/** What to print for a failure, and with which code to end. */
export function reportOf(thrown: unknown): Report {
  if (thrown instanceof CliFailure)
    return { exit: exitCodes[thrown.exit].code, line: thrown.message, details: thrown.hints }
  if (!(thrown instanceof LifeboatError)) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown))
    const stack = sourceStack(error.stack ?? '')
      .split('\n')
      .slice(1, 8)
    return {
      exit: exitCodes.failed.code,
      line: `internal error (please report): ${error.message}`,
      details: stack.map((line) => line.trim()),
    }
  }
  const details = problemsOf(thrown)
  for (let at: unknown = thrown.cause; at instanceof Error && details.length < 20; at = at.cause)
    details.push(`because: ${at.message}`)
  return { exit: exitCodes[exitOf(thrown.code)].code, line: `${thrown.message} [${thrown.code}]`, details }
}
