/** The real terminal. `lifeboat journal list | head` closes the pipe early: that is no failure, and must not look like one. */
import process from 'node:process'
import { userInfo } from 'node:os'
import type { Terminal } from './session.ts'
import { exitCodes } from './exit-codes.ts'

/** Standard output and error of this process. A closed pipe ends the process quietly, other failures of it loudly. */
export function processTerminal(): Terminal {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? exitCodes.ok.code : exitCodes.failed.code)
  })
  // Nowhere is left to say anything.
  process.stderr.on('error', () => process.exit(exitCodes.failed.code))
  return {
    env: { LOGNAME: loginName(), ...process.env },
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
  }
}

/** The account's name: cron jobs and containers often have no USER. Undefined for an account that the system has no name for. */
function loginName(): string | undefined {
  try {
    return userInfo().username
  } catch {
    // No entry in the account database: the caller says what to set.
    return undefined
  }
}
