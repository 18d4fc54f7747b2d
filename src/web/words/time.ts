/** Times for people: local, short, with UTC one hover away. Pure but for the browser's time zone. */

const clockFormat = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hour12: false,
})
const dayFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const yearFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' })
const zoneFormat = new Intl.DateTimeFormat(undefined, { timeZoneName: 'short' })

/** 03:12:45, or with its day when that is not today: 20 Nov 03:12:45. */
export function localTime(iso: string, nowMs: number): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return iso
  const now = new Date(nowMs)
  if (at.toDateString() === now.toDateString()) return clockFormat.format(at)
  const day = at.getFullYear() === now.getFullYear() ? dayFormat : yearFormat
  return `${day.format(at)} ${clockFormat.format(at)}`
}

/** 21 Nov 2026 03:12:45: with its day, whatever day it is. */
export function dayAndTime(iso: string): string {
  const at = new Date(iso)
  return Number.isNaN(at.getTime()) ? iso : `${yearFormat.format(at)} ${clockFormat.format(at)}`
}

/** CET (Europe/Berlin): in which zone these pages say times. Logs of the cloud are often in UTC. */
export function zoneName(iso: string): string {
  const { timeZone } = zoneFormat.resolvedOptions()
  const short = zoneFormat.formatToParts(new Date(iso)).find(({ type }) => type === 'timeZoneName')?.value ?? timeZone
  return short === timeZone ? short : `${short} (${timeZone})`
}

/** 2026-11-21 03:12:45 UTC */
export function utcTime(iso: string): string {
  const at = new Date(iso)
  return Number.isNaN(at.getTime()) ? iso : `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** just now, 40 s ago, 3 min ago, 2 h ago, 5 d ago. Coarse on purpose: it is read, not computed with. */
export function ago(iso: string, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(iso)) / 1_000))
  if (seconds < 5) return 'just now'
  if (seconds < 60) return `${seconds} s ago`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ago`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} d ago`
}
