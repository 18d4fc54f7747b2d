/** The id of an incident as an argument. An unset variable of a script must not ask for the incident without a name. */
import { InvalidArgumentError } from 'commander'
import { LifeboatError } from '../../domain/errors.ts'
import type { IncidentFilter, IncidentSummary } from '../../domain/operations.ts'

/** Stands for the id of the newest incident where one is only read: an order names what it is about. */
export const latest = 'latest'

/** For the help of commands that take it. */
export const idOrLatest = `its id, or ${latest}`

export function incidentId(given: string): string {
  if (given.trim() === '')
    throw new InvalidArgumentError('It must not be empty: `lifeboat incident list` shows the ids.')
  return given.trim()
}

interface Incidents {
  incidents(filter: IncidentFilter): Promise<IncidentSummary[]>
}

/** Throws NOT_FOUND while there is none. */
export async function newestOf(record: Incidents): Promise<string> {
  const [newest] = await record.incidents({ limit: 1 })
  if (newest === undefined) throw new LifeboatError('NOT_FOUND', 'There is no incident yet')
  return newest.id
}

/** The id that is meant. */
export async function idMeant(record: Incidents, given: string): Promise<string> {
  return given === latest ? newestOf(record) : given
}
