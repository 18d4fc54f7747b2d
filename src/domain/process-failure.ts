/**
 * A nova-compute that is down on a host that lives. Its guests run on and are left alone; what must be kept from it is new ones, which
 * would fail there, or come alive with it in the middle of whatever ails it. So its service is disabled, and enabled again once
 * nova-compute has been beating for the healthy time. The disable is that of a host that is set aside (domain/set-aside.ts).
 *
 * Pure: which silence is a process's failure, and what becomes of an open incident of one.
 */
import type { IncidentEnd } from './entry.ts'
import { leastHealthyPolls, type ReturnOrder, type ReturnRules } from './host-return.ts'
import type { HoldCode } from './incident-phases.ts'
import type { Incident } from './incident.ts'
import type { ServiceRecord } from './service.ts'
import type { Verdict } from './verdict.ts'
import { span } from './text/span.ts'

/** The one process that Lifeboat watches, by its binary. */
export const novaCompute = 'nova-compute'

/**
 * Heartbeats that must be missing: two minutes at Nova's default of 10 s, one more than Nova takes to call it down. Fewer: each upgrade
 * that restarts nova-compute opens an incident. More: Nova may take a flapping one for up, and sends guests there meanwhile.
 */
export const leastMissedBeats = 12

/** Whether nova-compute is down and a witness finds its host alive. What someone forced down is no failure of a process. */
export function isProcessDown({ kind, reason, evidence }: Verdict): boolean {
  return kind === 'service-down' && reason === 'SILENT_BUT_PROBE_ALIVE' && evidence.missedBeats >= leastMissedBeats
}

/** Nova would send guests there once it is up: nobody has disabled it or forced it down. */
export function isToBeDisabled({ id, status, forcedDown }: ServiceRecord): boolean {
  return id !== null && status === 'enabled' && !forcedDown
}

/** How long a nova-compute has been seen up and beating without a break. */
export interface Healthy {
  /** Ms, on the clock of `now`. */
  since: number
  /** In which it was seen so. */
  polls: number
  /** Heartbeats that came since. */
  beats: number
}

/**
 * Heartbeats that a proof needs, however short the healthy time. Nova takes a dead nova-compute for up a minute longer, and its last
 * heartbeat may come into sight after the report of its death: one proves nothing.
 */
const leastBeats = 2

/** Times are milliseconds on the clock of `now`. */
export interface ProcessFacts {
  incident: Pick<Incident, 'process' | 'mode' | 'cancelled' | 'held' | 'changedByOthers'>
  /** Who disabled its service; null: nobody did. */
  disabledBy: 'us' | 'others' | null
  /** A disable of ours is on record, whether Nova shows it or not. */
  mayBeDisabled: boolean
  /** Nova lists it: nobody deleted its record. */
  isListed: boolean
  /** An open incident of the host itself. */
  hostIncident: string | null
  /** Nova-compute is known to be down now. */
  isDown: boolean
  /** Null: it is not up and beating. */
  healthy: Healthy | null
  /** When nova-compute failed on this host, in any order. */
  failures: readonly number[]
  /** What a person said of its return since it failed. */
  order: ReturnOrder | null
  /** Why nothing may be written on the service now. */
  blocked: { hold: HoldCode; message: string } | null
}

export type ProcessDecision =
  | { do: 'wait' }
  | { do: 'close'; outcome: IncidentEnd; message: string }
  | { do: 'hold'; code: HoldCode; message: string }
  | { do: 'go-on'; because: string }

/** What becomes of an open incident of a process now. */
export function decideProcess(facts: ProcessFacts, rules: ReturnRules, now: number): ProcessDecision {
  const decision = decide(facts, rules, now)
  const { held } = facts.incident
  if (decision.do === 'hold' && held?.code === decision.code && held.message === decision.message) return { do: 'wait' }
  if (decision.do !== 'wait' || held === null || stillHolds(facts, held.code)) return decision
  return { do: 'go-on', because: 'nothing holds it any more' }
}

/** A blip and a restart end no hold: nova-compute has to prove itself again, and what was asked or ordered is so still. */
function stillHolds({ blocked, order, isDown }: ProcessFacts, code: HoldCode): boolean {
  if (code !== 'CONFIRM_RETURN') return blocked?.hold === code
  return order === null ? !isDown : order.keepOut
}

function decide(facts: ProcessFacts, rules: ReturnRules, now: number): ProcessDecision {
  const { incident, isListed, disabledBy, hostIncident, healthy, order, blocked } = facts
  const process = incident.process ?? novaCompute
  if (incident.cancelled !== null) return close('left-to-people', cancelledBecause(incident.cancelled, disabledBy))
  if (hostIncident !== null) return close('host-failed', `the host failed as well: incident ${hostIncident} goes on`)
  if (!isListed)
    return close('left-to-people', `Nova no longer lists ${process} of this host: someone deleted its record`)
  if (incident.mode === 'observe')
    return close('observed', 'observed only, nothing was sent: Lifeboat would have disabled its service')
  if (incident.changedByOthers !== null) return close('left-to-people', incident.changedByOthers)
  if (disabledBy === 'others') return close('left-to-people', 'someone else disabled it, and it stays so')
  const isProven = isProvenWell(healthy, rules, now)
  const isToBeWritten = isProven || (healthy === null && disabledBy === null)
  if (blocked !== null && isToBeWritten) return hold(blocked.hold, blocked.message)
  if (order?.keepOut === true && disabledBy === 'us')
    return hold('CONFIRM_RETURN', `${order.by} keeps it out, and its service stays disabled: ${order.reason}`)
  // A disable of ours that Nova has not shown yet may still be carried out.
  if (!isProven || (order?.keepOut === true && facts.mayBeDisabled)) return { do: 'wait' }
  if (order?.keepOut === true)
    return close('left-to-people', `${process} is well again, and its service was never disabled; ${inService(order)}`)
  const asks = order === null && disabledBy === 'us' ? whyAPerson(facts, rules) : null
  if (asks !== null) return hold('CONFIRM_RETURN', asks)
  return close('returned', `${process} has been up and beating for ${span(rules.healthyMs)}`)
}

function inService({ by, reason }: ReturnOrder): string {
  return `disable it in Nova: ${by} keeps the host out (${reason}), but the order applies only from the next failure`
}

/** Up and beating for the healthy time, without a break. */
export function isProvenWell(healthy: Healthy | null, { healthyMs }: ReturnRules, now: number): boolean {
  if (healthy === null || healthy.beats < leastBeats) return false
  return healthy.polls >= leastHealthyPolls && now - healthy.since >= healthyMs
}

/**
 * Why a person must say that it may be enabled, or null. Counted back from the last failure: time that passes while a person is waited
 * for answers nothing.
 */
function whyAPerson({ failures }: ProcessFacts, rules: ReturnRules): string | null {
  const last = Math.max(...failures)
  const recent = failures.filter((at) => last - at <= rules.withinMs).length
  if (recent > rules.maxReturns) {
    return `it failed more than ${rules.maxReturns} times within ${span(rules.withinMs)}: its service stays disabled until a person returns the host to service`
  }
  return rules.mode === 'confirm' ? 'it is ready to be enabled; a person must confirm' : null
}

function cancelledBecause(
  { by, reason }: { by: string; reason: string },
  disabledBy: ProcessFacts['disabledBy'],
): string {
  const after = disabledBy === 'us' ? '. Its service stays disabled until nova-compute has been well for a while' : ''
  return `cancelled by ${by}: ${reason}${after}`
}

function close(outcome: IncidentEnd, message: string): ProcessDecision {
  return { do: 'close', outcome, message }
}

function hold(code: HoldCode, message: string): ProcessDecision {
  return { do: 'hold', code, message }
}
