/** How an instance ended in its incident (law L9: every instance of a failed host ends with an outcome). */
import { powerState } from './instance.ts'

/** The outcomes, each with what it means. */
export const outcomes = {
  recovered: 'It is in the state that its owner wants, as Nova confirms',
  left: 'It was left where it is, for the reason given',
  failed: 'It could not be recovered, and Lifeboat will not try again by itself',
  stuck: 'Nobody can tell whether it runs: a person must look',
} as const

export type OutcomeKind = keyof typeof outcomes

export interface Outcome {
  outcome: OutcomeKind
  /** Stable code: the plan's reason, an error's code, or one of those of a host's return (after-return.ts) or a crash (instance-failure.ts). */
  code: string
  message: string
  /** What Nova showed at the end. Null when nothing was done or it could not be read. */
  after: { host: string | null; vmState: string; taskState: string | null; powerState: number; locked: boolean } | null
  /** If another evacuation was carried out besides the one that had landed: where its guest may run, and the records of both. */
  crossed?: { destinations: string[]; migrations: string[] }
}

/** Whether Nova showed it running at the end: what was recovered stopped, as it lands by some rules, does not run. */
export function runsAgain(outcome: Pick<Outcome, 'outcome' | 'after'> | null): boolean {
  return outcome?.outcome === 'recovered' && outcome.after?.powerState === powerState.running
}
