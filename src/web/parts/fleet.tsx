/** Hosts as tiles by segment. A host that is not healthy has a name and a word; the healthy are small, and there may be thousands. */
import { useMemo } from 'preact/hooks'
import type { HostStatus } from '../../domain/operations.ts'
import { verdictKinds, verdictWord } from '../../domain/verdict.ts'
import { link } from '../router.ts'
import { counted } from '../words/count.ts'
import { span } from '../../domain/text/span.ts'
import { shortHost, verdictOrder, verdictTone } from '../words/tone.ts'
import { Empty } from './states.tsx'
import { Tag } from './text.tsx'

/** Above this many healthy hosts in a segment, their tiles carry no names. */
const namedTiles = 120

export function Fleet({ hosts }: { hosts: readonly HostStatus[] }) {
  const segments = useMemo(() => bySegment(hosts), [hosts])
  if (hosts.length === 0) return <Empty>No compute host seen yet.</Empty>
  return (
    <div class="fleet">
      {segments.map(([segment, members]) => (
        <SegmentTiles key={segment} segment={segment} hosts={members} />
      ))}
    </div>
  )
}

const collator = new Intl.Collator(undefined, { numeric: true })

function bySegment(hosts: readonly HostStatus[]): [string, HostStatus[]][] {
  const segments = new Map<string, HostStatus[]>()
  for (const host of hosts) {
    const members = segments.get(host.segment)
    if (members === undefined) segments.set(host.segment, [host])
    else members.push(host)
  }
  for (const members of segments.values())
    members.sort(
      (a, b) => verdictOrder.indexOf(a.verdict) - verdictOrder.indexOf(b.verdict) || collator.compare(a.host, b.host),
    )
  return [...segments].sort(([a], [b]) => collator.compare(a, b))
}

function SegmentTiles({ segment, hosts }: { segment: string; hosts: readonly HostStatus[] }) {
  const healthy = hosts.filter(({ verdict }) => verdict === 'healthy')
  const others = hosts.filter(({ verdict }) => verdict !== 'healthy')
  const small = healthy.length > namedTiles
  return (
    <section class="segment" aria-label={`Segment ${segment}`}>
      <header>
        <h3>{segment}</h3>
        <span class="note">
          {counted(hosts.length, 'host')}, {healthy.length} healthy
        </span>
      </header>
      {others.length > 0 && (
        <ul class="tiles others">
          {others.map((host) => (
            <li key={host.host}>
              <a class={`tile ${verdictTone[host.verdict]}`} href={tileLink(host)} title={host.message}>
                <span class="tile-name">{shortHost(host.host)}</span>
                <Tag tone={verdictTone[host.verdict]} title={verdictKinds[host.verdict]}>
                  {verdictWord({ kind: host.verdict, reason: host.reason })}
                </Tag>
                <span class="under">{tileText(host)}</span>
              </a>
            </li>
          ))}
        </ul>
      )}
      {healthy.length > 0 && (
        <ul class={`tiles healthy ${small ? 'small' : ''}`} aria-label={`Healthy hosts of ${segment}`}>
          {healthy.map(({ host, missedBeats }) => (
            <li key={host}>
              <a
                class="tile good"
                href={link.host(host)}
                title={`${host}: healthy, ${missedBeats.toFixed(1)} beats missed`}
              >
                {small ? <span class="visually-hidden">{host}</span> : shortHost(host)}
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

/** Of a host under an incident the incident is what someone wants to see. */
function tileLink({ incident, host }: HostStatus): string {
  return incident === null ? link.host(host) : link.incident(incident)
}

function tileText({
  verdict,
  silentMs,
  returning,
  setAside,
  standingOrders,
  message,
  missedBeats,
}: HostStatus): string {
  const [order] = standingOrders
  if (verdict === 'maintenance' && order !== undefined) return order.reason
  if (verdict === 'returning' && returning !== null) return returning
  if (setAside !== null) return `set aside, silent ${span(silentMs)}`
  if (missedBeats >= 1) return `silent ${span(silentMs)}`
  return message
}
