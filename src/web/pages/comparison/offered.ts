/** Which incidents are offered beside one. Pure. */
import type { IncidentSummary } from '../../../domain/operations.ts'

/** Which incident they are offered beside. Its host may not be known: its id was only typed. */
export interface OfferedBeside {
  id: string
  host: string | null
}

export interface Offers {
  /** Of the same host. */
  ofHost: IncidentSummary[]
  others: IncidentSummary[]
}

/** So many of each. More and nobody finds the one they want; the list of all incidents has the rest. */
export const mostOffered = 6

/** @param listed newest first; the same incident may be in it twice */
export function offeredBeside({ id, host }: OfferedBeside, listed: readonly IncidentSummary[]): Offers {
  const known = new Map(listed.map((one) => [one.id, one]))
  const of = host ?? known.get(id)?.host
  known.delete(id)
  const found = [...known.values()].toSorted((a, b) => Date.parse(b.openedAt) - Date.parse(a.openedAt))
  return {
    ofHost: found.filter((one) => one.host === of).slice(0, mostOffered),
    others: found.filter((one) => one.host !== of).slice(0, mostOffered),
  }
}
