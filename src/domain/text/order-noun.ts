/** What a step sends to Nova, as a noun: "the evacuation sent at 12:00". */
import type { StepKind } from '../plan.ts'

export function orderNoun(kind: StepKind): string {
  return kind === 'evacuate' ? 'evacuation' : kind
}
