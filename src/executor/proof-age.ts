/** The age of the proof of death that a run rests on. It counts from the question: the process may have stood still before the answer. */
import type { FencingProof } from '../domain/fencing.ts'
import type { Run } from './context.ts'

/**
 * From now on the run's writes rest on this proof.
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
