/** Facts of two incidents as people read them, on the pages and on the command line alike. Pure. */
import type { ComparedFact } from '../incident-comparison.ts'
import { span } from './span.ts'

/** A dash: it has none of that. */
export function comparedText({ unit }: Pick<ComparedFact, 'unit'>, value: ComparedFact['first']): string {
  if (value === null) return '–'
  return unit === 'ms' && typeof value === 'number' ? span(value) : String(value)
}

/** How the second differs from the first: `12 s longer`, `3 fewer`. Null where that is no number. */
export function differenceText({ unit, first, second }: Omit<ComparedFact, 'part' | 'fact'>): string | null {
  if (typeof first !== 'number' || typeof second !== 'number' || first === second) return null
  const difference = Math.abs(second - first)
  if (unit === 'ms') return `${span(difference)} ${second > first ? 'longer' : 'shorter'}`
  return `${difference} ${second > first ? 'more' : 'fewer'}`
}
