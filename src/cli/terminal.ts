/** The real terminal. `lifeboat journal list | head` closes the pipe early: that is no failure, and must not look like one. */
import { spawn } from 'node:child_process'
import { fstatSync } from 'node:fs'
import process from 'node:process'
import { userInfo } from 'node:os'
import { styleText } from 'node:util'
import { looks } from './output/words.ts'
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
    // Node.js knows whether the stream is a terminal with colours, and what NO_COLOR and FORCE_COLOR ask for.
    paint: (look, text) => styleText(looks[look], text, { stream: process.stdout, validateStream: true }),
    screen: process.stdout.isTTY && process.env['TERM'] !== 'dumb' ? screen() : null,
    onInterrupt: (listen) => {
      const offSignals = onSignals(['SIGINT', 'SIGTERM', 'SIGHUP'], listen)
      const offReader = onReaderGone(() => process.exit(exitCodes.ok.code))
      return () => {
        offSignals()
        offReader()
      }
    },
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
      // Anyone who presses ctrl-Z wants their shell, not our picture.
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

/** While someone listens, these signals do not end the process. */
function onSignals(names: NodeJS.Signals[], listen: () => void): () => void {
  for (const name of names) process.on(name, listen)
  return () => {
    for (const name of names) process.off(name, listen)
  }
}

/**
 * Anyone who waits for news may have none to write for hours, and a pipe tells that its reader has gone only to who writes. GNU tail
 * asks the system for just that (poll, which Node.js does not offer): with nothing to print it dies of its output's end. It ends
 * with us, however we end. Without it a closed pipe is seen at the next line.
 */
function onReaderGone(listen: () => void): () => void {
  if (!isPipe(process.stdout.fd)) return () => undefined
  const tail = spawn('tail', [`--pid=${process.pid}`, '-f', '/dev/null'], { stdio: ['ignore', 'inherit', 'ignore'] })
  tail.unref()
  tail.on('error', () => undefined)
  const ended = (_code: number | null, signal: NodeJS.Signals | null): void => {
    if (signal === 'SIGPIPE') listen()
  }
  tail.once('exit', ended)
  return () => {
    tail.off('exit', ended)
    tail.kill()
  }
}

function isPipe(fd: number): boolean {
  try {
    return fstatSync(fd).isFIFO()
  } catch {
    // Closed from the start: nothing is written there, and nobody reads it.
    return false
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
