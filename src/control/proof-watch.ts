/**
 * Proofs of death that life has overtaken: a host that beats, or that a probe found alive, after it was proven dead. Its proof is
 * revoked on record, whatever the host does next: once it is silent again, nobody knows that it is off, and going on with the old
 * proof would start guests that it may be running (law L1).
 */
import { cloudTimeMs } from '../domain/cloud-time.ts'
import type { NewEntry } from '../domain/entry.ts'
import type { Incident } from '../domain/incident.ts'
import type { Verdict } from '../domain/verdict.ts'
import { knownRow, movementSince } from '../executor/service-liveness.ts'
import type { IncidentStore } from './incident-store.ts'

/** The entries that void proofs, for the verdicts of one poll. */
export function revokedProofs(verdicts: readonly Verdict[], store: Pick<IncidentStore, 'open'>): NewEntry[] {
  const proven = new Map(store.open().flatMap((open) => (open.proof === null ? [] : [[open.host, open] as const])))
  if (proven.size === 0) return []
  return verdicts.flatMap((verdict) => {
    const incident = proven.get(verdict.host)
    if (incident === undefined || !livedSince(verdict, incident)) return []
    const { reason: code, message, evidence } = verdict
    const data = { code, message, updatedAt: evidence.updatedAt }
    return [{ kind: 'proof.voided' as const, incident: incident.id, host: verdict.host, data }]
  })
}

function livedSince({ kind, evidence }: Verdict, incident: Incident): boolean {
  if (kind === 'contradiction' || kind === 'healthy') return beatSince(evidence.updatedAt, incident)
  if (kind === 'recovering') {
    // What a daemon that was not running could not see beat. Who writes a flag moves the stamp too: a host that lives beats
    // again, and its verdict says so.
    const known = knownRow(incident)
    return known !== null && movementSince(known, evidence) === 'beating'
  }
  // A host that was seen alive when it was fenced, and one that lives on without its storage: the gate asks a person about
  // their witnesses, and nothing that was proven is less true for them.
  const explained =
    incident.verdict?.kind === 'service-down' || incident.proof?.proves === 'storage' || incident.witnessExplained
  if (kind !== 'service-down' || explained) return false
  // A reading from before the power was cut says nothing about what came after.
  const provenAt = Date.parse(incident.proof?.provenAt ?? '')
  return evidence.probes.some(({ answer, at }) => answer === 'alive' && Date.parse(at) > provenAt)
}

/**
 * A beat that was under way when the power was cut shows in a poll after it, and says nothing about what came after. Two clocks are
 * compared, no further apart than a freeze for their skew allows: a host that lives on beats again before that matters, and nothing is
 * written meanwhile.
 */
function beatSince(stamp: string | null, { proof }: Incident): boolean {
  const beatMs = stamp === null ? NaN : cloudTimeMs(stamp)
  const provenMs = Date.parse(proof?.provenAt ?? '')
  // Whole seconds, of which the list has cut off the rest.
  return Number.isNaN(beatMs) || Number.isNaN(provenMs) || beatMs + 1_000 > provenMs
}
