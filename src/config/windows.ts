/** Maintenance windows of the configuration: what the schema alone cannot check, and their form in the program. */
import { validateDetailed } from 'node-cron'
import type { Scope } from '../domain/order.ts'
import { isTimezone } from '../domain/local-time.ts'
import { startsWithin, type MaintenanceWindow } from '../orders/maintenance-window.ts'
import { formatDuration } from '../formats/duration.ts'
import type { ConfigFile, MaintenanceWindowRule } from './schema.ts'
import type { Report } from './secrets.ts'

export function checkWindows(file: ConfigFile, report: Report): void {
  const segments = file.segments.map(({ name }) => name)
  const seen = new Set<string>()
  for (const [index, window] of file.maintenanceWindows.entries()) {
    const path = ['maintenance_windows', index] as const
    if (seen.has(window.name))
      report([...path, 'name'], `there are two windows called "${window.name}" (each name once)`)
    seen.add(window.name)
    if (window.timezone !== undefined && !isTimezone(window.timezone))
      report(
        [...path, 'timezone'],
        `"${window.timezone}" is no time zone (a name of the tz database, e.g. Europe/Berlin)`,
      )
    const given = Object.values(window.scope).filter((part) => part !== undefined)
    if (given.length !== 1)
      report(
        [...path, 'scope'],
        `says ${given.length === 0 ? 'nothing' : 'several things'} (exactly one of hosts, segments, cloud)`,
      )
    for (const [at, name] of (window.scope.segments ?? []).entries()) {
      if (segments.includes(name) || /^default(:|$)/.test(name)) continue
      const defined = segments.length > 0 ? segments.join(', ') : 'none'
      report([...path, 'scope', 'segments', at], `there is no segment "${name}" (defined: ${defined}; or default:ZONE)`)
    }
    const problem = scheduleProblem(window)
    if (problem !== null) report([...path, problem.key], problem.message)
  }
}

export function resolveWindow(rule: MaintenanceWindowRule): MaintenanceWindow {
  const { name, kind, schedule, duration, timezone = null, reason } = rule
  return { name, kind, schedule: schedule.trim(), durationMs: duration, timezone, scopes: scopesOf(rule), reason }
}

function scopesOf({ scope: { hosts, segments } }: MaintenanceWindowRule): Scope[] {
  if (hosts !== undefined) return [...new Set(hosts)].map((name) => ({ kind: 'host', name }))
  if (segments !== undefined) return [...new Set(segments)].map((name) => ({ kind: 'segment', name }))
  return [{ kind: 'cloud', name: null }]
}

function scheduleProblem({ schedule, duration }: MaintenanceWindowRule): { key: string; message: string } | null {
  const text = schedule.trim()
  const fields = text.split(/\s+/).length
  const wrong = (why: string): { key: string; message: string } => ({
    key: 'schedule',
    message: `"${schedule}" ${why} (minute, hour, day of month, month, day of week; e.g. 0 2 * * 6)`,
  })
  // node-cron would take a sixth field for seconds in front: every field would silently mean another thing.
  if (fields !== 5 && !text.startsWith('@')) return wrong(`has ${fields} fields`)
  const { valid, errors } = validateDetailed(text)
  if (!valid) return wrong(`is no schedule: ${errors.map(({ field, message }) => `${field}: ${message}`).join('; ')}`)
  const near = startsWithin(text, duration)
  if (near === 'never') return wrong('never happens')
  if (near === null) return null
  const message = `is ${formatDuration(duration)}, but it opens again after ${formatDuration(near.periodMs)}: it would never be closed (must be shorter than the time between two openings)`
  return { key: 'duration', message }
}
