/**
 * Whether a host's service row moved since we last knew it: the one sign of life that a daemon has before its monitor saw
 * two polls. Pure.
 *
 * The answer of a PUT has microseconds, the list whole seconds: the database cuts them off or rounds them up, so a list's
 * stamp up to the next whole second is our own write (docs/nova.md §8).
 */
import { cloudTimeMs } from '../domain/cloud-time.ts'
import type { Incident } from '../domain/incident.ts'
import { asKnown, type KnownRow } from '../domain/verdict.ts'

/** Heartbeats that a row must stand still when something other than a beat moved it. Fewer: a living host falls through. */
const stillBeats = 2.5
/** Nova's report_interval, where the incident recorded none. */
const usualBeatMs = 10_000

/** How long a host that lives cannot leave its row unmoved. */
export function stillMs({ verdict }: Pick<Incident, 'verdict'>): number {
  return stillBeats * (verdict?.evidence.intervalMs ?? usualBeatMs)
}

/**
 * silent: not moved. beating: moved, and no flag of it changed: nova-compute did that. written: moved together with a
 * flag (someone's PUT explains it), or it cannot be told; only watching on can tell.
 */
export type Movement = 'silent' | 'written' | 'beating'

/** The row as it was when we last knew why it stood so: what our own force-down left, else the verdict that opened the incident. */
export function knownRow({ hostSteps, verdict }: Pick<Incident, 'hostSteps' | 'verdict'>): KnownRow | null {
  return rowWeLeft({ hostSteps }) ?? (verdict === null ? null : laterStamp(asKnown(verdict.evidence), hostSteps))
}

/** The row as our own force-down left it; null before one is confirmed. */
export function rowWeLeft({ hostSteps }: Pick<Incident, 'hostSteps'>): KnownRow | null {
  const ours = [...hostSteps.values()].findLast((step) => step.kind === 'force-down' && step.status === 'confirmed')
  const left = ours?.kind === 'force-down' ? ours.result : null
  return left === null ? null : laterStamp(left, hostSteps)
}

/** A force-down of ours is out: whatever it has written is not on record yet. */
export function isForcingDown({ hostSteps }: Pick<Incident, 'hostSteps'>): boolean {
  return [...hostSteps.values()].some(
    ({ kind, status }) => kind === 'force-down' && (status === 'intended' || status === 'issued'),
  )
}

/** A host that lived once more was fenced again: the stamp that was looked at right before is older than that fencing. */
function laterStamp(known: KnownRow, hostSteps: Incident['hostSteps']): KnownRow {
  const stamps = [...hostSteps.values()].flatMap(({ kind, status, before }) => {
    const seen = kind === 'fence' && status === 'confirmed' ? before?.updatedAt : null
    return typeof seen === 'string' ? [seen] : []
  })
  const newest = [known.updatedAt ?? '', ...stamps].toSorted((a, b) => timeOf(a) - timeOf(b)).at(-1) ?? ''
  return newest === (known.updatedAt ?? '') ? known : { ...known, updatedAt: newest }
}

function timeOf(stamp: string): number {
  return stamp === '' ? -Infinity : cloudTimeMs(stamp)
}

export function movementSince(known: KnownRow, row: KnownRow): Movement {
  const knownMs = known.updatedAt === null ? NaN : cloudTimeMs(known.updatedAt)
  const rowMs = row.updatedAt === null ? NaN : cloudTimeMs(row.updatedAt)
  if (Number.isNaN(knownMs) || Number.isNaN(rowMs)) return 'written'
  if (rowMs <= Math.ceil(knownMs / 1_000) * 1_000) return 'silent'
  return sameFlags(known, row) ? 'beating' : 'written'
}

function sameFlags(known: KnownRow, row: KnownRow): boolean {
  const sameReason = known.disabledReason === undefined || (known.disabledReason ?? '') === (row.disabledReason ?? '')
  return known.forcedDown === row.forcedDown && known.status === row.status && sameReason
}
