/** Checks what only the whole file can show: names that nothing defines, numbers that contradict each other. */
import type { ConfigFile, SegmentSettings } from './schema.ts'
import type { Report } from './secrets.ts'
import { queryVariables, variablesIn } from './template.ts'
import { checkWindows } from './windows.ts'
import type { Path } from './yaml-source.ts'

export function checkReferences(file: ConfigFile, report: Report): void {
  checkMonitor(file, report)
  checkWindows(file, report)
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
  for (const [kind, witnesses] of [
    ['probes', file.probes],
    ['fencing', file.fencing],
  ] as const) {
    for (const [name, witness] of Object.entries<object>(witnesses)) checkTemplates(file, witness, [kind, name], report)
  }
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
  for (const [kind, used, defined] of [
    ['probes', settings.probes ?? [], Object.keys(file.probes)],
    ['fencing', settings.fencing ?? [], Object.keys(file.fencing)],
  ] as const) {
    for (const [index, name] of used.entries()) {
      if (defined.includes(name)) continue
      report(
        [...path, kind, index],
        `${kind} has no "${name}" (defined: ${defined.length > 0 ? defined.join(', ') : 'none'})`,
      )
    }
  }
}

/** Options that take the variables of `hosts`. */
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
