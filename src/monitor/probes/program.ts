/** Runs a program for a probe: no shell, a time limit that kills, output kept short. Never throws. */
import { spawn } from 'node:child_process'
import { deadline, type Clock } from '../../domain/clock.ts'

export interface ProgramEnd {
  /** Null when it did not end by itself. */
  exit: number | null
  /** On one line. */
  output: string
  /** As it came, cut off. */
  lines: string[]
}

/** Output kept as evidence. More would fill the journal. */
const outputKept = 500

export function runProgram(
  argv: readonly string[],
  clock: Clock,
  limitMs: number,
  signal?: AbortSignal,
  /** Beside the daemon's own environment: where passwords go, for arguments can be read by everybody. */
  environment: Readonly<Record<string, string>> = {},
): Promise<ProgramEnd> {
  const [program, ...args] = argv
  if (program === undefined) return Promise.resolve({ exit: null, output: 'no program is configured', lines: [] })
  const limit = deadline(clock, limitMs, signal)
  return new Promise((resolve) => {
    let output = ''
    let done = false
    const end = (exit: number | null, said: string): void => {
      if (done) return
      done = true
      limit.release()
      const lines = said.split(/\r?\n/).flatMap((line) => line.trim() || [])
      resolve({ exit, output: said.replace(/\s+/g, ' ').trim().slice(0, outputKept), lines })
    }
    // A group of its own, so that what the program started dies with it.
    const env = { ...process.env, ...environment }
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true, env })
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
