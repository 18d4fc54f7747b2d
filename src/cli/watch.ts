/**
 * --watch: the same command again and again. On a terminal the picture is redrawn in place; in a pipe only what changed is
 * printed, with the time. A daemon that goes away while someone watches is said, not died of: they watch because of it.
 */
import { InvalidArgumentError, type Command } from 'commander'
import { LifeboatError, type ErrorCode } from '../domain/errors.ts'
import { CliFailure, reportOf } from './exit-codes.ts'
import { enterScreen, leaveScreen, pictureOf } from './output/drawing.ts'
import { jsonText, yamlText } from './output/formats.ts'
import { printable } from './output/width.ts'
import { InterruptibleWait } from './interruptible-wait.ts'
import type { Session } from './session.ts'
import { changeLines, type Frame } from './frame.ts'
import { clockTime } from './wording.ts'

/** Often enough to see a recovery move, and no load to speak of: the daemon answers from memory. */
const usualSeconds = 2

export interface WatchOptions {
  watch?: number | true
}

export function withWatch(command: Command): Command {
  return command.option('--watch [seconds]', `repeat every ${usualSeconds} s, or as often as given`, pause)
}

type Look = () => Promise<Frame> | Frame

interface Watched {
  everyMs: number
  first: Frame
  look: Look
}

/** Shows what `look` finds: once, or again and again until someone interrupts. */
export async function show(session: Session, { watch }: WatchOptions, look: Look): Promise<void> {
  const { terminal } = session
  const shape = session.shape()
  if (watch === undefined) {
    terminal.stdout((await look()).page(shape.maxWidth))
    return
  }
  if (shape.format === 'csv' || shape.format === 'value')
    throw new CliFailure('usage', `--watch cannot be printed as ${shape.format}`, [
      'formats with --watch: table, json (one document per line), yaml (one document per change)',
    ])
  const everyMs = (watch === true ? usualSeconds : watch) * 1000
  // The first look fails as without --watch: a wrong name or a daemon that never ran is not worth waiting for.
  const first = await look()
  const watched = { everyMs, first, look }
  await (shape.format === 'table' && terminal.screen !== null ? drawn(session, watched) : told(session, watched))
}

async function drawn(session: Session, { everyMs, first, look }: Watched): Promise<void> {
  const { terminal, commands } = session
  const screen = terminal.screen
  if (screen === null) return
  const named = session.namedWidth() ?? 0
  let frame = first
  let lost = null as { line: string; since: string } | null
  const now = (): string => clockTime(new Date(commands.clock.wall()).toISOString())
  let seen = now()
  const draw = (): void => {
    const size = screen.size()
    const head =
      lost === null
        ? `${seen}  every ${everyMs / 1000} s, ctrl-C to quit`
        : `${lost.line}, since ${lost.since}; shown as of ${seen}`
    const page = frame.page(Math.min(named || size.columns, size.columns))
    terminal.stdout(pictureOf([printable(head), '', ...page.replace(/\n$/, '').split('\n')], size))
  }
  const waiting = new InterruptibleWait(session)
  const offResize = screen.onResize(draw)
  const offSuspend = screen.onSuspend({
    leave: () => terminal.stdout(leaveScreen),
    back: () => {
      terminal.stdout(enterScreen)
      draw()
    },
  })
  terminal.stdout(enterScreen)
  try {
    draw()
    while (await waiting.pause(everyMs)) {
      try {
        frame = await look()
        seen = now()
        lost = null
      } catch (thrown) {
        lost = { line: passing(thrown), since: lost?.since ?? now() }
      }
      if (!waiting.ended) draw()
    }
  } finally {
    offSuspend()
    offResize()
    waiting.close()
    terminal.stdout(leaveScreen)
  }
}

async function told(session: Session, { everyMs, first, look }: Watched): Promise<void> {
  const { terminal, commands } = session
  const { format } = session.shape()
  const now = (): string => new Date(commands.clock.wall()).toISOString()
  const tell = (before: Frame | null, frame: Frame): void => {
    const lines = changeLines(before, frame)
    if (lines.length === 0 && (before !== null || format === 'table')) return
    if (format === 'json') terminal.stdout(jsonText(frame.document, false))
    else if (format === 'yaml') terminal.stdout(`---\n${yamlText(frame.document)}`)
    else terminal.stdout(lines.map((line) => `${now()} ${printable(line)}\n`).join(''))
  }
  const waiting = new InterruptibleWait(session)
  let frame = first
  let lost = false
  try {
    tell(null, frame)
    while (await waiting.pause(everyMs)) {
      try {
        const next = await look()
        if (lost) terminal.stderr(`${now()} answers again\n`)
        lost = false
        tell(frame, next)
        frame = next
      } catch (thrown) {
        const line = passing(thrown)
        if (!lost) terminal.stderr(`${now()} ${printable(line)}\n`)
        lost = true
      }
    }
  } finally {
    waiting.close()
  }
}

/** A daemon that stops, a journal that cannot be read, and with --url a Keystone that does not answer. */
const passingCodes = new Set<ErrorCode>([
  ...(['JOURNAL_UNAVAILABLE', 'SHUTDOWN', 'API_UNAVAILABLE', 'API_TIMEOUT', 'API_FAULT', 'API_THROTTLED'] as const),
  'CONNECTION_LOST',
])

/** What is said of a failure that may pass while one watches. Throws all others. */
export function passing(thrown: unknown): string {
  const refusal = thrown instanceof CliFailure ? thrown.cause : thrown
  const mayPass =
    (thrown instanceof CliFailure && (thrown.exit === 'daemonDown' || thrown.exit === 'journal')) ||
    (refusal instanceof LifeboatError && passingCodes.has(refusal.code))
  if (!mayPass) throw thrown
  return reportOf(thrown).line
}

function pause(text: string): number {
  const seconds = Number(text)
  if (!/^\d{1,4}(\.\d)?$/.test(text) || seconds < 0.5 || seconds > 3600)
    throw new InvalidArgumentError('It must be a number of seconds from 0.5 to 3600.')
  return seconds
}
