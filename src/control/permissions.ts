/**
 * What the executor may ask of the rest of the daemon: above all, whether the next write may be sent. Every reason of the daemon to
 * hold the recovery of a host is here, in the order in which a person would want to hear it, but for a run that broke (incident-runs.ts).
 * docs/architecture.md lists the executor's own, and those of a process and of a crash.
 */
import type { Clock } from '../domain/clock.ts'
import { failureOf, type Incident } from '../domain/incident.ts'
import type { IncidentPhase } from '../domain/incident-phases.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Segment } from '../domain/segment.ts'
import type { HostName } from '../domain/service.ts'
import type { Act, Permissions, Permission } from '../executor/context.ts'
import type { BrakeWatch } from './brake-watch.ts'
import type { IncidentStore } from './incident-store.ts'
import { livenessObjection } from './liveness-objection.ts'
import type { MemoryWatch } from './memory-watch.ts'
import { isBeating, type Verdict } from '../domain/verdict.ts'
import { disabledHere, forcedDownHere, isOnlyWaiting, orderHolds } from '../orders/order-holds.ts'
import { quietAfterStandstill, staleness } from '../monitor/freshness.ts'
import type { Monitor } from '../monitor/monitor.ts'
import type { MonitorSettings } from '../monitor/settings.ts'
import { pinnedWorkflow, type PinnedWorkflows } from './pinned-workflows.ts'
import type { Orders } from '../orders/orders.ts'
import type { Standstill } from './standstill.ts'

/** A poll that ended this recently is the fresh look itself. Longer would act on what was true before. */
const justNowMs = 250

/**
 * A poll that took longer began with what was true that long ago: an answer behind its first one may have hung. Longer: a host that came
 * back meanwhile is fenced. Shorter: where witnesses are slow, each incident begins with one more reading of Nova.
 */
const quickPollMs = 5_000

/** Phases in which the host is forced down, by us or by someone else. */
const isForcedDown: ReadonlySet<IncidentPhase> = new Set(['surveying', 'recovering', 'sweeping'])

export function createPermissions(parts: {
  clock: Clock
  store: IncidentStore
  orders: Orders
  monitor: Monitor
  mode: () => 'observe' | 'armed'
  /** How often Nova is read, how long a poll waits for its witnesses, and how long agents need after a fault of the control plane. */
  reading: () => Pick<MonitorSettings, 'pollIntervalMs' | 'probeLimitMs' | 'defaultIntervalMs' | 'quietAfterFreezeMs'>
  standstill: Pick<Standstill, 'last' | 'lastOver'>
  brake: Pick<BrakeWatch, 'holds'>
  segmentOfIncident: (incident: Incident) => Segment
  earlier: Permissions['earlier']
  /** Says on record which incidents are under the rules of another segment: a look has read their hosts' rows. */
  noteSegments: () => void
  workflows: () => PinnedWorkflows['byDigest']
  memory: Pick<MemoryWatch, 'holds'>
  setSilentAside: () => Promise<void>
}): Permissions {
  const { clock, store, monitor, brake } = parts
  /** Whether an incident that is over had a proof: read once from the journal, it never changes. */
  const proven = new Map<string, boolean>()
  /** When we forced each host down, by the monotonic clock: what was asked of Nova earlier may not show it. */
  const forcedDownAt = new Map<HostName, number>()
  return {
    incident: (id) => store.get(id),
    of: permission,
    verdict: (host) => monitor.verdict(host),
    lookAgain: async (host, signal) => {
      const last = monitor.lastPoll()
      const known = monitor.verdict(host)
      // Only life is to be seen here, and the last poll saw it: when a thousand hosts return, Nova is not read for each.
      if (known?.kind === 'healthy' && last?.ok === true && monitor.frozen() === null)
        return { verdict: known, frozen: null }
      // A poll that asked no witness (of a host that we forced down, or saw for the first time) is no look at the host. Nor is one in
      // which so many hosts were silent that there was no time for this one: it is asked alone then.
      const asked = known !== undefined && hasAsked(known, monitor.segment(host).probes.length)
      const isFresh = last?.ok === true && clock.now() - last.at <= justNowMs && last.tookMs <= quickPollMs
      if (known !== undefined && asked && isFresh) {
        return { verdict: known, frozen: monitor.frozen()?.message ?? null }
      }
      const { verdict, frozen } = await monitor.lookAgain(host, signal)
      // A look that was cut off saw nothing: what it gives is what was known before.
      if (signal.aborted) throw new LifeboatError('SHUTDOWN', 'the daemon is stopping')
      parts.noteSegments()
      return { verdict, frozen: frozen?.message ?? null }
    },
    isFenced,
    wasFencedBefore: (host, seq) => {
      const id = isFenced(host) ? (store.openOn(host)?.id ?? store.flaggedBy(host)) : undefined
      return id !== undefined && store.wasForcedDownBefore(id, seq)
    },
    hasIncident: (host) => store.openOn(host) !== undefined,
    setSilentAside: parts.setSilentAside,
    setAsideReason: (host) => store.returnOf(host).setAside?.reason ?? null,
    earlier: parts.earlier,
    segment: parts.segmentOfIncident,
    workflow: (digest) => pinnedWorkflow(parts.workflows(), digest, 'host'),
    stoodStillUntil: () => parts.standstill.last()?.endedAt ?? -Infinity,
    quiet: () => quietAfterStandstill((ms) => parts.standstill.lastOver(ms), clock.now(), parts.reading()),
    noteOurWrite: ({ host, updatedAt, forcedDown }) => {
      monitor.noteOurWrite(host, updatedAt)
      if (forcedDown) forcedDownAt.set(host, clock.now())
    },
  }

  /**
   * Also after its own incident is over, which with nothing on the host takes a second: as long as our flags stand there and
   * it does not beat. Flags alone are too little: after a restart they may be of a host that has long come back. A reading from before
   * we set them says nothing: with nothing on the host its incident is over before Nova is read again.
   */
  function isFenced(host: HostName): boolean {
    const incident = store.openOn(host)
    // Where someone else had set both flags before, none of them is ours: the phase says that they stand.
    if (incident !== undefined)
      return incident.proof !== null && (incident.ourFlags !== null || isForcedDown.has(incident.phase))
    const verdict = monitor.verdict(host)
    const id = store.flaggedBy(host)
    if (id === undefined || verdict === undefined || isBeating(verdict)) return false
    const isUnread = (monitor.lastRead()?.askedAt ?? -Infinity) < (forcedDownAt.get(host) ?? -Infinity)
    if (!verdict.evidence.forcedDown && !isUnread) return false
    const known = proven.get(id) ?? store.isProven(id)
    proven.set(id, known)
    return known
  }

  function permission(incident: Incident, act: Act = 'begins'): Permission {
    const isCancelled = incident.cancelled !== null
    if (incident.cancelled !== null && act === 'begins')
      return { allowed: false, cancelled: `cancelled by ${incident.cancelled.by}: ${incident.cancelled.reason}` }
    const frozen = monitor.frozen()
    const stale = staleness(monitor.lastRead(), parts.standstill.last(), clock.now(), parts.reading())
    const verdict = monitor.verdict(incident.host)
    // Whatever holds the incident, a host that beats again ends it. If an order still held it, the host's next death would continue this
    // incident half way through.
    const isUntouched = failureOf(incident) === 'host' && incident.proof === null && incident.revoked === null
    if (isUntouched && verdict?.kind === 'healthy' && frozen === null && stale === null)
      return { allowed: true, hostIsBack: `the host is back: ${verdict.message}` }
    // Opened while the daemon was armed: the person who set observe since then wants nothing to be sent.
    if (parts.mode() === 'observe' && incident.mode === 'armed' && !isCancelled)
      return {
        allowed: false,
        hold: 'OBSERVING',
        message: 'the daemon was armed when this began, and now only observes',
      }
    if (act === 'closes') return { allowed: true }
    const segments = [incident.openedIn, parts.segmentOfIncident(incident).name]
    // A pause stops what has not begun: a guest that we brought over and left off waits for its start through no fault of its owner.
    const ordered = act === 'begins' ? orderHolds(incident.host, parts.orders, segments) : null
    if (ordered !== null) return { allowed: false, ...ordered }
    if (frozen !== null) return { allowed: false, hold: 'FROZEN', message: frozen.message }
    if (stale !== null) return { allowed: false, hold: 'FROZEN', message: stale }
    // Its host lives: neither a proof nor the brake is about it.
    if (incident.crashed !== null) return { allowed: true }
    if (verdict?.kind === 'maintenance' && isOnlyWaiting(incident))
      return { allowed: false, hold: 'MAINTENANCE', message: disabledHere }
    const declared = verdict?.kind === 'declared-down' && parts.segmentOfIncident(incident).onDeclaredDown !== 'recover'
    if (declared && isOnlyWaiting(incident)) return { allowed: false, hold: 'MAINTENANCE', message: forcedDownHere }
    const life = livenessObjection(incident, verdict)
    if (life !== null) return { allowed: false, hold: 'HOST_ALIVE', message: aliveMessage(incident, life) }
    // Once a host is proven dead its recovery goes on; the brake decides before that.
    if (incident.proof === null) {
      // Whatever it was held for: the fresh look ends the incident of a host that beats again, before anything is done to it.
      if (verdict?.kind === 'healthy') return { allowed: true, hostIsBack: `the host is back: ${verdict.message}` }
      const held = brake.holds(incident)
      if (held !== null) return { allowed: false, hold: 'BRAKE', message: held }
      const short = parts.memory.holds(incident, store.open())
      if (short !== null) return { allowed: false, hold: 'MEMORY', message: short }
    }
    return { allowed: true }
  }
}

/** A proof that stands says that what was seen came before its fencing: then nothing is fenced again. */
function aliveMessage({ id, ourFlags, proof }: Incident, message: string): string {
  if (ourFlags === null) return message
  const until = proof === null ? 'it is silent and has been fenced again' : 'it is silent again'
  return `${message}. Nothing more is evacuated until ${until}. To leave the rest where it is and let the host return: lifeboat incident cancel ${id}`
}

function hasAsked({ evidence: { probes } }: Verdict, configured: number): boolean {
  return probes.length >= configured && !probes.some(({ unasked }) => unasked)
}
