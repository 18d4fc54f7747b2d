/**
 * The logger: JSON lines on stdout, for journald, or lines in oslo.log's shape. Owns the field names and the redaction;
 * nothing else makes a logger.
 *
 * Fields: time, level, event (a stable dotted id), msg (a sentence), host, instance, incident, step, attempt, requestId
 * (the service's), globalRequestId (ours, in the service's log too), reason, err {code, certainty, retry, message, chain}. Secrets never pass: a field whose name says that it holds one is
 * replaced at any depth, and so is what looks like a token, a password or a URL's credentials within a text.
 */
import process from 'node:process'
import pino, { type DestinationStream, type Logger as PinoLogger } from 'pino'
import type { Clock } from '../domain/clock.ts'
import { errorRecord } from '../domain/errors.ts'
import { sourceStack } from '../system/stacks.ts'
import { osloLine } from './oslo-line.ts'

export type Level = 'debug' | 'info' | 'warn' | 'error'
export type LogFormat = 'json' | 'oslo'

export interface Logger {
  log(level: Level, event: string, message: string, fields?: Record<string, unknown>, error?: unknown): void
  setLevel(level: Level): void
}

export interface LoggerOptions {
  level: Level
  /** Default: json. */
  format?: LogFormat
  clock: Clock
  /** Default: this process's. */
  pid?: number
  /** Default: stdout. */
  stream?: DestinationStream
}

/** Lines that are kept while standard output takes none. Fewer: more of them are lost; more: a full disk fills the memory, too. */
const bufferedBytes = 1_000_000

/**
 * A log file on a full disk must not end the daemon: what cannot be written waits, and what is too much is dropped. The journal has
 * it all.
 */
function standardOutput(): DestinationStream {
  const stream = pino.destination({ dest: 1, sync: true, maxLength: bufferedBytes })
  stream.on('error', () => undefined)
  return stream
}

/** Makes the daemon's logger. */
export function createLogger(options: LoggerOptions): Logger {
  const settings: pino.LoggerOptions = {
    level: options.level,
    base: null,
    timestamp: () => `,"time":"${new Date(options.clock.wall()).toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
  }
  const stream = options.stream ?? standardOutput()
  const logger: PinoLogger = pino(settings, stream)
  const { format = 'json', pid = process.pid } = options
  return {
    log: (level, event, message, fields = {}, error) => {
      if (!logger.isLevelEnabled(level)) return
      const clean = redact(fields) as Record<string, unknown>
      if (error !== undefined) clean['err'] = redact(errorFields(error))
      if (format === 'json') logger[level]({ event, ...clean }, redactText(message))
      else {
        const at = options.clock.wall()
        stream.write(`${osloLine({ at, pid, level, event, message: redactText(message), fields: clean })}\n`)
      }
    },
    setLevel: (level) => {
      logger.level = level
    },
  }
}

function errorFields(error: unknown): Record<string, unknown> {
  const { code, certainty, retry, message, chain, details } = errorRecord(error)
  // A bug is found by where it was thrown; of all other errors the code says enough.
  const stack = code === 'INVARIANT' ? stackOf(error) : undefined
  return { code, certainty, retry, message, chain, details, ...(stack !== undefined && { stack }) }
}

/** Of what was thrown first. */
function stackOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error.cause instanceof Error) return stackOf(error.cause)
  return error.stack === undefined ? undefined : sourceStack(error.stack)
}

const secretName =
  /pass(word|wd|phrase)?$|secret|token|credential(?!Id$|_id$|Name$|_name$)|^authorization$|cookie|api_?key|private_?key|user_?data|admin_?pass|session_?key/i

const removed = '[removed]'

/** Deeper than anything we log; also ends cycles. */
const maxDepth = 8

/** A copy of the value without secrets. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value)
  if (value instanceof Error) return redact(errorFields(value), depth)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= maxDepth) return '[too deep]'
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, secretName.test(name) ? removed : redact(member, depth + 1)]),
  )
}

/** How the name of a secret ends: `password`, `OS_PASSWORD`, `--db-password`, `X-Auth-Token`. */
const ends = '(?:password|passwd|secret|token)'

/** Fernet tokens, `Bearer ...`, `password=...`, `"password": "..."`, `--password ...`, and the credentials of a URL. */
const secretTexts: [RegExp, string][] = [
  [/gAAAAA[\w=-]{20,}/g, removed],
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${removed}`],
  // Looked for at the beginning of each word and nowhere else in it: a long word takes no longer.
  [new RegExp(String.raw`(?<![\w-])([\w-]*${ends}["']?\s*[:=]\s*["']?)[^\s"',;&}]+`, 'gi'), `$1${removed}`],
  [new RegExp(String.raw`(?<![\w-])(--[\w-]*${ends}\s+)\S+`, 'gi'), `$1${removed}`],
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/:@]+:[^\s/@]+@/gi, `$1${removed}@`],
]

function redactText(text: string): string {
  return secretTexts.reduce((clean, [pattern, replacement]) => clean.replace(pattern, replacement), text)
}
