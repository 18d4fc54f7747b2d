/** What each page asks first. An address that the page does not ask in just these words is asked in vain. */
import { matchPath } from '../page-path.ts'
import { paths } from './paths.ts'

/** Of a page by its address: who is asking, and its data. */
export function firstQuestions(page: string): string[] {
  return [paths.me, ...dataOf(page)]
}

function dataOf(page: string): string[] {
  const incident = matchPath('/incidents/:id', page)?.['id']
  if (incident !== undefined) return [paths.incident(incident)]
  const host = matchPath('/hosts/:host', page)?.['host']
  if (host !== undefined) return [paths.host(host), paths.verdicts(host)]
  if (page === '/') return [paths.status, paths.hosts]
  if (page === '/incidents') return [paths.incidents(allIncidents)]
  if (page === '/segments') return [paths.segments]
  return []
}

/** The list of incidents: filters are the page's own. */
export const allIncidents = { limit: '500' }
