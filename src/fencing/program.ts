/**
 * Runs a fencing program: options on stdin, secrets never in what is kept of its output. Never throws. `timeout` of coreutils ends it too, for
 * a daemon that stands still kills nobody, and its order would reach a host that is back.
 */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import type { Clock } from '../domain/clock.ts'
import { run } from '../system/run.ts'
import { span } from '../domain/text/span.ts'

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

/** So much after the daemon's own limit, whose words say more. */
const killedLaterMs = 500

export type RunProgram = (run: ProgramRun) => Promise<ProgramEnd>

export async function runProgram({ secrets = [], ...order }: ProgramRun): Promise<ProgramEnd> {
  const [program = ''] = order.argv
  // Asked first: what `timeout` says of a program that is not there, the program itself might have said.
  if (!isProgram(program)) return { exit: null, output: `there is no program ${program} to run`, started: false }
  const argv = ['timeout', '--signal=KILL', String((order.limitMs + killedLaterMs) / 1_000), ...order.argv]
  const { exit, output, how } = await run({ ...order, argv, outputRead })
  const said =
    how === 'out of time'
      ? `no end within ${span(order.limitMs)}: killed. ${output}`
      : how === 'stopped'
        ? 'stopped'
        : output
  return { exit, output: clean(said, secrets), started: how !== 'not started' }
}

function clean(output: string, secrets: readonly string[]): string {
  let text = output
  for (const secret of secrets) if (secret !== '') text = text.replaceAll(secret, '***')
  return text.replace(/\s+/g, ' ').trim().slice(0, outputKept)
}

function isProgram(name: string): boolean {
  const places = name.includes('/') ? [name] : (process.env['PATH'] ?? '').split(delimiter).map((at) => join(at, name))
  return places.some((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
