/** Addresses of the pages, for what is read elsewhere: mail, chat, post-mortems. Pure. */
import type { IncidentId } from './entry.ts'
import type { HostName } from './service.ts'

/**
 * The page that tells more: the incident's, before there is one the host's, and of what concerns the whole cloud the overview.
 * Null where no link is configured.
 */
export function linkTo(
  link: string | null,
  { incident, host }: { incident: IncidentId | null; host: HostName | null },
): string | null {
  if (link === null) return null
  const pages = link.replace(/\/+$/, '')
  if (incident !== null) return `${pages}/incidents/${encodeURIComponent(incident)}`
  return host === null ? `${pages}/` : `${pages}/hosts/${encodeURIComponent(host)}`
}
