/**
 * What a person can ask of the running daemon, done: reads from the monitor and the incident store, acts through the
 * journal, each with the name of who acted (laws L8, L10).
 */
import type { HeldGroup } from '../domain/brake.ts'
import type { Clock } from '../domain/clock.ts'
import type { IncidentId, NewEntry } from '../domain/entry.ts'
import { LifeboatError } from '../domain/errors.ts'
import { holdsWith } from '../domain/incident-phases.ts'
import type { Incident } from '../domain/incident.ts'
import type { DaemonStatus, Operations, RecoverAnswer, RecoverOrder } from '../domain/operations.ts'
import { isPerson } from '../domain/person.ts'

import type { Monitor } from '../monitor/monitor.ts'
import type { AfterReturns } from '../control/after-returns.ts'
import type { BrakeWatch } from '../control/brake-watch.ts'
import type { LogLevelInForce } from './log-level.ts'
import type { Reloads } from './reloads.ts'
import type { IncidentStore } from '../control/incident-store.ts'
import { handingOver } from './hand-over.ts'
import { heldGroups, overrideEntries } from './held-groups.ts'
import { maintenanceView, type MaintenanceViewParts } from './maintenance-view.ts'
import { hostDetail, orderReturn } from './host-operations.ts'
import { hostStatus } from '../review/host-views.ts'
import { incidentDetail } from '../review/incident-views.ts'
import { incidentSummaries, type ReviewedJournal } from '../review/incident-listing.ts'
import type { IncidentRecords } from '../review/incident-records.ts'
import type { UnreviewedIncidents } from '../review/unreviewed.ts'
import { cloudPause, known, orderActs } from '../orders/order-acts.ts'
import type { Orders } from '../orders/orders.ts'
import type { HostName } from '../domain/service.ts'
import { rowSeen, type RowSeen, type VerdictKind } from '../domain/verdict.ts'
import { refusalOfLiving, whyOld } from './living-host.ts'
import { orderTryAgain, type TryAgainParts } from './try-again-order.ts'
import type { WatchLoop } from '../control/watch-loop.ts'

export interface OperationsParts {
  clock: Clock
  journal: ReviewedJournal
  journalPath: string
  store: IncidentStore
  records: Pick<IncidentRecords, 'get'>
  unreviewed: Pick<UnreviewedIncidents, 'counts' | 'list'>
  orders: Orders
  monitor: Monitor
  brake: Pick<BrakeWatch, 'holds' | 'scopes'>
  windows: MaintenanceViewParts['windows']
  watch: WatchLoop
  afterReturns: Pick<AfterReturns, 'order'>
  again: TryAgainParts['again']
  reloads: Pick<Reloads, 'reload' | 'state'>
  logLevel: LogLevelInForce
  testReceiver: Operations['testReceiver']
  /** Stops the process in order once what was recorded is durable. */
  handOver: (why: string) => void
  about: () => OperationsAbout
}

export type OperationsAbout = Pick<
  DaemonStatus,
  'version' | 'mode' | 'pid' | 'startedAt' | 'restartLoop' | 'cloud' | 'workflow' | 'tenure' | 'receivers'
>

export function createOperations(parts: OperationsParts): Operations {
  const { journal, store, records, monitor, brake, watch } = parts
  const act = (incident: Incident, by: string, entry: NewEntry): void => {
    journal.append([{ ...entry, actor: `operator:${by}`, incident: incident.id, host: incident.host }])
  }
  const rowOf = (host: HostName): { row: RowSeen } => rowSeen(monitor.verdict(host))
  const groups = (): HeldGroup[] => heldGroups(store.open(), brake.scopes())
  return {
    status: () => statusOf(parts),
    hosts: () => monitor.verdicts().map((verdict) => hostStatus(verdict, monitor.zone(verdict.host), parts)),
    host: (name) => hostDetail(name, parts),
    returnHost: (order) => Promise.resolve(orderReturn(order, parts)),
    incidents: (filter) =>
      filter.unsettled === true ? parts.unreviewed.list(filter) : incidentSummaries(journal, store, filter),
    incident: (id) => incidentDetail(records.get(id)),
    recover: (order) => Promise.resolve(recover(order)),
    tryAgain: (id, order) => Promise.resolve(orderTryAgain(id, order, parts)),
    ...orderActs(parts),
    maintenance: () => maintenanceView(parts),
    override: (id, { by, reason, via }) => {
      const incident = notCancelled(openIncident(id, parts))
      refuseNeedlessOverride(incident, brake)
      act(incident, by, { kind: 'operator.override', data: { by, reason, ...rowOf(incident.host), ...known(via) } })
      return Promise.resolve()
    },
    heldGroups: groups,
    overrideGroup: (order) => {
      const { entries, ...done } = overrideEntries(groups(), order, rowOf)
      journal.append(entries)
      return Promise.resolve(done)
    },
    reload: ({ by, reason, via }) => parts.reloads.reload({ by, actor: `operator:${by}`, reason, ...known(via) }),
    handOver: (order) => {
      const { answer, entry, why } = handingOver(parts.about().tenure, order)
      journal.append([entry])
      parts.handOver(why)
      return Promise.resolve(answer)
    },
    testReceiver: parts.testReceiver,
    logLevel: () => parts.logLevel.state(),
    setLogLevel: ({ by, level, until, via }) => {
      journal.append([
        { kind: 'operator.log-level', actor: `operator:${by}`, data: { by, level, until, ...known(via) } },
      ])
      return Promise.resolve(parts.logLevel.order(level, until))
    },
    startInstances: (id, order) => {
      parts.afterReturns.order(id, order)
      return Promise.resolve()
    },
    cancel: (id, { by, reason, via }) => {
      act(notCancelled(openIncident(id, parts)), by, {
        kind: 'operator.cancelled',
        data: { by, reason, ...known(via) },
      })
      return Promise.resolve()
    },
  }

  /** A person's word that the host is dead: continues its incident, or opens one. A beating host is refused, and a daemon that observes refuses. */
  function recover({ host, by, proof, unixUser, via }: RecoverOrder): RecoverAnswer {
    if (proof.trim() === '') throw new LifeboatError('PROOF_INVALID', 'Say how you know that the host is dead')
    if (!isPerson(by)) {
      const message = `"${by}" is not a person who can be asked how they knew; give your name: lifeboat recover ${host} --by NAME --proof "how you know"`
      throw new LifeboatError('PROOF_INVALID', message)
    }
    const verdict = monitor.verdict(host)
    if (verdict === undefined) throw new LifeboatError('NOT_FOUND', `Nova shows no nova-compute on ${host}`)
    const living = refusalOfLiving(host, verdict, whyOld(monitor))
    if (living !== null) throw new LifeboatError(living.code, living.message)
    const attestation: NewEntry = {
      kind: 'operator.statement',
      actor: `operator:${by}`,
      host,
      data: {
        ...{ by, statement: proof, ...rowSeen(verdict) },
        ...(unixUser !== undefined && { unixUser }),
        ...known(via),
      },
    }
    const open = store.openOn(host)
    // Its incident would end at once, and the word with it.
    if ((open === undefined || open.mode === 'observe') && parts.about().mode === 'observe') {
      const message = `The daemon only observes: nothing of ${host} would be recovered. Arm it first (mode: armed, lifeboat reload), then say this again`
      throw new LifeboatError('OBSERVING', message)
    }
    if (open?.mode === 'observe' && parts.about().mode !== 'observe') {
      const message = `Incident ${open.id} of ${host} is only observed, and your word would end with it. Wait until it is over, then say this again`
      throw new LifeboatError('CONFLICT', message)
    }
    const answer = (id: IncidentId): RecoverAnswer => ({ incident: id, held: brake.holds(store.get(id)) })
    if (open === undefined) return answer(watch.open(host, verdict, by, (id) => [{ ...attestation, incident: id }]))
    journal.append([{ ...attestation, incident: notAttested(notCancelled(open)).id }])
    return answer(open.id)
  }
}

/**
 * Whatever else it waits for, the brake must hold it at this moment: a leave given in advance would let the host through a
 * mass failure that nobody has seen when it was given.
 */
function refuseNeedlessOverride(incident: Incident, brake: Pick<BrakeWatch, 'holds'>): void {
  const { id, host, process, crashed, override, proof, held } = incident
  if (process !== null)
    throw new LifeboatError(
      'CONFLICT',
      `Incident ${id} is about ${process} on ${host}, and the host lives: there is no recovery for the brake to hold`,
    )
  if (crashed !== null) return refuseNeedlessRestart(incident)
  if (override !== null) throw new LifeboatError('CONFLICT', `${override.by} already let incident ${id} past the brake`)
  if (proof !== null)
    throw new LifeboatError('CONFLICT', `${host} is proven dead: the brake no longer holds incident ${id}`)
  if (brake.holds(incident) !== null) return
  const instead =
    held === null ? 'it is not held at all' : `it waits for something else (${held.code}: ${held.message})`
  throw new LifeboatError('CONFLICT', `Incident ${id} is not held by the brake: ${instead}`)
}

/** For each of them a person may allow one more restart. */
const crashHolds = holdsWith('of-a-crash')

function refuseNeedlessRestart({ id, override, held }: Incident): void {
  if (override !== null)
    throw new LifeboatError('CONFLICT', `${override.by} already allowed incident ${id} one more restart`)
  if (crashHolds.has(held?.code)) return
  const instead =
    held === null ? 'it is not held at all' : `it waits for something else (${held.code}: ${held.message})`
  throw new LifeboatError('CONFLICT', `Incident ${id} is not held because of earlier crashes: ${instead}`)
}

/** Of one that is over only its end is read: it may have thousands of instances. */
function openIncident(id: IncidentId, { store, journal }: Pick<OperationsParts, 'store' | 'journal'>): Incident {
  const incident = store.inMemory(id)
  if (incident?.closed === null) return incident
  const [end] = journal.read({ incident: id, kinds: ['incident.closed'], newestFirst: true, limit: 1 })
  if (end?.kind !== 'incident.closed') throw new LifeboatError('NOT_FOUND', `There is no incident ${id}`)
  throw new LifeboatError('CONFLICT', `Incident ${id} is over (${end.data.outcome})`)
}

/** An order to an incident that is being ended would be written down and never carried out, and an end needs no second one. */
function notCancelled(incident: Incident): Incident {
  const { id, cancelled } = incident
  if (cancelled === null) return incident
  const message = `Incident ${id} is being cancelled (by ${cancelled.by}: ${cancelled.reason}); wait until it is closed, then give the order again`
  throw new LifeboatError('CONFLICT', message)
}

/** The proof rests on a person's word already. While something holds the incident, another word may be what it waits for. */
function notAttested(incident: Incident): Incident {
  const { id, host, proof, provenOn, held } = incident
  if (proof?.strength !== 'statement' || held !== null) return incident
  const said = provenOn === null ? '' : `: "${provenOn.statement}"`
  const message = `${proof.statedBy} already attested that ${host} is dead${said}. Incident ${id} goes on with that word; yours was not recorded: add it as a note`
  throw new LifeboatError('CONFLICT', message)
}

function statusOf(parts: OperationsParts): DaemonStatus {
  const { clock, journal, journalPath, store, orders, monitor, brake, about, reloads, logLevel } = parts
  const hosts: Partial<Record<VerdictKind, number>> = {}
  for (const { kind } of monitor.verdicts()) hosts[kind] = (hosts[kind] ?? 0) + 1
  const open = store.openOfAnyKind()
  const head = journal.head()
  const frozen = monitor.frozen()
  const thawsAt = monitor.thawsAt()
  const lastPoll = monitor.lastPoll()
  return {
    ...about(),
    lastPoll:
      lastPoll === null
        ? null
        : { at: isoAt(clock, lastPoll.at), ok: lastPoll.ok, tookMs: lastPoll.tookMs, error: lastPoll.error },
    frozen:
      frozen === null
        ? null
        : {
            ...{ reason: frozen.reason, message: frozen.message, since: isoAt(clock, frozen.since) },
            thawsAt: thawsAt === null ? null : isoAt(clock, thawsAt),
          },
    paused: cloudPause(orders),
    standingOrders: orders.inForce(),
    brake: brake.scopes().filter(({ trippedSince }) => trippedSince !== null),
    hosts,
    incidents: {
      open: open.length,
      held: open.filter((incident) => incident.held !== null).length,
      unsettled: parts.unreviewed.counts(),
    },
    journal: { path: journalPath, entries: head.seq, head: head.hash },
    configuration: reloads.state(),
    logLevel: logLevel.state(),
  }
}

function isoAt(clock: Clock, monotonicMs: number): string {
  return new Date(clock.wall() - (clock.now() - monotonicMs)).toISOString()
}
