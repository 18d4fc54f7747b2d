/**
 * The configuration as it holds: every option in the words of the file, with its default where nobody set it, where it is
 * from, and whether a reload can change it. For people to look at and for two of them to be compared. Decides nothing.
 */
import { builtInSettings } from '../domain/segment.ts'
import { formatDuration } from '../formats/duration.ts'
import { configJsonSchema, reloadMark, type JsonSchema, type ReloadMark } from './json-schema.ts'
import type { MergedSource } from './merged-source.ts'
import { chosenSchema, isSecret, pathText } from './problems.ts'
import type { Path } from '../formats/yaml-source.ts'
import type { EffectiveOption } from './shown-options.ts'

/** What the environment decides when the file is silent: name -> value and where it is from. */
export type Surroundings = Readonly<Record<string, { value: unknown; origin: string }>>

interface Place {
  schema: JsonSchema
  value: unknown
  path: Path
  name: string
  reload: ReloadMark
  item: string | null
}

/** @param source valid by the schema */
export function effectiveOptions(source: MergedSource, surroundings: Surroundings): EffectiveOption[] {
  const options: EffectiveOption[] = []
  const originOf = (path: Path): string => {
    if (source.fileOf(path) === null) return 'default'
    const { file, line } = source.valueAt(path)
    return `${file}:${line}`
  }
  const walk = (place: Place): void => {
    const { value, path, name, item } = place
    const schema = chosenSchema(place.schema, value) ?? place.schema
    const reload = reloadMark(schema) ?? reloadMark(place.schema) ?? place.reload
    const inside = (key: string, inner: JsonSchema, given: unknown, named: boolean): void => {
      const own = pathText([...(name === '' ? [] : [name]), key])
      walk({ schema: inner, value: given, path: [...path, key], name: own, reload, item: named ? own : item })
    }
    if (isMap(value) && schema.properties !== undefined) {
      for (const [key, inner] of Object.entries(schema.properties)) {
        const given = value[key] ?? inner.default
        const around = path.length === 0 ? surroundings[key] : undefined
        if (given !== undefined) inside(key, inner, given, false)
        else if (around !== undefined)
          options.push({ name: key, ...around, secret: false, reload: reloadMark(inner) ?? reload, item: null })
      }
    } else if (isMap(value) && typeof schema.additionalProperties === 'object' && Object.keys(value).length > 0) {
      for (const [key, given] of Object.entries(value)) inside(key, schema.additionalProperties, given, item === null)
    } else if (Array.isArray(value) && value.length > 0 && value.every(isNamed)) {
      for (const [index, given] of value.entries()) {
        const own = `${name}[${given.name}]`
        walk({ schema: schema.items ?? {}, value: given, path: [...path, index], name: own, reload, item: own })
      }
    } else options.push({ name, value, origin: originOf(path), secret: isSecret(path), reload, item })
  }
  const data = isMap(source.data) ? source.data : {}
  const value = { ...data, defaults: laidOver(builtInDefaults, data['defaults'] ?? {}) }
  walk({ schema: configJsonSchema(), value, path: [], name: '', reload: 'restart', item: null })
  return options
}

/** What two configurations say differently, by name: `live` takes effect at once, `restart` at the next start. */
export interface ConfigChanges {
  live: string[]
  restart: string[]
}

export function changesBetween(from: readonly EffectiveOption[], to: readonly EffectiveOption[]): ConfigChanges {
  const before = new Map(from.map((option) => [option.name, option]))
  const after = new Map(to.map((option) => [option.name, option]))
  const itemsBefore = new Set(from.map(({ item }) => item))
  const itemsAfter = new Set(to.map(({ item }) => item))
  const found: Record<ReloadMark, Set<string>> = { live: new Set(), restart: new Set() }
  for (const option of to) {
    const was = before.get(option.name)
    if (option.item !== null && !itemsBefore.has(option.item)) found[option.reload].add(`${option.item} (new)`)
    else if (was === undefined || !same(was.value, option.value)) found[option.reload].add(option.name)
  }
  for (const option of from) {
    if (after.has(option.name)) continue
    const gone = option.item !== null && !itemsAfter.has(option.item)
    found[option.reload].add(gone ? `${option.item ?? ''} (gone)` : option.name)
  }
  for (const list of ['segments', 'maintenance_windows'])
    if (reordered(list, from, to)) found.live.add(`${list} (order)`)
  // An empty list or map that is filled, or emptied, is told by its items.
  return { live: withoutEmpty(found.live), restart: withoutEmpty(found.restart) }
}

function withoutEmpty(names: ReadonlySet<string>): string[] {
  const all = [...names]
  return all.filter(
    (name) =>
      !all.some(
        (other) => / \((new|gone)\)$/.test(other) && /^[.[]/.test(other.slice(name.length)) && other.startsWith(name),
      ),
  )
}

/** The first segment that fits wins: their order is a setting of its own. */
function reordered(list: string, from: readonly EffectiveOption[], to: readonly EffectiveOption[]): boolean {
  const names = (options: readonly EffectiveOption[]): string[] => [
    ...new Set(options.flatMap(({ item }) => (item?.startsWith(`${list}[`) === true ? [item] : []))),
  ]
  const [before, after] = [names(from), names(to)]
  return !same(
    before.filter((name) => after.includes(name)),
    after.filter((name) => before.includes(name)),
  )
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

const { policy, brake, return: returns, restart } = builtInSettings

/** What the segments' settings are when not even `defaults` says so. */
const builtInDefaults: Record<string, unknown> = {
  storage: builtInSettings.storage,
  fencing: builtInSettings.fencing,
  probes: builtInSettings.probes,
  on_declared_down: builtInSettings.onDeclaredDown,
  on_disabled_down: builtInSettings.onDisabledDown,
  on_service_down: builtInSettings.onServiceDown,
  policy: {
    stopped: policy.stopped,
    error_before: policy.errorBefore,
    memory_lost: policy.memoryLost,
    unasked: policy.unasked,
  },
  brake: { max_hosts: brake.maxHosts, max_share: brake.maxShare },
  priority: builtInSettings.priority,
  return: {
    mode: returns.mode,
    healthy: formatDuration(returns.healthyMs),
    max_returns: returns.maxReturns,
    within: formatDuration(returns.withinMs),
    start_stopped: returns.startStopped,
  },
  restart: {
    unasked: restart.unasked,
    max_restarts: restart.maxRestarts,
    within: formatDuration(restart.withinMs),
    max_per_host: restart.maxPerHost,
  },
  max_parallel_per_host: builtInSettings.maxParallelPerHost,
}

function laidOver(under: unknown, over: unknown): unknown {
  if (!isMap(under) || !isMap(over)) return over
  return Object.fromEntries(
    [...new Set([...Object.keys(under), ...Object.keys(over)])].map((key) => [
      key,
      over[key] === undefined ? under[key] : laidOver(under[key], over[key]),
    ]),
  )
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isNamed(value: unknown): value is { name: string } {
  return isMap(value) && typeof value['name'] === 'string'
}
