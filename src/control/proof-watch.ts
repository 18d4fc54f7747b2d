/**
 * What life has overtaken: a host that beats, or that a probe found alive, after it was proven dead or after a person said that it is.
 * That is revoked on record, whatever the host does next: once it is silent again, nobody knows that it is off, and going on with the
 * old proof, or making one of the old word, would start guests that it may be running (law L1).
 */
import type { NewEntry } from '../domain/entry.ts'
import type { Verdict } from '../domain/verdict.ts'
import { revokedByLife } from '../executor/signs-of-life.ts'
import type { IncidentStore } from './incident-store.ts'

/** The entries that revoke proofs and people's words, for the verdicts of one poll. */
export function revokedProofs(verdicts: readonly Verdict[], store: Pick<IncidentStore, 'open'>): NewEntry[] {
  const vouched = store.open().filter(({ proof, word }) => (proof ?? word) !== null)
  if (vouched.length === 0) return []
  const byHost = new Map(vouched.map((open) => [open.host, open]))
  return verdicts.flatMap((verdict) => {
    const incident = byHost.get(verdict.host)
    const revoked = incident === undefined ? null : revokedByLife(verdict, incident)
    return revoked === null ? [] : [revoked]
  })
}
