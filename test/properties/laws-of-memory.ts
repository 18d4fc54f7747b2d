/** The law on what incidents know of one another: a later one never contradicts an earlier one without a reason that came between. */
import type { Entry } from '../../src/domain/entry.ts'

/** Such a plan lands an instance off because its key cannot be had now: it says nothing about what the instance is to be. */
const keyIsAway = 'ENCRYPTED_WITHOUT_KEY'

/** How the recovery of an instance stands, by the entries so far. */
interface Remembered {
  incident: string
  expected: string | null
  outcome: string | null
  /** Where its guest may be running since an attempt of ours; null: nothing is in doubt. */
  doubt: string[] | null
}

/**
 * What an instance is to be is decided once and stands until it is recovered, and an instance whose guest may be running elsewhere is
 * not evacuated by a later incident before that host is proven dead.
 *
 * @param ordered ids of the instances of which people order something: then their state is what people make of it
 */
export function contradictsTheOneBefore(entries: readonly Entry[], ordered: ReadonlySet<string>): string[] {
  const remembered = new Map<string, Remembered>()
  const broken: string[] = []
  for (const entry of entries) {
    const { seq, incident, instance, host } = entry
    if (entry.kind === 'proof.recorded' && host !== null) settle(remembered, host)
    if (incident === null || instance === null || ordered.has(instance)) continue
    const before = remembered.get(instance)
    if (entry.kind === 'plan.made') {
      const { decision, reason } = entry.data
      const expected = reason === keyIsAway ? null : entry.data.expected
      if (
        before !== undefined &&
        before.incident !== incident &&
        before.outcome !== 'recovered' &&
        decision === 'recover'
      ) {
        if (expected !== null && before.expected !== null && expected !== before.expected)
          broken.push(`entry ${seq}: ${instance} is to be ${expected}, and was to be ${before.expected}`)
        if (before.doubt !== null)
          broken.push(`entry ${seq}: ${instance} is evacuated, and may be running on ${before.doubt.join(', ')}`)
      }
      const outcome = before?.incident === incident ? before.outcome : null
      const kept = decision === 'recover' ? (expected ?? before?.expected ?? null) : (before?.expected ?? null)
      remembered.set(instance, { incident, expected: kept, outcome, doubt: before?.doubt ?? null })
    }
    if (before === undefined || before.incident !== incident) continue
    if (entry.kind === 'step.failed' && entry.data.error.code === 'GUEST_ON_DESTINATION')
      before.doubt = hostsOf(entry.data.error.details)
    if (entry.kind === 'outcome.recorded') before.outcome = entry.data.outcome
  }
  return broken
}

function hostsOf({ destination, destinations }: Record<string, unknown>): string[] {
  const all: unknown[] = Array.isArray(destinations) ? (destinations as unknown[]) : [destination]
  return all.map((host) => (typeof host === 'string' ? host : 'an unknown host'))
}

/** A host that is proven dead runs no guest. */
function settle(remembered: Map<string, Remembered>, host: string): void {
  for (const at of remembered.values()) {
    const left = at.doubt?.filter((other) => other !== host) ?? []
    at.doubt = left.length > 0 ? left : null
  }
}
