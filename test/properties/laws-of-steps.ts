/** Laws on what a recovery begins, by the journal alone. */
import type { Entry } from '../../src/domain/entry.ts'
import type { Scenario } from '../../src/rehearsal/scenario.ts'

/** Nothing is evacuated before its host is proven dead, nor once that proof is revoked. */
export function evacuationsWithoutProof(entries: readonly Entry[]): string[] {
  const proven = new Set<string>()
  const broken: string[] = []
  for (const { kind, incident, data, seq } of entries) {
    if (kind === 'proof.recorded' && incident !== null) proven.add(incident)
    if (kind === 'proof.voided' && incident !== null) proven.delete(incident)
    if (kind === 'step.intended' && data.kind === 'evacuate' && !proven.has(incident ?? ''))
      broken.push(`entry ${seq}: an evacuation without proof`)
  }
  return broken
}

/** Of one instance an evacuation begins only when the one before it has its end on record. */
export function twoInFlight(entries: readonly Entry[]): string[] {
  const open = new Map<string, string>()
  const broken: string[] = []
  for (const entry of entries) {
    const { instance, step, seq } = entry
    if (instance === null || step === null) continue
    if (entry.kind === 'step.intended' && entry.data.kind === 'evacuate') {
      const other = open.get(instance)
      if (other !== undefined && other !== step) broken.push(`entry ${seq}: ${step} begins while ${other} is open`)
      open.set(instance, step)
    }
    if ((entry.kind === 'step.confirmed' || entry.kind === 'step.failed') && open.get(instance) === step)
      open.delete(instance)
  }
  return broken
}

/** Hosts whose recovery goes on at once, those that a person let through aside. */
export function moreThanTheBrakeAllows(
  entries: readonly Entry[],
  scenario: Pick<Scenario, 'cloud' | 'script'>,
): string[] {
  const fleet = typeof scenario.cloud.hosts === 'number' ? scenario.cloud.hosts : scenario.cloud.hosts.length
  // The base configuration: two hosts or half of a segment, four or half of the cloud. A reload may make a second segment.
  const segments = scenario.script.some(({ act }) => act?.name === 'reload' && 'segments' in configOf(act.given))
    ? 2
    : 1
  const most = Math.min(2 * segments, Math.floor(fleet / 2))
  const under = new Set<string>()
  const excused = new Set<string>()
  const broken: string[] = []
  for (const { kind, incident, seq } of entries) {
    if (incident === null) continue
    if (kind === 'operator.override' || kind === 'operator.statement') excused.add(incident)
    if (kind === 'incident.closed') under.delete(incident)
    if (kind !== 'proof.recorded' || excused.has(incident)) continue
    under.add(incident)
    if (under.size > most) broken.push(`entry ${seq}: ${under.size} hosts under recovery, ${most} may be`)
  }
  return broken
}

function configOf(given: unknown): object {
  return (given as { config?: object }).config ?? {}
}
