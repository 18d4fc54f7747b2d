/** How old the proof of death is that a run rests on: as old as the question, for the process may have stood still before the answer. */
import type { FencingProof } from '../domain/fencing.ts'
import type { Run } from './context.ts'

/**
 * What the next writes of the run rest on.
 * @param askedAt when making or reading it began, on our monotonic clock
 */
export function restOn(run: Run, proof: FencingProof, askedAt: number): void {
  run.proof = proof
  run.proofAskedAt = askedAt
  run.proofExpired = null
}

/** The process stood still since the proof was read: a person may have powered the host on meanwhile, and nothing of it beats yet. */
export function isUnread({ permissions, id, proofAskedAt }: Run): boolean {
  return permissions.incident(id).proof !== null && proofAskedAt < permissions.stoodStillUntil()
}
