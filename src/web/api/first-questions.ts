/** What each page asks first. An address that the page does not ask in just these words is asked in vain. */
import { matchPath } from '../page-path.ts'
import { paths } from './paths.ts'

/** How many incidents the list asks for. */
export const listedIncidents = 500

/** How many entries a page of the journal has. */
export const journalPage = 100

/** Of a page by its address, with the query: who is asking, and its data. */
export function firstQuestions(address: string): string[] {
  return [paths.me, ...dataOf(address)]
}

function dataOf(address: string): string[] {
  const [page = ''] = address.split('?')
  const incident = matchPath('/incidents/:id', page)?.['id']
  if (incident !== undefined) return [paths.incident(incident)]
  const host = matchPath('/hosts/:host', page)?.['host']
  if (host !== undefined) return [paths.host(host), paths.verdicts(host)]
  if (page === '/') return [paths.hosts, paths.status]
  // With a filter it asks for others.
  if (address === '/incidents') return [paths.incidents({ limit: String(listedIncidents) })]
  if (address === '/journal') return [paths.journal({ limit: String(journalPage), newestFirst: 'true' })]
  if (page === '/segments') return [paths.segments]
  return []
}
