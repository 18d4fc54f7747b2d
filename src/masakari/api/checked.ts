/**
 * Bodies of requests, checked, and refused in Masakari's own words: its schemas and those of jsonschema, which operators know and search for.
 * Of several mistakes the one is told that Masakari finds first. Pure.
 */
import type { z } from 'zod'
import { LifeboatError } from '../../domain/errors.ts'
import { listed, printed, quoted } from './python-text.ts'

/** The longest message, in characters. */
const longestMessage = 400

type Issue = z.core.$ZodIssue

/** Words for what only the field tells: zod's issue says neither the types that a field may have, nor Masakari's pattern. */
export interface FieldWords {
  /** As Masakari lists them. Default: the type that the schema names. */
  types?: readonly string[]
  /** Of a text of the wrong form: what stands behind its quotation, or a whole sentence instead. */
  form?: string | { sentence: string }
  /** What it may be, where the schema is a union. */
  oneOf?: readonly unknown[]
}

/** Throws USAGE, naming the field and the rule. */
export function checked<S extends z.ZodType>(
  schema: S,
  value: unknown,
  words: Readonly<Record<string, FieldWords>> = {},
): z.output<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues.toSorted((a, b) => placeOf(b, value) - placeOf(a, value))
  throw refused(issue === undefined ? 'it is wrong' : worded(issue, value, words))
}

/** A refusal in Masakari's words. */
export function refused(message: string): LifeboatError {
  return new LifeboatError('USAGE', message.slice(0, longestMessage))
}

/** A field that is wrong, what it is, and the rule. */
export function wrongField(field: string, value: unknown, rule: string): string {
  return `Invalid input for field/attribute ${field}. Value: ${printed(value)}. ${rule}`
}

/** How early Masakari finds it: fields before what is missing or too much beside them, and inner objects before outer ones. */
function placeOf(issue: Issue, value: unknown): number {
  const isExtra = issue.code === 'unrecognized_keys'
  const depth = issue.path.length - (isExtra ? 0 : 1)
  // Its schemas of segments and hosts ask for fields last of all, its others first.
  const isAsked = isExtra && issue.path.length > 0 ? 1 : 0
  return 3 * depth + (ofObject(issue, value) ? isAsked : 2)
}

function ofObject(issue: Issue, value: unknown): boolean {
  return issue.code === 'unrecognized_keys' || issue.code === 'invalid_key' || isMissing(issue, value)
}

function isMissing({ path }: Issue, value: unknown): boolean {
  return path.length > 0 && at(value, path) === undefined
}

function worded(issue: Issue, value: unknown, words: Readonly<Record<string, FieldWords>>): string {
  const { path } = issue
  const [last, parent] = [String(path.at(-1) ?? ''), path.slice(0, -1)]
  const placed = (where: readonly PropertyKey[], rule: string): string =>
    where.length === 0 ? rule : wrongField(String(where.at(-1)), at(value, where), rule)
  if (isMissing(issue, value)) return placed(parent, `'${last}' is a required property`)
  if (issue.code === 'unrecognized_keys') {
    const verb = issue.keys.length === 1 ? 'was' : 'were'
    return placed(path, `Additional properties are not allowed (${listed(issue.keys.toSorted())} ${verb} unexpected)`)
  }
  if (issue.code === 'invalid_key')
    return placed(parent, `${quoted(last)} does not match any of the regexes: ${words['keys']?.form as string}`)
  const field = words[last] ?? {}
  const rule = ruleOf(issue, at(value, path), field)
  return typeof rule === 'string' ? placed(path, rule) : rule.sentence
}

function ruleOf(issue: Issue, value: unknown, { types, form, oneOf }: FieldWords): string | { sentence: string } {
  const isText = typeof value === 'string'
  const wrongType = (expected: string): string =>
    `${quoted(value)} is not of type ${listed(types ?? [expected === 'record' ? 'object' : expected])}`
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(issue.expected)
    case 'invalid_value':
      return isText ? `${quoted(value)} is not one of [${listed(issue.values)}]` : wrongType('string')
    case 'invalid_union':
      return isText && oneOf !== undefined ? `${quoted(value)} is not one of [${listed(oneOf)}]` : wrongType('string')
    case 'too_small':
      return `${quoted(value)} is too short`
    case 'too_big':
      return `${quoted(value)} is too long`
    case 'invalid_format':
      return typeof form === 'object' ? form : `${quoted(value)} ${form ?? issue.message}`
    default:
      return `${quoted(value)} is not valid under any of the given schemas`
  }
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key)
        ? (inner as Record<PropertyKey, unknown>)[key]
        : undefined,
    value,
  )
}
