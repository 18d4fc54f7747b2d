/** The lines of `lifeboat check`. */
import type { CheckLine } from '../cli/composition.ts'
import { ensureError } from '../domain/errors.ts'

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
