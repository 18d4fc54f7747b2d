/** How the host of an incident was proven dead, in Markdown: each line a fact, escaped. Pure. */
import type { Incident } from '../domain/incident.ts'
import { oneLine, time } from './markdown.ts'

export function proofLines({ proof, revoked, attestation }: Incident): string[] {
  const lines: string[] = []
  if (revoked !== null)
    lines.push(
      `Proof: **${revoked.strength}** by ${oneLine(revoked.method)}, at ${time(revoked.provenAt)}. **Revoked** at ${time(revoked.at)}: ${oneLine(revoked.message)}. What was evacuated by then stays evacuated.`,
    )
  if (proof === null && revoked === null)
    lines.push('**No proof of death is on record**: nothing may have been evacuated.')
  if (proof !== null) {
    const stated = proof.statedBy === null ? '' : `, attested by ${oneLine(proof.statedBy)}`
    lines.push(`Proof: **${proof.strength}** by ${oneLine(proof.method)}${stated}, at ${time(proof.provenAt)}.`)
    for (const reading of proof.evidence) lines.push(`Read: ${oneLine(reading)}`)
  }
  if (attestation !== null) lines.push(`${oneLine(attestation.by)} stated: ${oneLine(attestation.statement)}`)
  return lines
}
