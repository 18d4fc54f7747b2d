/**
 * Which compute microversion each call is sent at. Versions are held as the minor number: 2.95 is 95.
 *
 * Reads go at 2.90 at the most: from 2.96 on Nova joins the request spec into every listing and answered 500 for a project
 * with a spec-less server (docs/nova.md §1.1), and the fields we know were tested up to there.
 */
import type { Landing } from '../domain/cloud.ts'
import { LifeboatError } from '../domain/errors.ts'

export interface MicroversionRange {
  min: number
  max: number
}

/** Below it services have no UUID and cannot be updated by one. */
export const floor = 53
const readsAt = 90
const landsStoppedAt = 95
const hypervisorDetailsAt = 87

/** When fields and paging arrived, as far as the floor leaves a doubt. (2.9 locked, 2.26 tags, 2.47 flavor: always there.) */
export const since = {
  actionPaging: 58,
  migrationPaging: 59,
  serverGroupPolicy: 64,
  unknownServices: 69,
  lockedReason: 73,
} as const

/** Picks a version, or throws MICROVERSION_UNSUPPORTED. */
export type Pick = (range: MicroversionRange) => number

/** "2.100" → 100. Null for anything that is no 2.x version. */
export function parseMicroversion(text: string): number | null {
  const match = /^2\.(\d{1,4})$/.exec(text)
  return match === null ? null : Number(match[1])
}

export function formatMicroversion(minor: number): string {
  return `2.${minor}`
}

export const forReads: Pick = (range) => Math.min(readsAt, range.max)

/** From 2.88 the details of hypervisors hold their uptime, and each nova-compute is asked for it (docs/nova.md §1.7). */
export const forHypervisors: Pick = (range) => Math.min(hypervisorDetailsAt, range.max)

/** 2.95 stops the guest on the destination, 2.94 and lower leave it as it was (docs/nova.md fact 2, §2.1). */
export function forLanding(landing: Landing): Pick {
  return (range) => {
    if (landing === 'as-before') return Math.min(landsStoppedAt - 1, range.max)
    if (range.max >= landsStoppedAt) return landsStoppedAt
    throw new LifeboatError(
      'MICROVERSION_UNSUPPORTED',
      `landing stopped needs microversion 2.95, this cloud has ${formatMicroversion(range.max)} at the most`,
      { certainty: 'not-applied', details: { needs: '2.95', max: formatMicroversion(range.max) } },
    )
  }
}

export function landsStopped(range: MicroversionRange): boolean {
  return range.max >= landsStoppedAt
}

/** @throws LifeboatError MICROVERSION_UNSUPPORTED below the floor */
export function checkFloor(range: MicroversionRange): MicroversionRange {
  if (range.max >= floor && range.min <= floor) return range
  const has = `${formatMicroversion(range.min)} to ${formatMicroversion(range.max)}`
  throw new LifeboatError(
    'MICROVERSION_UNSUPPORTED',
    `Lifeboat needs compute microversion 2.53, this cloud has ${has}`,
    {
      details: { needs: '2.53', min: formatMicroversion(range.min), max: formatMicroversion(range.max) },
    },
  )
}
