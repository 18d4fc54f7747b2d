/** What each page asks first. An address that the page does not ask in just these words is asked in vain. */
import { matchPath } from '../page-path.ts'
import type { FirstQuestion } from './early.ts'
import { paths } from './paths.ts'

/** How many incidents the list asks for. */
export const listedIncidents = 500

/** How many entries a page of the journal has. */
export const journalPage = 100

/** How long the first answer may wait for a plan: a small host's is made by then, of a large one's this is when its progress shows. */
const planWaitSeconds = 0.5

/** The order of a what-if page. It only reads: that it is given before the page knows whether this login may costs a refusal. */
export function planOrder(host: string): { host: string; waitSeconds: number } {
  return { host, waitSeconds: planWaitSeconds }
}

/** Of a page by its address, with the query: who is asking, and its data. */
export function firstQuestions(address: string): FirstQuestion[] {
  const [page = ''] = address.split('?')
  const plan = matchPath('/plan/:host', page)?.['host']
  if (plan !== undefined) return [{ path: paths.me }, { path: paths.plans, body: planOrder(plan) }]
  return [paths.me, ...dataOf(address)].map((path) => ({ path }))
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
