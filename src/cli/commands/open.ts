/** `lifeboat open`: the address of a page, to be clicked or given to a browser. */
import { InvalidArgumentError, type Command } from 'commander'
import { LifeboatError } from '../../domain/errors.ts'
import { pageAt } from '../../domain/page-link.ts'
import type { SearchResult } from '../../domain/review.ts'
import { CliFailure } from '../exit-codes.ts'
import { latest, newestOf } from './incident-id.ts'
import type { Session } from '../session.ts'

/** Of each kind, where a name means several pages. More are found by more letters. */
const offered = 5

export function addOpen(program: Command, session: Session): void {
  program
    .command('open')
    .description('print the address of a page: the overview, or that of an incident, a host or an instance')
    .argument(
      '[page]',
      'an incident or "latest", a host, or an instance by name or UUID (default: the overview)',
      notEmpty,
    )
    .action(async (wanted?: string) => {
      const { link, isLocal } = pagesOf(session)
      session.say(await pageOf(session, link, wanted))
      if (isLocal && session.terminal.screen !== null)
        session.terminal.stderr('lifeboat: only this machine reaches it; notices.link is the address for people\n')
    })
}

function notEmpty(given: string): string {
  if (given.trim() === '') throw new InvalidArgumentError('It must not be empty: leave it out for the overview.')
  return given.trim()
}

/** Where the pages are: at the daemon that is asked, where people find them, or on this machine. Throws CliFailure when nobody knows. */
function pagesOf(session: Session): { link: string; isLocal: boolean } {
  const url = session.url()
  if (url !== null) return { link: url.href, isLocal: false }
  const { notices, web } = session.config({ withSecrets: false })
  if (notices.link !== null) return { link: notices.link, isLocal: false }
  const hint = 'set notices.link to where people find the pages'
  if (web === null) throw new CliFailure('config', 'the daemon serves no pages: web.listen is false', [hint])
  if (web.port === 0) throw new CliFailure('config', 'web.listen takes any free port: its log says which', [hint])
  return { link: `${web.tls === null ? 'http' : 'https'}://${reachable(web.host)}:${web.port}`, isLocal: true }
}

/** A listener on all addresses is at the loopback one too. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

async function pageOf(session: Session, link: string, wanted?: string): Promise<string> {
  if (wanted === undefined) return pageAt(link, { host: null, incident: null })
  const daemon = session.daemon()
  if (wanted === latest) return pageAt(link, { host: null, incident: await newestOf(daemon) })
  return foundPage(link, wanted, await daemon.search(wanted, offered))
}

/**
 * The page that a name or an id means: what is called exactly so, else the only one that comes close. Throws NOT_FOUND, and USAGE with
 * the pages it may be.
 */
function foundPage(link: string, wanted: string, { hosts, incidents, instances, more }: SearchResult): string {
  const same = (text: string): boolean => text.toLowerCase() === wanted.toLowerCase()
  const pages = [
    ...hosts.map(({ host }) => ({ isExact: same(host), page: pageAt(link, { host, incident: null }) })),
    ...incidents.map(({ id, host }) => ({ isExact: same(id), page: pageAt(link, { host, incident: id }) })),
    ...instances.map(({ id, name, host, incident }) => ({
      isExact: same(id) || same(name),
      page: pageAt(link, { host, incident, instance: id }),
    })),
  ]
  const exact = pages.filter(({ isExact }) => isExact)
  const [only, ...others] = exact.length > 0 ? exact : pages
  if (only === undefined)
    throw new LifeboatError(
      'NOT_FOUND',
      `There is no host and no incident ${wanted}, and no incident is about an instance of that name`,
    )
  if (others.length === 0 && (only.isExact || !more)) return only.page
  const problems = [only, ...others].map(({ page }) => page)
  throw new LifeboatError('USAGE', `${wanted} may be several pages: give more of the name`, { details: { problems } })
}
