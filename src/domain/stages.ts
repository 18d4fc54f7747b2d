/**
 * What was done with an instance and when, in few words: tries of one step that follow each other are one stage. Pure. The daemon makes
 * it from its record, and pages go on with the entries that arrive.
 */
import type { StepKind } from './plan.ts'

export interface Stage {
  kind: StepKind
  from: string
  /** Null: under way. */
  to: string | null
}

/** A step of that kind begins. */
export function withBegun(stages: readonly Stage[], kind: StepKind, at: string): Stage[] {
  const last = stages.at(-1)
  if (last?.kind === kind) return [...stages.slice(0, -1), { ...last, to: null }]
  return [...stages, { kind, from: at, to: null }]
}

/** The step under way ends, however it does. */
export function withEnded(stages: readonly Stage[], at: string): Stage[] {
  const last = stages.at(-1)
  return last === undefined || last.to !== null ? [...stages] : [...stages.slice(0, -1), { ...last, to: at }]
}
