/** The id of an incident as an argument. An unset variable of a script must not ask for the incident without a name. */
import { InvalidArgumentError } from 'commander'

export function incidentId(given: string): string {
  if (given.trim() === '')
    throw new InvalidArgumentError('It must not be empty: `lifeboat incident list` shows the ids.')
  return given.trim()
}
