/** Says what zod found in words an operator can act on: what is wrong, and what is allowed. */
import type { z } from 'zod'
import { configJsonSchema, type JsonSchema } from './json-schema.ts'
import { nearNames } from '../domain/near-names.ts'
import type { Path, Problem, YamlSource } from '../formats/yaml-source.ts'

type Issue = z.core.$ZodIssue

/** One problem per unknown key, missing option or wrong value, in the order of the file. */
export function placeIssues(issues: readonly Issue[], source: YamlSource): Problem[] {
  return issues.flatMap((issue) => placeIssue(issue, source))
}

/** Within one file; the files themselves stay in the order in which they are read. */
export function byPlace(a: Problem, b: Problem): number {
  return a.line - b.line || a.col - b.col
}

/** hosts.cmp01, segments[0].match */
export function pathText(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    return text === '' ? String(part) : `${text}.${String(part)}`
  }, '')
}

function placeIssue(issue: Issue, source: YamlSource): Problem[] {
  const value = valueIn(source.data, issue.path)
  const name = pathText(issue.path) || 'the file'
  const show = (given: unknown): string => (isSecret(issue.path) ? 'this' : shown(given))
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        ...source.keyAt([...issue.path, key]),
        message: unknownKey(issue.path, key, source.data),
      }))
    case 'invalid_type':
      if (value === undefined)
        return [{ ...source.keyAt(issue.path), message: `${name} is missing${describe(issue.path, source.data)}` }]
      if (value === null)
        return [{ ...source.keyAt(issue.path), message: `${name} is empty (give it a value, or remove the key)` }]
      return [
        {
          ...source.valueAt(issue.path),
          message: `${name}: ${show(value)} is wrong (${custom(issue) ?? `must be ${typeName(issue.expected)}`})`,
        },
      ]
    case 'invalid_value':
      return [
        {
          ...source.valueAt(issue.path),
          message: `${name}: ${show(value)} is wrong (allowed: ${issue.values.map(String).join(', ')})`,
        },
      ]
    case 'too_small':
      return [
        {
          ...source.valueAt(issue.path),
          message: `${name}: ${show(value)} is too small (${bound(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)})`,
        },
      ]
    case 'too_big':
      return [
        {
          ...source.valueAt(issue.path),
          message: `${name}: ${show(value)} is too big (${bound(issue.origin, 'at most', issue.maximum)})`,
        },
      ]
    case 'invalid_union':
      return [{ ...source.valueAt(issue.path), message: unionMessage(issue, name, show(value), value, source.data) }]
    case 'invalid_key':
      return [
        {
          ...source.keyAt(issue.path),
          message: `${name}: this is no name for a variable (letters, digits and _, a letter first)`,
        },
      ]
    default:
      return [{ ...source.valueAt(issue.path), message: `${name}: ${show(value)} ${issue.message}` }]
  }
}

function unionMessage(issue: Issue, name: string, text: string, value: unknown, data: unknown): string {
  const kinds = branches(schemaAt(issue.path.slice(0, -1), data)).map((branch) => branch.properties?.kind?.const)
  if (issue.path.at(-1) === 'kind') {
    const allowed = `allowed: ${kinds.map(String).join(', ')}`
    return value === undefined ? `${name} is missing (${allowed})` : `${name}: ${text} is wrong (${allowed})`
  }
  return `${name}: ${text} ${custom(issue) ?? 'is wrong (must be a text or a number)'}`
}

function unknownKey(path: Path, key: string, data: unknown): string {
  const allowed = Object.keys(schemaAt(path, data)?.properties ?? {})
  const [near] = nearNames(key, allowed)
  const hint = near === undefined ? '' : `did you mean ${near}? `
  return `${pathText([...path, key])} is not an option (${hint}allowed: ${allowed.join(', ')})`
}

/** Messages that the schema states itself are better than general ones; zod's own begin with "Invalid". */
function custom(issue: Issue): string | null {
  return issue.message === '' || issue.message.startsWith('Invalid') ? null : issue.message
}

function describe(path: Path, data: unknown): string {
  const about = schemaAt(path, data)?.description
  return about === undefined ? '' : ` (${about})`
}

function valueIn(data: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, part) => (typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[part] : undefined),
    data,
  )
}

function schemaAt(path: Path, data: unknown): JsonSchema | undefined {
  let schema: JsonSchema | undefined = configJsonSchema()
  let value = data
  for (const part of path) {
    schema =
      typeof part === 'number'
        ? schema?.items
        : (chosenSchema(schema, value)?.properties?.[String(part)] ?? schema?.additionalProperties)
    value = valueIn(value, [part])
  }
  return chosenSchema(schema, value) ?? schema
}

function branches(schema: JsonSchema | undefined): JsonSchema[] {
  return schema?.oneOf ?? schema?.anyOf ?? []
}

/** Of alternatives told apart by `kind`, the one that the value names. */
export function chosenSchema(schema: JsonSchema | undefined, value: unknown): JsonSchema | undefined {
  const kind = valueIn(value, ['kind'])
  return branches(schema).find((branch) => branch.properties?.kind?.const === kind) ?? schema
}

function bound(origin: string, relation: string, limit: number | bigint): string {
  if (origin === 'string' && Number(limit) === 1) return 'must not be empty'
  const unit = origin === 'array' ? ' items' : origin === 'string' ? ' characters' : ''
  return `${relation} ${limit}${unit}`
}

function typeName(expected: string): string {
  const words: Record<string, string> = {
    object: 'a section with keys',
    record: 'a section with keys',
    array: 'a list',
    string: 'a text',
    number: 'a number',
    int: 'a whole number',
    boolean: 'true or false',
  }
  return words[expected] ?? expected
}

function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'a section'
  // A login in an address is a secret too.
  return value === undefined ? 'nothing' : JSON.stringify(value).replace(/\/\/[^/@\s]*@/g, '//***@')
}

/** Options whose value must never be repeated: problems end in logs and in the journal. */
export function isSecret(path: Path): boolean {
  if (path.includes('secret_options_files')) return false
  return path.some((part) => typeof part === 'string' && /(^|_)(pass(word|wd|phrase)?|token|secret)$/i.test(part))
}
