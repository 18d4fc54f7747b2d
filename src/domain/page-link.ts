/** Addresses of the pages, for what is read elsewhere: mail, chat, post-mortems, terminals. Pure. */
import type { IncidentId } from './entry.ts'
import type { InstanceId } from './instance.ts'
import type { HostName } from './service.ts'

/** What a page is about. */
interface Subject {
  incident: IncidentId | null
  host: HostName | null
}

/**
 * The page that tells more: the incident's, before there is one the host's, and of what concerns the whole cloud the overview.
 * Null where no link is configured.
 */
export function linkTo(link: string | null, subject: Subject): string | null {
  return link === null ? null : pageAt(link, subject)
}

/** As linkTo; of an instance the page with all its incidents. */
export function pageAt(
  link: string,
  { incident, host, instance = null }: Subject & { instance?: InstanceId | null },
): string {
  const pages = link.replace(/\/+$/, '')
  if (instance !== null) return `${pages}/instances/${encodeURIComponent(instance)}`
  if (incident !== null) return `${pages}/incidents/${encodeURIComponent(incident)}`
  return host === null ? `${pages}/` : `${pages}/hosts/${encodeURIComponent(host)}`
}
