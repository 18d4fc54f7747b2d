/**
 * Runs a program: no shell, input on stdin, a time limit that kills everything it started. What exit codes and output mean, and
 * what of it may be kept, is the caller's. Never throws.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import { deadline, type Clock } from '../domain/clock.ts'

/**
 * What a program leaves running may hold its output open for as long as it likes. Once it has exited, its output is
 * waited for this long: what it wrote is in the pipe already. Longer: its answer is late; shorter: output of a pipeline is lost.
 */
const outputGraceMs = 1_000

export interface ProgramOrder {
  argv: readonly string[]
  /** Default: nothing to read. */
  stdin?: string | undefined
  /** Beside the daemon's own environment: where passwords go, for arguments can be read by everybody. */
  environment?: Readonly<Record<string, string>> | undefined
  clock: Clock
  limitMs: number
  signal?: AbortSignal | undefined
  /** Characters of its output that are read; the rest is thrown away. More: a program that never stops talking fills the memory. */
  outputRead: number
}

export interface ProgramEnding {
  /** Null when it did not end by itself. */
  exit: number | null
  /** stdout and stderr as they came; why it could not be started where it was not. */
  output: string
  how: 'by itself' | 'not started' | 'out of time' | 'stopped'
}

export function run(order: ProgramOrder): Promise<ProgramEnding> {
  const [program, ...args] = order.argv
  if (program === undefined)
    return Promise.resolve({ exit: null, output: 'no program is configured', how: 'not started' })
  const limit = deadline(order.clock, order.limitMs, order.signal)
  return new Promise((resolve) => {
    let output = ''
    let over = false
    const end = (exit: number | null, said: string, how: ProgramEnding['how']): void => {
      if (over) return
      over = true
      limit.release()
      cancelGrace()
      resolve({ exit, output: said, how })
    }
    let cancelGrace = (): void => undefined
    const child = started(program, args, order.environment)
    if (child instanceof Error) {
      end(null, child.message, 'not started')
      return
    }
    // First of all: one that cannot be started says so a moment later, and an error that nobody hears ends the daemon.
    child.once('error', (error) => end(null, error.message, 'not started'))
    child.once('close', (code) => end(code, output, 'by itself'))
    // A mail that was taken must not be sent again because of what sendmail left behind it.
    child.once('exit', (code) => {
      if (over) return
      // Not by a limit that runs out, nor a stop that comes, while its output is waited for.
      limit.release()
      cancelGrace = order.clock.after(outputGraceMs, () => {
        letGo(child)
        end(code, output, 'by itself')
      })
    })
    const collect = (chunk: Buffer): void => {
      if (output.length < order.outputRead) output += chunk.toString('utf8')
    }
    child.stdout?.on('data', collect)
    child.stderr?.on('data', collect)
    // One that ends before it has read everything closes the pipe; its exit code tells the rest.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(order.stdin ?? '')
    const stop = (): void => {
      killGroup(child.pid)
      letGo(child)
      end(null, output, limit.expired() ? 'out of time' : 'stopped')
    }
    if (limit.signal.aborted) stop()
    else limit.signal.addEventListener('abort', stop, { once: true })
  })
}

type Child = Partial<Pick<ChildProcess, 'stdin' | 'stdout' | 'stderr'>> & Pick<ChildProcess, 'pid' | 'once'>

/**
 * Anyone who is left with the pipes, in a group of its own even, must not keep the daemon from its end. They are still read: to close
 * them would kill what a mail program delivers with.
 */
function letGo({ stdin, stdout, stderr }: Child): void {
  for (const pipe of [stdin, stdout, stderr]) if (pipe instanceof Socket) pipe.unref()
}

/**
 * The program, or why there is none: some failures are thrown at once (no memory, a path through a file), others come as an
 * event. Without a file descriptor to spare it has no pipes, whatever its type says.
 */
function started(program: string, args: readonly string[], environment: ProgramOrder['environment']): Child | Error {
  try {
    // A group of its own: fence agents and the like start ssh, ipmitool and others, which must die with them.
    const env = { ...process.env, ...environment }
    return spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], detached: true, env })
  } catch (thrown) {
    return thrown instanceof Error ? thrown : new Error(String(thrown))
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It is gone already, which is what we wanted.
  }
}
