/**
 * Runs a fencing program: no shell, options on stdin, a time limit that kills everything it started. Knows no meaning
 * of exit codes. Never throws.
 */
import { spawn } from 'node:child_process'
import { deadline, type Clock } from '../domain/clock.ts'

export interface ProgramRun {
  argv: readonly string[]
  stdin?: string
  clock: Clock
  limitMs: number
  signal?: AbortSignal | undefined
  /** Never shown in the output. */
  secrets?: readonly string[]
}

export interface ProgramEnd {
  /** Null when it did not end by itself. */
  exit: number | null
  output: string
  started: boolean
}

/** Output kept as evidence. More would fill the journal. */
const outputKept = 1_000
/** Output read before it is shortened; secrets are taken out of all of it first. */
const outputRead = 64_000

export type RunProgram = (run: ProgramRun) => Promise<ProgramEnd>

export function runProgram(run: ProgramRun): Promise<ProgramEnd> {
  const [program, ...args] = run.argv
  if (program === undefined) return Promise.resolve({ exit: null, output: 'no program is configured', started: false })
  const limit = deadline(run.clock, run.limitMs, run.signal)
  return new Promise((resolve) => {
    let output = ''
    let done = false
    const end = (exit: number | null, said: string, started: boolean): void => {
      if (done) return
      done = true
      limit.release()
      resolve({ exit, output: clean(said, run.secrets ?? []), started })
    }
    // A group of its own: fence agents start ssh, ipmitool and the like, which must die with them.
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], detached: true })
    const collect = (chunk: Buffer): void => {
      if (output.length < outputRead) output += chunk.toString('utf8')
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    // A program that does not read its options closes the pipe early; its exit code tells the rest.
    child.stdin.on('error', () => undefined)
    child.stdin.end(run.stdin ?? '')
    child.once('error', (error) => end(null, error.message, false))
    child.once('close', (code) => end(code, output, true))
    const stop = (): void => {
      killGroup(child.pid)
      end(null, limit.expired() ? `no end within ${run.limitMs} ms: killed. ${output}` : 'stopped', true)
    }
    if (limit.signal.aborted) stop()
    else limit.signal.addEventListener('abort', stop, { once: true })
  })
}

function clean(output: string, secrets: readonly string[]): string {
  let text = output
  for (const secret of secrets) if (secret !== '') text = text.replaceAll(secret, '***')
  return text.replace(/\s+/g, ' ').trim().slice(0, outputKept)
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It is gone already, which is what we wanted.
  }
}
