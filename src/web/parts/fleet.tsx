/**
 * Hosts as tiles by segment. A host that is not healthy has a name and a word; the healthy are small, and there may be thousands. A segment
 * with nothing to say is one line.
 */
import { useMemo } from 'preact/hooks'
import type { HostStatus } from '../../domain/operations.ts'
import type { Order } from '../../domain/order.ts'
import { verdictKinds, verdictWord } from '../../domain/verdict.ts'
import { link } from '../router.ts'
import { counted } from '../words/count.ts'
import { hostTone, verdictOrder } from '../../domain/text/tone.ts'
import { shortHost } from '../words/short-host.ts'
import { Icon } from './icons.tsx'
import { Empty } from './states.tsx'
import { SilentFor, Stamped, Tag } from './text.tsx'

/** Above this many healthy hosts in a segment, their tiles carry no names. */
const namedTiles = 120

/** @param props.old Nova does not answer: what is shown is what was known last, and nothing of it is green */
export function Fleet({ hosts, old = false }: { hosts: readonly HostStatus[]; old?: boolean }) {
  const segments = useMemo(() => bySegment(hosts), [hosts])
  if (hosts.length === 0) return <Empty>No compute host seen yet.</Empty>
  return (
    <div class="fleet">
      {segments.map(([segment, members]) => (
        <SegmentTiles key={segment} segment={segment} hosts={members} old={old} />
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

function SegmentTiles({ segment, hosts, old }: { segment: string; hosts: readonly HostStatus[]; old: boolean }) {
  const healthy = hosts.filter(isHealthy)
  const others = hosts.filter((host) => !isHealthy(host))
  const small = healthy.length > namedTiles
  const ordered = hosts.some((host) => orderOf(host) !== null)
  if (others.length === 0 && !ordered)
    return (
      <details class="segment" aria-label={`Segment ${segment}`}>
        <summary>
          <h3>{segment}</h3>
          <Tag tone={old ? 'plain' : 'good'}>
            {counted(hosts.length, 'host')} healthy{old && ' when Nova last answered'}
          </Tag>
        </summary>
        <HealthyTiles segment={segment} hosts={healthy} small={small} old={old} />
      </details>
    )
  return (
    <section class="segment" aria-label={`Segment ${segment}`}>
      <header>
        <h3>{segment}</h3>
        <span class="note">
          {counted(hosts.length, 'host')}, {healthy.length} healthy{old && ' when Nova last answered'}
        </span>
        <SegmentOrders hosts={hosts} />
      </header>
      {others.length > 0 && (
        <ul class="tiles others">
          {others.map((host) => (
            <li key={host.host}>
              <a
                class={`tile ${hostTone(host)} ${orderOf(host) === null ? '' : 'ordered'}`}
                href={tileLink(host)}
                title={host.message}
              >
                <span class="tile-name">{shortHost(host.host)}</span>
                <OrderIcon host={host} />
                <Tag tone={hostTone(host)} title={verdictKinds[host.verdict]}>
                  {wordOf(host)}
                </Tag>
                <span class="under">
                  <TileText host={host} />
                </span>
              </a>
            </li>
          ))}
        </ul>
      )}
      {healthy.length > 0 && <HealthyTiles segment={segment} hosts={healthy} small={small} old={old} />}
    </section>
  )
}

/** Nothing is wrong with it, and nothing of ours is left on it. */
function isHealthy(host: HostStatus): boolean {
  return hostTone(host) === 'good'
}

function wordOf({ verdict: kind, reason, returning }: HostStatus): string {
  return verdictWord({ kind, reason, returning })
}

interface HealthyTilesProps {
  segment: string
  hosts: readonly HostStatus[]
  /** Too many for names. */
  small: boolean
  /** As last known. */
  old: boolean
}

function HealthyTiles({ segment, hosts, small, old }: HealthyTilesProps) {
  return (
    <ul class={`tiles healthy ${small ? 'small' : ''}`} aria-label={`Healthy hosts of ${segment}`}>
      {hosts
        .map((host) => ({ ...host, order: orderOf(host) }))
        .map(({ host, missedBeats, order }) => (
          <li key={host}>
            <a
              class={`tile ${order === null ? (old ? 'plain' : 'good') : 'plain ordered'}`}
              href={link.host(host)}
              title={`${host}: healthy, ${missedBeats.toFixed(1)} beats missed${order === null ? '' : `; ${orderWords[order.kind]}: ${order.reason}`}`}
            >
              {small ? <span class="visually-hidden">{host}</span> : shortHost(host)}
              {order !== null && !small && <Icon name={orderIcons[order.kind]} />}
              {order !== null && <span class="visually-hidden">, {orderWords[order.kind]}</span>}
            </a>
          </li>
        ))}
    </ul>
  )
}

/** Of the host or its segment; one of the whole cloud stands above all. */
function orderOf({ standingOrders }: HostStatus): Order | null {
  return standingOrders.find(({ scope }) => scope.kind !== 'cloud') ?? null
}

function OrderIcon({ host }: { host: HostStatus }) {
  const order = orderOf(host)
  return order === null ? null : <Icon name={orderIcons[order.kind]} />
}

const orderIcons = { pause: 'pause', maintenance: 'wrench' } as const
const orderWords = { pause: 'paused', maintenance: 'in maintenance' } as const

/** What was ordered of the whole segment. */
function SegmentOrders({ hosts }: { hosts: readonly HostStatus[] }) {
  const orders = new Map(
    hosts.flatMap(({ standingOrders }) =>
      standingOrders.flatMap((order) => (order.scope.kind === 'segment' ? [[order.kind, order] as const] : [])),
    ),
  )
  return (
    <>
      {[...orders.values()].map(({ kind, reason }) => (
        <span key={kind} class="tag plain" title={reason}>
          <Icon name={orderIcons[kind]} kind="mark" />
          {orderWords[kind]}
        </span>
      ))}
    </>
  )
}

/** Of a host under an incident the incident is what someone wants to see. */
function tileLink({ incident, host }: HostStatus): string {
  return incident === null ? link.host(host) : link.incident(incident)
}

function TileText({ host }: { host: HostStatus }) {
  const { verdict, returning, setAside, standingOrders, message, missedBeats } = host
  const [order] = standingOrders
  if (verdict === 'maintenance' && order !== undefined) return <>{order.reason}</>
  if (returning !== null && wordOf(host) !== 'away') return <>{returning}</>
  if (setAside === null && missedBeats < 1) return <Stamped text={message} />
  return (
    <>
      {setAside !== null && 'set aside, '}silent <SilentFor seen={host} />
    </>
  )
}
