/** Checks what only the whole file can show: names that nothing defines, numbers that contradict each other. */
import { formatDuration } from '../formats/duration.ts'
import type { ConfigFile, SegmentSettings } from './schema.ts'
import type { Report } from './secrets.ts'
import { queryVariables, variablesIn } from './template.ts'
import { checkWindows } from './windows.ts'
import type { Path } from '../formats/yaml-source.ts'

export function checkReferences(file: ConfigFile, report: Report): void {
  checkMonitor(file, report)
  checkWindows(file, report)
  checkMethods(file, report)
  checkSettings(file, file.defaults, ['defaults'], report)
  const seen = new Set<string>()
  for (const [index, segment] of file.segments.entries()) {
    const path = ['segments', index] as const
    checkSettings(file, segment, path, report)
    if (seen.has(segment.name))
      report([...path, 'name'], `there are two segments called "${segment.name}" (each name once)`)
    if (/^default(:|$)/.test(segment.name))
      report([...path, 'name'], `"${segment.name}" is the name of hosts without a segment (choose another)`)
    seen.add(segment.name)
    const { hosts = [], zones = [], aggregates = [] } = segment.match
    if (hosts.length + zones.length + aggregates.length === 0)
      report(
        [...path, 'match'],
        'matches nothing (give hosts, zones or aggregates; to match every host use hosts: ["*"])',
      )
  }
  checkUuids(file, seen, report)
  for (const [kind, witnesses] of [
    ['probes', file.probes],
    ['fencing', file.fencing],
  ] as const) {
    for (const [name, witness] of Object.entries<object>(witnesses)) checkTemplates(file, witness, [kind, name], report)
  }
}

/** Clients of Masakari's API take what has one UUID for one thing. Hosts are not checked by name: Nova alone lists them. */
function checkUuids(file: ConfigFile, segments: ReadonlySet<string>, report: Report): void {
  const given = new Map<string, string>()
  for (const [kind, uuids] of Object.entries(file.masakariApi.uuids)) {
    for (const [name, uuid] of Object.entries(uuids)) {
      const path = ['masakari_api', 'uuids', kind, name]
      const other = given.get(uuid)
      if (other !== undefined) report(path, `"${other}" has this UUID too (each UUID once)`)
      if (kind === 'segments' && !segments.has(name)) {
        const defined = segments.size > 0 ? [...segments].join(', ') : 'none'
        report(path, `there is no segment "${name}" (defined: ${defined})`)
      }
      given.set(uuid, name)
    }
  }
}

type MethodFile = ConfigFile['fencing'][string]

/** One try of a fencing method, ms: as given, or what its own time limits allow together. */
export function attemptLimit(method: MethodFile): number {
  return method.attemptTimeout ?? partLimits(method).reduce((sum, part) => sum + part, 0)
}

/** What a try consists of, each with the longest it may take. */
function partLimits(method: MethodFile): number[] {
  switch (method.kind) {
    case 'redfish':
      // First reading, order, and the readings until it is off.
      return [method.requestTimeout, method.requestTimeout, method.offTimeout]
    case 'fence-agent':
      // Off, one look at its failure, and the readings until it is off.
      return [method.timeout, method.timeout, method.timeout]
    case 'command':
      return [method.timeout, method.timeout]
  }
}

function checkMethods(file: ConfigFile, report: Report): void {
  for (const [name, method] of Object.entries(file.fencing)) {
    const { attemptTimeout } = method
    const longest = Math.max(...partLimits(method))
    if (attemptTimeout !== undefined && attemptTimeout < longest)
      report(
        ['fencing', name, 'attempt_timeout'],
        `is ${formatDuration(attemptTimeout)}, but one part of a try alone may take ${formatDuration(longest)} (at least that)`,
      )
    if (method.kind === 'command' && method.renew !== undefined && method.renew <= attemptLimit(method))
      report(
        ['fencing', name, 'renew'],
        `is ${formatDuration(method.renew)}, but one try may take ${formatDuration(attemptLimit(method))} (must be more)`,
      )
  }
  if (file.fenceRetryMax < file.fenceRetry)
    report(
      ['fence_retry_max'],
      `is ${formatDuration(file.fenceRetryMax)}, but the first pause is ${formatDuration(file.fenceRetry)} (at least fence_retry)`,
    )
}

/** A chain that cannot reach its last method in time promises a proof that never comes. */
function checkChain(file: ConfigFile, settings: SegmentSettings, path: Path, report: Report): void {
  const limitMs = settings.fencingTimeout ?? file.defaults.fencingTimeout
  if (limitMs === undefined) return
  const methods = (settings.fencing ?? file.defaults.fencing ?? []).flatMap((name) => file.fencing[name] ?? [])
  const neededMs = methods.reduce((sum, method) => sum + method.attempts * attemptLimit(method), 0)
  if (limitMs >= neededMs) return
  report(
    [...path, settings.fencingTimeout === undefined ? 'fencing' : 'fencing_timeout'],
    `the chain has ${formatDuration(limitMs)} (fencing_timeout), but its methods may take ${formatDuration(neededMs)}: the last would not be tried to its end`,
  )
}

/** Anyone who fences a living host must be able to. */
function checkIsolated(file: ConfigFile, settings: SegmentSettings, path: Path, report: Report): void {
  const fences = (settings.onServiceDown ?? file.defaults.onServiceDown) === 'fence'
  const methods = settings.fencing ?? file.defaults.fencing ?? []
  if (fences && methods.length === 0)
    report(
      [...path, settings.onServiceDown === undefined ? 'fencing' : 'on_service_down'],
      'on_service_down is fence, but no fencing method is named: a living host is never evacuated on a word alone (name one under fencing)',
    )
}

function checkMonitor(file: ConfigFile, report: Report): void {
  const { suspectAfterBeats, confirmAfterBeats } = file.monitor
  if (confirmAfterBeats <= suspectAfterBeats) {
    report(
      ['monitor', 'confirm_after_beats'],
      `is ${confirmAfterBeats}, but a host is only suspect after ${suspectAfterBeats} (must be more than suspect_after_beats)`,
    )
  }
}

function checkSettings(file: ConfigFile, settings: SegmentSettings, path: Path, report: Report): void {
  checkChain(file, settings, path, report)
  checkIsolated(file, settings, path, report)
  for (const [kind, used, defined] of [
    ['probes', settings.probes ?? [], Object.keys(file.probes)],
    ['fencing', settings.fencing ?? [], Object.keys(file.fencing)],
  ] as const) {
    for (const [index, name] of used.entries()) {
      if (used.indexOf(name) < index) report([...path, kind, index], `names "${name}" a second time (each once)`)
      if (defined.includes(name)) continue
      report(
        [...path, kind, index],
        `${kind} has no "${name}" (defined: ${defined.length > 0 ? defined.join(', ') : 'none'})`,
      )
    }
  }
}

/** Options that take the variables of `hosts`, whatever witness they are of. One that is missing here is not checked. */
const templateKeys = ['address', 'argv', 'system', 'username', 'fence', 'verify', 'options'] as const

function checkTemplates(file: ConfigFile, witness: object, path: Path, report: Report): void {
  const known = new Set(['host', ...Object.values(file.hosts).flatMap((variables) => Object.keys(variables))])
  for (const key of [...templateKeys, 'query'] as const) {
    for (const [where, template] of textsIn((witness as Record<string, unknown>)[key], [key])) {
      for (const name of key === 'query' ? queryVariables(template) : variablesIn(template)) {
        if (known.has(name)) continue
        if (name === '{' || name === '}')
          report([...path, ...where], `"${template}" has a stray ${name} (write ${name}${name} for the brace itself)`)
        else
          report(
            [...path, ...where],
            `no host has the variable {${name}} (known: ${[...known].map((each) => `{${each}}`).join(', ')}; define it under hosts)`,
          )
      }
    }
  }
}

function textsIn(value: unknown, path: Path): [Path, string][] {
  if (typeof value === 'string') return [[path, value]]
  if (Array.isArray(value)) return value.flatMap((inner, index) => textsIn(inner, [...path, index]))
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, [...path, key]))
  return []
}
