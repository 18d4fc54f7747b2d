/**
 * What the executor may ask of the rest of the daemon: above all, whether the next write may be sent. Every reason to wait
 * is here, in the order in which a person would want to hear it.
 */
import type { Clock } from '../domain/clock.ts'
import type { Incident } from '../domain/incident.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Workflow } from '../domain/plan.ts'
import type { Segment } from '../domain/segment.ts'
import type { Bridge, Permission } from '../executor/context.ts'
import { brakeHolds, type BrakeWatchParts } from './brake-watch.ts'
import type { IncidentBook } from './incident-book.ts'
import { lifeAgainst } from './life-check.ts'
import { disabledHere, isOnlyWaiting, orderHolds } from './order-holds.ts'
import type { Monitor } from '../monitor/monitor.ts'
import type { StandingOrders } from './standing-orders.ts'

/** A poll that ended this recently is the fresh look itself. Longer would act on what was true before. */
const justNowMs = 250

export function createBridge(parts: {
  clock: Clock
  book: IncidentBook
  orders: StandingOrders
  monitor: Monitor
  mode: 'observe' | 'armed'
  brake: BrakeWatchParts
  segmentNamed: (incident: Incident) => Segment
  workflows: ReadonlyMap<string, Workflow>
}): Bridge {
  const { clock, book, monitor, brake } = parts
  return {
    incident: (id) => book.get(id),
    permission,
    lookAgain: async (host, signal) => {
      const last = monitor.lastPoll()
      const known = monitor.verdict(host)
      if (known !== undefined && last?.ok === true && clock.now() - last.at <= justNowMs) {
        return { verdict: known, frozen: monitor.frozen()?.message ?? null }
      }
      const { verdict, frozen } = await monitor.lookAgain(host, signal)
      return { verdict, frozen: frozen?.message ?? null }
    },
    isFenced: (host) => {
      const incident = book.openOn(host)
      return incident !== undefined && incident.proof !== null && incident.marked !== null
    },
    segment: parts.segmentNamed,
    workflow: (digest) => {
      const workflow = parts.workflows.get(digest)
      if (workflow === undefined)
        throw new LifeboatError('WORKFLOW_INVALID', `the journal has no workflow ${digest.slice(0, 12)}`)
      return workflow
    },
    noteOurWrite: (service) => monitor.noteOurWrite(service.host, service.updatedAt),
  }

  function permission(incident: Incident): Permission {
    if (incident.cancelled !== null)
      return { allowed: false, cancelled: `cancelled by ${incident.cancelled.by}: ${incident.cancelled.reason}` }
    // Opened while the daemon was armed: whoever set observe since then wants nothing to be sent.
    if (parts.mode === 'observe' && incident.mode === 'armed')
      return {
        allowed: false,
        hold: 'OBSERVING',
        message: 'the daemon was armed when this began, and now only observes',
      }
    const ordered = orderHolds(incident, parts.orders, [monitor.segment(incident.host).name])
    if (ordered !== null) return { allowed: false, ...ordered }
    const frozen = monitor.frozen()
    if (frozen !== null) return { allowed: false, hold: 'FROZEN', message: frozen.message }
    const verdict = monitor.verdict(incident.host)
    if (verdict?.kind === 'maintenance' && isOnlyWaiting(incident))
      return { allowed: false, hold: 'MAINTENANCE', message: disabledHere }
    const life = lifeAgainst(incident, verdict)
    if (life !== null) return { allowed: false, hold: 'HOST_ALIVE', message: life }
    // Once a host is proven dead its recovery goes on; the brake decides before that.
    if (incident.proof === null) {
      const held = brakeHolds(incident, parts.segmentNamed(incident).brake, brake)
      if (held !== null) return { allowed: false, hold: 'BRAKE', message: held }
    }
    return { allowed: true }
  }
}
