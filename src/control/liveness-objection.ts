/**
 * Whether what the monitor sees of a host speaks against its incident's next write. Pure.
 *
 * A host that was seen alive when it was fenced must fall silent: a witness that still finds it alive after its power was
 * read as off means more often that the wrong machine was powered off (boards swap addresses) than that another one answers
 * in its place, and the first of the two starts every guest twice. So it is held, and a person who knows better says so.
 * A storage fence explains the witness by itself: it takes the volumes, not the power.
 */
import type { Incident } from '../domain/incident.ts'
import type { Verdict } from '../domain/verdict.ts'

/** The sentence for people, or null when nothing speaks against it. */
export function livenessObjection(
  incident: Pick<Incident, 'host' | 'proof' | 'witnessExplained'>,
  verdict: Verdict | undefined,
): string | null {
  if (verdict === undefined) return null
  if (verdict.kind === 'contradiction') return verdict.message
  const { proof, witnessExplained, host } = incident
  if (proof === null) return null
  if (verdict.kind === 'healthy') return verdict.message
  if (verdict.kind !== 'service-down' || proof.proves === 'storage' || witnessExplained) return null
  return `${verdict.message}. It was proven dead by ${proof.method}: was that the right machine? If another one answers in its place, say so: lifeboat recover ${host} --by NAME --proof "how you know"`
}
