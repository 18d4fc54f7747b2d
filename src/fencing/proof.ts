/**
 * The only maker of proofs of death (law L1). A proof is genuine when this module made that very object: a copy, a
 * record out of the journal or a literal with the same fields is none.
 */
import { LifeboatError } from '../domain/errors.ts'
import type { FencingProof, ProofRecord } from '../domain/fencing.ts'
import type { HostName } from '../domain/service.ts'

const genuine = new WeakSet<object>()

/** For fencing/ alone, once the host was seen dead or a person said so. */
export function makeProof(record: ProofRecord): FencingProof {
  const proof = Object.freeze({ ...record, evidence: Object.freeze([...record.evidence]) }) as unknown as FencingProof
  genuine.add(proof)
  return proof
}

/** Throws PROOF_INVALID unless this very object was made here for this host. */
export function verifyProof(proof: FencingProof, host: HostName): void {
  // Callers may hand over anything at run time, whatever the type says.
  const given: unknown = proof
  if (typeof given !== 'object' || given === null || !genuine.has(given)) {
    throw new LifeboatError('PROOF_INVALID', `The proof of death of ${host} was not made by fencing`)
  }
  if (proof.host !== host) {
    throw new LifeboatError('PROOF_INVALID', `The proof of death is for ${proof.host}, not for ${host}`)
  }
}
