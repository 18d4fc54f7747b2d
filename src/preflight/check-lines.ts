/** The lines of `lifeboat check`. */
import { ensureError } from '../domain/errors.ts'
import type { HostName } from '../domain/service.ts'

/** One thing that `check` looked at. */
export interface CheckLine {
  /** What was looked at, e.g. "compute API", "fencing bmc on cmp01". */
  what: string
  /** skip: not looked at, because something else is not in order. */
  result: 'ok' | 'warn' | 'fail' | 'skip'
  /** What was found; of what was skipped: why. */
  message: string
  /** What to do about it; null when there is nothing to do. */
  advice: string | null
  /** Of one host among many: what was looked at on each of them, e.g. "fencing by bmc". */
  each?: { what: string; host: HostName }
}

export const ok = (what: string, message: string): CheckLine => ({ what, result: 'ok', message, advice: null })

export const warn = (what: string, message: string, advice: string): CheckLine => ({
  what,
  result: 'warn',
  message,
  advice,
})

/** With every cause: "not reached" alone does not say whether a port is closed or a name unknown. */
export const fail = (what: string, thrown: unknown, advice: string): CheckLine => ({
  what,
  result: 'fail',
  message: withCauses(thrown),
  advice,
})

/** Nobody may take for granted what was not looked at. */
export const skip = (what: string, why: string): CheckLine => ({
  what,
  result: 'skip',
  message: `not checked: ${why}`,
  advice: null,
})

function withCauses(thrown: unknown): string {
  const told: string[] = [ensureError(thrown).message]
  for (let at = ensureError(thrown).cause; at instanceof Error && told.length < 5; at = at.cause)
    if (!told.some((text) => text.includes(at.message))) told.push(at.message)
  return told.join(', because: ')
}
