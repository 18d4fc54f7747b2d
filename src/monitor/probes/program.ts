/** Runs a program for a probe: no shell, a time limit that kills, output kept short. Never throws. */
import { spawn } from 'node:child_process'
import { deadline, type Clock } from '../../domain/clock.ts'

export interface ProgramEnd {
  /** Null when it did not end by itself. */
  exit: number | null
  output: string
}

/** Output kept as evidence. More would fill the journal. */
const outputKept = 500

export function runProgram(
  argv: readonly string[],
  clock: Clock,
  limitMs: number,
  signal?: AbortSignal,
): Promise<ProgramEnd> {
  const [program, ...args] = argv
  if (program === undefined) return Promise.resolve({ exit: null, output: 'no program is configured' })
  const limit = deadline(clock, limitMs, signal)
  return new Promise((resolve) => {
    let output = ''
    let done = false
    const end = (exit: number | null, said: string): void => {
      if (done) return
      done = true
      limit.release()
      resolve({ exit, output: said.replace(/\s+/g, ' ').trim().slice(0, outputKept) })
    }
    // A group of its own, so that what the program started dies with it.
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    const collect = (chunk: Buffer): void => {
      if (output.length < outputKept) output += chunk.toString('utf8')
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.once('error', (error) => end(null, error.message))
    child.once('close', (code) => end(code, output))
    const stop = (): void => {
      killGroup(child.pid)
      end(null, limit.expired() ? `no end within ${limitMs} ms` : 'stopped')
    }
    if (limit.signal.aborted) stop()
    else limit.signal.addEventListener('abort', stop, { once: true })
  })
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It is gone already, which is what we wanted.
  }
}
