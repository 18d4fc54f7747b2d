/** Runs a program for a probe; what it said is kept short. Never throws. */
import type { Clock } from '../../domain/clock.ts'
import { run } from '../../system/run.ts'
import { span } from '../../domain/text/span.ts'

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

export async function runProgram(
  argv: readonly string[],
  clock: Clock,
  limitMs: number,
  signal?: AbortSignal,
  /** Beside the daemon's own environment: where passwords go, for arguments can be read by everybody. */
  environment: Readonly<Record<string, string>> = {},
): Promise<ProgramEnd> {
  const { exit, output, how } = await run({ argv, clock, limitMs, signal, environment, outputRead: outputKept })
  const said = how === 'out of time' ? `no end within ${span(limitMs)}` : how === 'stopped' ? 'stopped' : output
  const lines = said.split(/\r?\n/).flatMap((line) => line.trim() || [])
  return { exit, output: said.replace(/\s+/g, ' ').trim().slice(0, outputKept), lines }
}
