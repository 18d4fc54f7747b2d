/** What a field for a moment holds, between the field's own words and real times. Pure. */

/** As the field of a browser has it: 2026-11-23T02:00. `local`: of the browser's zone. */
export type Zone = 'local' | 'utc'

/** Later the daemon takes nothing. Without a limit a browser lets people type a year of six digits. */
export const latestPick = '9999-12-31T23:59'

const latestMs = Date.parse(`${latestPick}Z`)

/** Real time, ms, as such a field has it. */
export function inputOf(ms: number, zone: Zone): string {
  const shiftMs = zone === 'utc' ? 0 : new Date(ms).getTimezoneOffset() * 60_000
  return new Date(Math.min(ms - shiftMs, latestMs)).toISOString().slice(0, 16)
}

/** The real time, ISO; null for what is none, or none that can be ordered. */
export function isoOf(text: string, zone: Zone): string | null {
  const at = new Date(zone === 'utc' ? `${text}Z` : text)
  if (Number.isNaN(at.getTime())) return null
  const iso = at.toISOString()
  // Years beyond four digits have a sign.
  return /^\d{4}-/.test(iso) ? iso : null
}
