/** How long instances were down. Pure. */
import type { InstanceLine } from './review.ts'

/** From its last sign of life until Nova showed it running, ms. Null: it did not run before, nobody saw it alive, or it is not back. */
export function downMs({ downSince, upAt }: Pick<InstanceLine, 'downSince' | 'upAt'>): number | null {
  return downSince === null || upAt === null ? null : Date.parse(upAt) - Date.parse(downSince)
}

/** The middle one; of an even number the lower of the two in the middle. Null of none. */
export function median(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? null
}
