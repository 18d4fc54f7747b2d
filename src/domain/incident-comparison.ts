/** Two incidents side by side: what took longer, what was decided otherwise. Plain JSON. */
import type { IncidentId } from './entry.ts'

/** What a fact belongs to, in the order in which people read them. */
export const comparedParts = {
  incident: 'What it was',
  time: 'How long each part of it took; `ms`',
  instances: 'How many had each outcome, and how long they were down',
  decisions: 'How many were decided so, by reason',
  trouble: 'What failed, and what people did by hand',
} as const

export type ComparedPart = keyof typeof comparedParts

export interface ComparedFact {
  part: ComparedPart
  fact: string
  unit: 'text' | 'ms' | 'count'
  /** Null: it has none of that. */
  first: string | number | null
  second: string | number | null
}

export function differs({ first, second }: Pick<ComparedFact, 'first' | 'second'>): boolean {
  return first !== second
}

export interface IncidentComparison {
  first: IncidentId
  second: IncidentId
  /** Those of the two that are not over: their figures still move. */
  open: IncidentId[]
  facts: ComparedFact[]
}
