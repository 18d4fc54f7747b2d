/** The real terminal. `lifeboat journal list | head` closes the pipe early: that is no failure, and must not look like one. */
import process from 'node:process'
import { userInfo } from 'node:os'
import type { Screen, Terminal } from './terminal-port.ts'
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
    screen: process.stdout.isTTY && process.env['TERM'] !== 'dumb' ? screen() : null,
    onInterrupt: (listen) => onSignals(['SIGINT', 'SIGTERM', 'SIGHUP'], listen),
  }
}

function screen(): Screen {
  const { stdout } = process
  return {
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    onResize: (listen) => {
      stdout.on('resize', listen)
      return () => void stdout.off('resize', listen)
    },
    onSuspend: ({ leave, back }) => {
      // Whoever presses ctrl-Z wants their shell, not our picture.
      const stop = (): void => {
        leave()
        process.kill(process.pid, 'SIGSTOP')
      }
      const offStop = onSignals(['SIGTSTP'], stop)
      const offBack = onSignals(['SIGCONT'], back)
      return () => {
        offStop()
        offBack()
      }
    },
  }
}

/** While somebody listens, these signals do not end the process. */
function onSignals(names: NodeJS.Signals[], listen: () => void): () => void {
  for (const name of names) process.on(name, listen)
  return () => {
    for (const name of names) process.off(name, listen)
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
