/** One thing that can happen in a scenario: what the script may say of it, and how it is played. */
import type { z } from 'zod'
import type { Stage } from './stage.ts'

export interface Act {
  schema: z.ZodType
  /** `given` has passed the schema. */
  play(stage: Stage, given: never): Promise<void> | void
}

/** Keeps an act's schema and its play together; the table forgets the type, the schema guards it. */
export function act<S extends z.ZodType>(
  schema: S,
  play: (stage: Stage, given: z.output<S>) => Promise<void> | void,
): Act {
  return { schema, play }
}
