/**
 * What the shapes of workflow documents have in common. All are closed: an unknown key is an error, because a misspelt one would otherwise
 * silently take a rule away.
 */
import { z } from 'zod'
import { errorCodes, type ErrorCode } from '../domain/errors.ts'
import { duration } from '../formats/duration-schema.ts'

/** An object with these keys and no others; the message of an unknown key names them. What is checked of a value says what its type says. */
export function closed<T extends z.ZodRawShape>(shape: T) {
  return z.strictObject(shape, {
    error: (issue) => {
      const allowed = Object.keys(shape).join(', ')
      // workflow.ts puts in which.
      if (issue.code === 'unrecognized_keys') return `unknown key; allowed here: ${allowed}`
      return `must be a mapping with: ${allowed}`
    },
  })
}

export function text(what: string) {
  return z.string({ error: `must be ${what}` }).min(1)
}

export function oneOf<const T extends readonly [string, ...string[]]>(values: T) {
  return z.enum(values, { error: `must be one of: ${values.join(', ')}` })
}

export function wholeNumber(least: number, most: number) {
  return z
    .int({ error: `must be a whole number from ${least} to ${most}` })
    .min(least)
    .max(most)
}

/** What a document may be about: each kind has keys of its own. */
const failures = ['host', 'process', 'instance'] as const

export const id = z
  .string({ error: 'must be an id' })
  .regex(/^[a-z][a-z0-9-]*$/, { error: 'must be an id: lower case letters, digits and hyphens' })
export const reference = text('the name of a recipe')
export const condition = text('a condition (CEL), in quotes')
export const sentence = text('a sentence; ${…} inserts a fact')
/** Zero would fail every step at once; the upper bound only keeps the end of a step a date that can be written. */
export const limit = duration('1ms', '1000000d')
export const isSo = z.literal(true, { error: 'must be true, or not there' }).optional()
export const reason = z
  .string({ error: 'must be a code, e.g. RUNNING' })
  .regex(/^[A-Z][A-Z0-9_]*$/, { error: 'must be a code: upper case letters, digits and _' })

export const codes = Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]]
const errorCode = z.enum(codes, { error: 'must be an error code of docs/reference/errors.md' })

export const retry = closed({
  on: z
    .array(errorCode, { error: 'must be a list of error codes' })
    .min(1, { error: 'must name at least one error code' }),
  attempts: wholeNumber(2, 1_000),
  first: limit,
  cap: limit,
})

/** The keys that every document begins with. */
export const head = {
  apiVersion: oneOf(['lifeboat/v1']),
  kind: oneOf(['RecoveryWorkflow']),
  metadata: closed({ name: id, revision: wholeNumber(1, 1_000_000_000), summary: text('a sentence') }),
  failure: oneOf(failures),
}

/** Named recipes of this shape. */
export function recipesOf<T extends z.ZodType>(recipe: T) {
  return z.record(id, recipe, {
    error: (issue) =>
      issue.code === 'invalid_key'
        ? 'must be an id: lower case letters, digits and hyphens'
        : 'must be a mapping of recipes',
  })
}

export function rulesOf<T extends z.ZodType>(rule: T) {
  return z.array(rule, { error: 'must be a list of rules' }).min(1, { error: 'must hold at least one rule' })
}
