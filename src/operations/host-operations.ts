/** What a person can ask of one host: everything known of it, and its return. */
import type { Clock } from '../domain/clock.ts'
import type { IncidentId, NewEntry } from '../domain/entry.ts'
import { enabledBeforeOrder } from '../domain/host-return.ts'
import { LifeboatError } from '../domain/errors.ts'
import { incidentPhases } from '../domain/incident-phases.ts'
import type { Incident } from '../domain/incident.ts'
import type { HostDetail, HostReturnDetail, Operations } from '../domain/operations.ts'
import { readSetAsideReason } from '../domain/set-aside.ts'
import { incidentOf, type ReturnRecord } from '../domain/return-record.ts'
import type { Monitor } from '../monitor/monitor.ts'
import { hostStatus, returnDetail } from '../review/host-views.ts'
import type { IncidentStore } from '../control/incident-store.ts'
import { known } from '../orders/order-acts.ts'
import type { Orders } from '../orders/orders.ts'
import { incidentSummaries, type ReviewedJournal } from '../review/incident-listing.ts'

/** Incidents shown with a host; `incident list --host` shows more. */
const incidentsShown = 5

type ReturnOrderOf = Parameters<Operations['returnHost']>[0]

export interface HostParts {
  clock: Clock
  journal: ReviewedJournal
  store: IncidentStore
  orders: Orders
  monitor: Monitor
}

/** Throws NOT_FOUND for a host that Nova does not list. */
export function hostDetail(host: string, { monitor, store, orders, journal }: HostParts): HostDetail {
  const verdict = monitor.verdict(host)
  if (verdict === undefined) throw new LifeboatError('NOT_FOUND', `Nova shows no nova-compute on ${host}`)
  const record = store.returnOf(host)
  const incidents = incidentSummaries(journal, store, { host, limit: incidentsShown })
  return {
    ...hostStatus(verdict, monitor.zone(host), { store, orders }),
    updatedAt: verdict.evidence.updatedAt,
    disabledReason: monitor.service(host)?.disabledReason ?? null,
    mark: record.ourFlags,
    return: returnDetail(record),
    returnRules: monitor.segment(host).return,
    incidents,
  }
}

/** Whether Lifeboat keeps the host out of service, or would, and a person's word lets it back. */
export function mayReturn(host: string, { store }: Pick<HostParts, 'store'>): boolean {
  if (store.openOn(host) !== undefined) return false
  const { order } = store.returnOf(host)
  // A keep-out that came too late for one return holds nothing: it is for the next, and only host return takes it back.
  if (order !== null) return order.keepOut && isOut(host, { store })
  return store.hasOurFlags(host) || disabledFor(host, store) !== undefined
}

/** Whether Lifeboat keeps the host out of service now. */
export function isOut(host: string, { store }: Pick<HostParts, 'store'>): boolean {
  return store.hasOurFlags(host) || store.returnOf(host).setAside !== null || store.openProcessOn(host) !== undefined
}

/**
 * The incident for which the service of a host that lives is disabled, or is about to be. A host that is only silent is back with its beat:
 * nobody need return it, but one may keep it out.
 */
function disabledFor(host: string, store: IncidentStore, keepOut = false): IncidentId | undefined {
  const { setAside: aside, order } = store.returnOf(host)
  const isOfProcess = readSetAsideReason(aside?.reason ?? null)?.why === 'process'
  const isForPeople = isOfProcess || keepOut || order?.keepOut === true
  return store.openProcessOn(host)?.id ?? (isForPeople ? aside?.incident : undefined)
}

/**
 * Records what a person says of a host's return; the next poll acts on it. Throws NOT_FOUND for an unknown host, CONFLICT when there
 * is nothing of ours to take back, or its incident is still open.
 */
export function orderReturn(order: ReturnOrderOf, { monitor, store, journal }: HostParts): HostReturnDetail {
  const { host, keepOut } = order
  const open = store.openOn(host)
  const process = store.openProcessOn(host)
  const disabledIn = disabledFor(host, store, keepOut)
  if (disabledIn !== undefined && open === undefined && !store.hasOurFlags(host)) {
    const isBeingEnabled = keepOut && store.returnOf(host).setAside?.state === 'taking-back'
    journal.append([
      { ...returnEntry(order), incident: disabledIn },
      ...(isBeingEnabled ? [enabledAlready(order, disabledIn)] : []),
    ])
    const answer = processReturn(process, store.returnOf(host))
    return isBeingEnabled ? { ...answer, message: enabledMessage(order) } : answer
  }
  const endsAnOrder = !keepOut && store.returnOf(host).order?.keepOut === true
  if (!store.hasOurFlags(host) && !endsAnOrder) {
    if (monitor.verdict(host) === undefined)
      throw new LifeboatError('NOT_FOUND', `Nova shows no nova-compute on ${host}`)
    throw new LifeboatError('CONFLICT', `Lifeboat has not disabled ${host}: there is nothing to take back`)
  }
  if (open !== undefined && !keepOut) {
    const message = `Incident ${open.id} of ${host} is not over: a host returns after its incident (lifeboat incident cancel ${open.id} ends it)`
    throw new LifeboatError('CONFLICT', message)
  }
  const incident = incidentOf(store.returnOf(host))
  journal.append([{ ...returnEntry(order), ...(incident !== undefined && { incident }) }])
  const record = store.returnOf(host)
  return returnDetail(record) ?? processReturn(process, record)
}

/** Our enable may have left, and may be carried out whatever comes now. */
function enabledAlready(order: ReturnOrderOf, incident: IncidentId): NewEntry {
  const data = { code: enabledBeforeOrder, message: enabledMessage(order) }
  return { kind: 'alarm.raised', incident, host: order.host, data }
}

function enabledMessage({ host, by, reason }: ReturnOrderOf): string {
  return `Lifeboat was already enabling ${host} when ${by} ordered it kept out (${reason}). If Nova shows its service enabled, disable it there: the order applies from the next failure`
}

function returnEntry({ host, by, reason, keepOut, via }: ReturnOrderOf): NewEntry {
  const data = { by, reason, keepOut, ...known(via) }
  return { kind: 'operator.return', actor: `operator:${by}`, host, data }
}

/** Of a host that lives, and whose service is disabled while its nova-compute is down. */
function processReturn(process: Incident | undefined, { order }: ReturnRecord): HostReturnDetail {
  const held = process?.held ?? null
  const message = held?.message ?? incidentPhases.watching.means
  const since = held?.since ?? order?.at ?? null
  const state = order === null ? 'waiting-confirmation' : order.keepOut ? 'kept-out' : 'proving'
  return { state, code: held?.code ?? null, message, since, leftovers: [], order }
}
