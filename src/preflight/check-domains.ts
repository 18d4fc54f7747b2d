/**
 * The failure domains of the brake as `lifeboat check` shows them. Pure. A key that no aggregate has protects nothing and looks
 * like one that does: it must be said.
 */
import type { CheckLine } from './check-lines.ts'
import type { Aggregate } from '../domain/instance.ts'
import type { HostName } from '../domain/service.ts'

/** Hosts named in one line. More would not be read. */
const mostNamed = 10

/** @param key null: no failure domains are configured */
export function domainLines(
  key: string | null,
  hosts: readonly HostName[],
  aggregates: readonly Aggregate[],
): CheckLine[] {
  if (key === null) return []
  const domains = new Map<string, number>()
  const none: HostName[] = []
  const several: HostName[] = []
  for (const host of hosts) {
    const own = new Set(
      aggregates.filter((aggregate) => aggregate.hosts.includes(host)).flatMap(({ metadata }) => metadata[key] ?? []),
    )
    own.delete('')
    if (own.size === 0) none.push(host)
    if (own.size > 1) several.push(host)
    for (const domain of own) domains.set(domain, (domains.get(domain) ?? 0) + 1)
  }
  const what = 'failure domains'
  if (domains.size === 0)
    return [
      {
        what,
        result: 'warn',
        message: `no aggregate names the ${key} of a host, so the brake knows none`,
        advice: `Set the property ${key} on the aggregates, or correct brake.failure_domain.key`,
      },
    ]
  const sizes = [...domains].sort(([a], [b]) => (a < b ? -1 : 1)).map(([domain, size]) => `${domain} (${size})`)
  const lines: CheckLine[] = [{ what, result: 'ok', message: `${key}: ${sizes.join(', ')}`, advice: null }]
  if (none.length > 0)
    lines.push({
      what,
      result: 'warn',
      message: `${none.length} of ${hosts.length} hosts have no ${key}: ${named(none)}`,
      advice: 'If their rack or switch fails, the brake does not see that they belong together',
    })
  if (several.length > 0)
    lines.push({
      what,
      result: 'warn',
      message: `in more than one ${key}: ${named(several)}`,
      advice: 'They count in each; remove them from the wrong aggregates',
    })
  return lines
}

function named(hosts: readonly HostName[]): string {
  const more = hosts.length - mostNamed
  return more > 0 ? `${hosts.slice(0, mostNamed).join(', ')} and ${more} more` : hosts.join(', ')
}
