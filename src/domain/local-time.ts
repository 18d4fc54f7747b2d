/**
 * Local time of a zone, and instants that people write. Pure, but for the machine's own zone.
 *
 * Where the clocks jump, a local time is shown twice or never. What a person wrote is then refused with the times to choose
 * from: a maintenance that begins an hour late has a host powered off under someone's hands.
 */
import { LifeboatError } from './errors.ts'

const dayMs = 86_400_000

/** A zone of the tz database; null: the machine's. */
export type Timezone = string | null

export function isTimezone(name: string): boolean {
  try {
    clockFaceOf(name)
    return true
  } catch {
    return false
  }
}

/** Europe/Berlin: the zone that this machine is set to. */
export function machineTimezone(): string {
  return clockFaceOf(null).resolvedOptions().timeZone
}

/** Local time minus UTC at an instant, ms. */
export function offsetAt(at: number, timezone: Timezone): number {
  const parts: Partial<Record<string, number>> = {}
  for (const { type, value } of clockFaceOf(timezone).formatToParts(at)) parts[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000
}

/** 2026-11-23 02:00 Europe/Berlin, with seconds where it has some. */
export function localText(iso: string, timezone: Timezone): string {
  const at = Date.parse(iso)
  const local = new Date(at + offsetAt(at, timezone)).toISOString()
  const minutes = `${local.slice(0, 10)} ${local.slice(11, 16)}`
  return `${minutes}${local.slice(17, 19) === '00' ? '' : local.slice(16, 19)} ${timezone ?? machineTimezone()}`
}

/**
 * An instant as a person writes it: in local time of a zone, or with an offset.
 *
 * @returns ms since the epoch
 * Throws USAGE, with what is allowed.
 */
export function instantOf(text: string, timezone: Timezone): number {
  const found = written.exec(text.trim())
  const [, date = '', time = '', fraction = '', offset] = found ?? []
  const local = found === null ? null : Date.parse(`${date}T${time}${fraction}Z`)
  // A day that the month does not have is moved into the next one, or is no time at all.
  if (local === null || Number.isNaN(local) || !new Date(local).toISOString().startsWith(`${date}T${time}`))
    throw unreadable(`"${text}" is no time`, timezone)
  if (offset === undefined) return instantOfLocal(local, text, timezone)
  const [, sign, hours, minutes] = /([+-])(\d\d):?(\d\d)/.exec(offset) ?? []
  if (Number(hours ?? 0) > 14 || Number(minutes ?? 0) > 59) throw unreadable(`"${text}" has no such offset`, timezone)
  return local - (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000
}

/** Date, time to the minute, the second or the millisecond, and an offset if there is one. */
const written = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)((?<=:\d\d:\d\d)\.\d{1,3})?\s*(Z|[+-]\d\d:?\d\d)?$/

function instantOfLocal(local: number, text: string, timezone: Timezone): number {
  const offsets = [...new Set([offsetAt(local - dayMs, timezone), offsetAt(local + dayMs, timezone)])]
  const instants = offsets.map((offset) => local - offset).filter((at) => at + offsetAt(at, timezone) === local)
  const [only, second] = instants
  const zone = timezone ?? machineTimezone()
  if (only === undefined) throw unreadable(`The clocks of ${zone} skip ${text}`, timezone)
  if (second === undefined) return only
  const choices = instants.map((at) => `${text.trim().replace(' ', 'T')}${offsetText(offsetAt(at, timezone))}`)
  throw new LifeboatError('USAGE', `The clocks of ${zone} show ${text} twice: write ${choices.join(' or ')}`)
}

function offsetText(offsetMs: number): string {
  const minutes = Math.abs(offsetMs) / 60_000
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  return `${offsetMs < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`
}

function unreadable(what: string, timezone: Timezone): LifeboatError {
  const allowed = `allowed are local time of the daemon's machine (${timezone ?? machineTimezone()}), "2026-11-23 02:00", and a time with its offset, "2026-11-23T02:00+01:00" or "2026-11-23T01:00Z"`
  return new LifeboatError('USAGE', `${what}; ${allowed}`)
}

const clockFaces = new Map<string, Intl.DateTimeFormat>()

/** Throws RangeError for a zone that does not exist. */
function clockFaceOf(timezone: Timezone): Intl.DateTimeFormat {
  const made = clockFaces.get(timezone ?? '')
  if (made !== undefined) return made
  const face = new Intl.DateTimeFormat('en-US', {
    ...(timezone !== null && { timeZone: timezone }),
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  clockFaces.set(timezone ?? '', face)
  return face
}
