/**
 * Typed look-ups in one cloud's raw values, with openstacksdk's spelling aliases resolved once.
 *
 * Errors made here name the place and the rule, never the value: it may be a password.
 */
import { LifeboatError } from '../domain/errors.ts'
import { isTable } from './raw-cloud.ts'
import type { RawCloud, Table } from './raw-cloud.ts'

const aliases: [from: RegExp, to: string][] = [
  [/^tenant_(id|name)$/, 'project_$1'],
  [/^auth_plugin$/, 'auth_type'],
  [/^auth_token$/, 'token'],
  [/^user_name$/, 'username'],
  [/^(.*)endpoint_type$/, '$1interface'],
]

export class SettingsReader {
  readonly #raw: RawCloud
  readonly #values: Table
  readonly #auth: Table
  /** Our spelling → the path as it was written, to find it in the file again. */
  readonly #written: Map<string, string[]>

  private constructor(raw: RawCloud, values: Table, auth: Table, written: Map<string, string[]>) {
    this.#raw = raw
    this.#values = values
    this.#auth = auth
    this.#written = written
  }

  static of(raw: RawCloud): SettingsReader {
    const written = new Map<string, string[]>()
    const { auth, ...rest } = raw.values
    if (auth !== undefined && auth !== null && !isTable(auth)) {
      throw new LifeboatError('CONFIG_INVALID', `${raw.where(['auth'])}: auth must be a mapping`)
    }
    const values = spelled(rest, [], written)
    return new SettingsReader(raw, values, isTable(auth) ? spelled(auth, ['auth'], written) : {}, written)
  }

  /** The same settings with a region's own values on top. */
  with(over: Table): SettingsReader {
    const { auth, ...rest } = over
    const none = new Map<string, string[]>()
    const values = { ...this.#values, ...spelled(rest, [], none) }
    const merged = isTable(auth) ? { ...this.#auth, ...spelled(auth, [], none) } : this.#auth
    return new SettingsReader(this.#raw, values, merged, this.#written)
  }

  /** From `auth:`, or beside it (openstacksdk moves such keys into auth; those beside it win). */
  auth(key: string): string | null {
    return this.#text(this.#values[key], key) ?? this.#text(this.#auth[key], key)
  }

  text(key: string): string | null {
    return this.#text(this.#values[key], key)
  }

  number(key: string): number | null {
    const text = this.text(key)
    if (text === null) return null
    const value = Number(text)
    if (!Number.isFinite(value)) throw this.invalid(key, `${key} must be a number`)
    return value
  }

  flag(key: string, missing: boolean): boolean {
    const value = this.#values[key]
    if (value === undefined || value === null || value === '') return missing
    if (typeof value === 'boolean') return value
    const text = this.#text(value, key)?.toLowerCase() ?? ''
    if (['true', 'yes', '1', 'on'].includes(text)) return true
    if (['false', 'no', '0', 'off'].includes(text)) return false
    throw this.invalid(key, `${key} must be true or false`)
  }

  list(key: string): string[] {
    const value = this.#values[key]
    if (!Array.isArray(value)) return this.text(key)?.split(',') ?? []
    return value.map((item) => this.#text(item, key)).filter((item) => item !== null)
  }

  /** `regions` (names or {name, values}), else `region_name` (one, comma-separated, or a list). */
  regions(): { name: string; values: Table | null }[] {
    const regions = this.#values['regions']
    if (regions === undefined || regions === null) {
      return this.list('region_name')
        .map((name) => ({ name: name.trim(), values: null }))
        .filter(({ name }) => name !== '')
    }
    if (!Array.isArray(regions)) throw this.invalid('regions', 'regions must be a list')
    return regions.map((entry: unknown) => {
      if (typeof entry === 'string') return { name: entry, values: null }
      const name = isTable(entry) ? this.#text(entry['name'], 'regions') : null
      if (!isTable(entry) || name === null)
        throw this.invalid('regions', 'a region must be a name, or have name and values')
      return { name, values: isTable(entry['values']) ? entry['values'] : null }
    })
  }

  where(key: string): string {
    return this.#raw.where(this.#written.get(key) ?? [key])
  }

  /** The error to throw: place first, then the rule. */
  invalid(key: string, rule: string): LifeboatError {
    return new LifeboatError('CONFIG_INVALID', `${this.where(key)}: ${rule}`)
  }

  #text(value: unknown, key: string): string | null {
    if (value === undefined || value === null || value === '') return null
    if (typeof value === 'string') return value
    if (typeof value === 'number' || typeof value === 'boolean') return String(value)
    throw this.invalid(key, `${key} must be text`)
  }
}

function spelled(table: Table, prefix: string[], written: Map<string, string[]>): Table {
  const result: Table = {}
  const entries = Object.entries(table).map(([key, value]) => {
    const plain = key.replaceAll('-', '_')
    const alias = aliases.find(([from]) => from.test(plain))
    return { key, name: alias ? plain.replace(alias[0], alias[1]) : plain, aliased: alias !== undefined, value }
  })
  // Today's spelling wins over an old one, in whatever order they stand.
  for (const { key, name, value } of entries.sort((a, b) => Number(b.aliased) - Number(a.aliased))) {
    result[name] = value
    written.set(name, [...prefix, key])
  }
  return result
}
