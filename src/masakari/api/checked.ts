/** Bodies of requests, checked. Pure. */
import type { z } from 'zod'
import { LifeboatError } from '../../domain/errors.ts'

/** The longest message, in characters: a hostile body must not be sent back whole. */
const longestMessage = 400

/** Throws USAGE, naming the field and the rule. @param where put before the field's name, with its dot */
export function checked<S extends z.ZodType>(schema: S, value: unknown, where = ''): z.output<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const field = `${where}${issue?.path.join('.') ?? ''}`.replace(/\.$/, '')
  const message = `Invalid input for field/attribute ${field === '' ? 'body' : field}. ${issue?.message ?? ''}`
  throw new LifeboatError('USAGE', message.slice(0, longestMessage))
}
