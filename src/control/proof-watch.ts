/**
 * Proofs of death that life has overtaken: a host that beats, or that a probe found alive, after it was proven dead. Its proof is
 * revoked on record, whatever the host does next: once it is silent again, nobody knows that it is off, and going on with the old
 * proof would start guests that it may be running (law L1).
 */
import { cloudTimeMs } from '../domain/cloud-time.ts'
import type { NewEntry } from '../domain/entry.ts'
import type { Incident, StepRecord } from '../domain/incident.ts'
import type { Verdict } from '../domain/verdict.ts'
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
  if (kind === 'recovering') return movedSince(evidence.updatedAt, incident)
  // A host that was seen alive when it was fenced, and one that lives on without its storage: the gate asks a person about
  // their witnesses, and nothing that was proven is less true for them.
  const explained =
    incident.verdict?.kind === 'service-down' || incident.proof?.proves === 'storage' || incident.attestedSince
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

/**
 * Whether the stamp of a service that we forced down moved since our own PUT and the last fencing: what a daemon that was not
 * running could not see beat. Whole seconds, for the answer of a PUT is finer than the list (docs/nova.md §8).
 */
function movedSince(stamp: string | null, { hostSteps }: Incident): boolean {
  if (stamp === null) return false
  let forced = -Infinity
  let newest = -Infinity
  for (const step of hostSteps.values()) {
    if (step.status !== 'confirmed') continue
    const known = seconds(stampOf(step))
    if (step.kind === 'force-down') forced = Math.max(forced, known)
    newest = Math.max(newest, known)
  }
  return forced > -Infinity && Math.floor(cloudTimeMs(stamp) / 1_000) > newest
}

/** The service's stamp as a step of ours knew it: right before a fencing, or as a write left it. */
function stampOf(step: StepRecord): string | null | undefined {
  switch (step.kind) {
    case 'fence':
      return step.before?.updatedAt
    case 'force-down':
    case 'clear-forced-down':
    case 'enable':
      return step.result?.updatedAt
    default:
      return null
  }
}

function seconds(stamp: string | null | undefined): number {
  const ms = typeof stamp === 'string' ? cloudTimeMs(stamp) : NaN
  return Number.isNaN(ms) ? -Infinity : Math.floor(ms / 1_000)
}
