/**
 * What is known of the return of each host, folded from the journal: what we set, who said what, how far it is. A restarted
 * daemon knows exactly this. Entries of other kinds change nothing.
 */
import type { Entry, EntryData, IncidentId } from './entry.ts'
import type { ErrorRecord } from './errors.ts'
import {
  outlivedByKeepOut,
  returnStepKinds,
  type FailedWrite,
  type OurFlags,
  type Leftover,
  type ReturnOrder,
  type ReturnState,
  type ReturnStepKind,
} from './host-return.ts'
import type { InstanceId } from './instance.ts'
import { isRefusal } from './service-refusals.ts'
import { setAsideAfter } from './set-aside-record.ts'
import { readSetAsideReason, type SetAside } from './set-aside.ts'

/** The write of a return that has rows but no end yet: only reading Nova can tell whether it was taken. */
export interface OpenReturnStep {
  key: string
  kind: ReturnStepKind
  issued: boolean
}

export interface ReturnRecord {
  host: string
  ourFlags: OurFlags | null
  /** It was kept out of scheduling while it was silent, and no incident has taken that over. */
  setAside: SetAside | null
  /** Incidents whose disable someone else's replaced: what Nova shows of it later covers theirs. */
  covered: readonly string[]
  /** When our last order to force it down was begun or given up; null once Nova answered it. ISO. */
  orderedAt: string | null
  /** The same without the order that is in hand: where Nova refuses that one, an earlier one may still be taken. */
  orderedBefore: string | null
  /** What Nova said of the orders to force it down in the newest incident. Null: nothing yet. */
  forceDown: 'taken' | 'refused' | null
  state: ReturnState
  /** Why it is there, and since when (ISO); null before the first change. */
  said: { code: string; message: string; at: string } | null
  leftovers: readonly Leftover[]
  /** ISO times of this host's incidents. */
  failures: readonly string[]
  /** ISO times at which nova-compute failed there while the host lived. */
  processFailures: readonly string[]
  /** `fromBefore`: it stood when the host was set aside. Stamps of a wall clock do not tell. */
  order: (ReturnOrder & { at: string; fromBefore?: true }) | null
  /** Instances whose guests may run there although Nova has them elsewhere, until a person returns the host or its return ends. */
  strays: readonly InstanceId[]
  /** ISO times at which our writes were confirmed in this return. */
  confirmed: Partial<Record<ReturnStepKind, string>>
  open: OpenReturnStep | null
  failed: (FailedWrite & { at: string }) | null
  /** Writes tried since our flags were set, of both kinds: part of their keys, so that none is used twice. */
  attempts: number
}

/** States of a host whose service was read without forced_down. */
const seenUp: ReadonlySet<ReturnState> = new Set(['proving', 'enabling'])

/** Failures kept. More than any sensible `max_returns`. */
const failuresKept = 100

const stepPrefix = 'return.'
const forceDownPrefix = 'host.force-down.'

/** Whether it is the step of an order to force a host down. */
export function isForceDown(step: string | null): boolean {
  return step?.startsWith(forceDownPrefix) === true
}

/** The key of the next write: unique among the steps of its incident. */
export function returnStepKey({ attempts }: ReturnRecord, kind: ReturnStepKind): string {
  return `${stepPrefix}${kind}.${attempts + 1}`
}

/** The incident that a return's entries belong to: the newest that set something. */
export function incidentOf({ ourFlags }: ReturnRecord): IncidentId | undefined {
  return ourFlags?.incidents.at(-1)
}

/** The kinds that say how far a host's return is. */
export const returnEntryKinds = [
  'incident.opened',
  'process.failed',
  'service.marked',
  'service.restored',
  'service.set-aside',
  'return.changed',
  'operator.return',
  'debt.settled',
] as const satisfies readonly Entry['kind'][]

/** The rows of its writes, among those of the incident that set our flags. */
export const returnStepEntryKinds = [
  'step.intended',
  'step.issued',
  'step.confirmed',
  'step.failed',
] as const satisfies readonly Entry['kind'][]

/** Adds one entry to what is known. */
export function applyToReturns(records: Map<string, ReturnRecord>, entry: Entry): void {
  if (entry.host === null) return
  const known = records.get(entry.host)
  const next = nextRecord(known ?? nothingKnown(entry.host), entry)
  if (next !== undefined) records.set(entry.host, next)
}

function nextRecord(record: ReturnRecord, entry: Entry): ReturnRecord | undefined {
  if (isForceDown(entry.step)) return afterOrder(record, entry)
  switch (entry.kind) {
    case 'incident.opened': {
      const failures = [...record.failures, entry.at].slice(-failuresKept)
      // A new failure is a new return; only "keep it out" was said of the host and not of one return.
      return {
        ...begun(record),
        failures,
        forceDown: null,
        order: record.order?.keepOut === true ? record.order : null,
      }
    }
    case 'process.failed': {
      // What was only observed was not disabled, and is no return either.
      if (entry.data.mode === 'observe') return undefined
      // One whose disable stands already is the same failure, gone on after its host's incident.
      const isSame = readSetAsideReason(record.setAside?.reason ?? null)?.why === 'process'
      const processFailures = isSame
        ? record.processFailures
        : [...record.processFailures, entry.at].slice(-failuresKept)
      return { ...record, processFailures, order: record.order?.keepOut === true ? record.order : null }
    }
    case 'service.marked':
      return { ...begun(record), ourFlags: flagsAfter(record, entry.incident ?? '', entry.data), setAside: null }
    case 'service.set-aside':
      return afterSetAside(record, entry)
    case 'service.restored':
      return {
        ...begun(record),
        ourFlags: null,
        strays: [],
        orderedAt: null,
        orderedBefore: null,
        state: 'back',
        said: record.said,
        leftovers: record.leftovers,
        // One that did not keep it out of service this time is for the next failure.
        order: outlivedByKeepOut(record.said?.code) && record.order?.keepOut === true ? record.order : null,
      }
    case 'return.changed': {
      const { to, code, message, leftovers } = entry.data
      const said = { code, message, at: entry.at }
      const known = seenUp.has(to) && record.orderedAt === null ? withoutForcedDown(record) : record
      return { ...known, state: to, said, leftovers: leftovers ?? [] }
    }
    case 'operator.return': {
      const order = { ...entry.data, at: entry.at }
      // Whoever lets the host back may have mended what Nova refused: it is tried at once. They have looked for its guests, too.
      return order.keepOut ? { ...record, order } : { ...record, order, failed: null, strays: [] }
    }
    case 'debt.settled':
      return entry.data.keepsOut === true ? withStray(record, entry.instance) : undefined
    case 'step.intended': {
      const { kind } = entry.data
      if (entry.step?.startsWith(stepPrefix) !== true || !isReturnStep(kind)) return undefined
      return { ...record, attempts: record.attempts + 1, open: { key: entry.step, kind, issued: false } }
    }
    case 'step.issued':
      if (!isOpen(record, entry)) return undefined
      // Nova took it: a forced_down that shows from now on is of someone else.
      const known = record.open.kind === 'clear-forced-down' ? withoutForcedDown(record) : record
      return { ...known, open: { ...record.open, issued: true } }
    case 'step.confirmed':
      return isOpen(record, entry)
        ? { ...record, open: null, failed: null, confirmed: { ...record.confirmed, [record.open.kind]: entry.at } }
        : undefined
    case 'step.failed': {
      if (!isOpen(record, entry)) return undefined
      const { kind } = record.open
      const { error } = entry.data
      const heldBack = error.code === 'HELD_BACK'
      const times = refusalsOf(record, kind) + (isRefusal(error) ? 1 : 0)
      const failed = { kind, at: entry.at, message: error.message, times, ...(heldBack && { heldBack }) }
      return { ...record, open: null, failed }
    }
    default:
      return undefined
  }
}

/** Refusals of a write in a row. One that was held back, or lost, is none, and ends no row. */
export function refusalsOf({ failed }: Pick<ReturnRecord, 'failed'>, kind: ReturnStepKind): number {
  return failed?.kind === kind ? (failed.times ?? 1) : 0
}

function afterSetAside(record: ReturnRecord, entry: Extract<Entry, { kind: 'service.set-aside' }>): ReturnRecord {
  const { to, certainty, theirs } = entry.data
  const of = record.setAside?.incident ?? entry.incident ?? ''
  const isEnded = to === 'over' && certainty === 'applied'
  const isFirst = record.setAside === null
  const order = isFirst && record.order !== null ? { ...record.order, fromBefore: true as const } : record.order
  return {
    ...record,
    setAside: setAsideAfter(record.setAside, entry),
    covered: theirs === true ? [...record.covered, of].slice(-failuresKept) : record.covered,
    // It was said of what stood there, but for a keep-out that our enable forestalled: that one counts for the next failure.
    order: isEnded && record.ourFlags === null && !isForestalled(record) && !isFromBeforeSilence(record) ? null : order,
  }
}

/** A person keeps the host out, and said so when our enable was under way. */
export function isForestalled({ order, setAside }: Pick<ReturnRecord, 'order' | 'setAside'>): boolean {
  return order?.keepOut === true && setAside?.state === 'taking-back' && order.at >= setAside.at
}

/** What was said before a host was set aside for its silence was not said of that: a silence is no failure. */
export function isFromBeforeSilence({ order, setAside }: Pick<ReturnRecord, 'order' | 'setAside'>): boolean {
  if (order?.fromBefore !== true || setAside === null) return false
  return readSetAsideReason(setAside.reason)?.why === 'silent'
}

/** A force-down that failed may have been taken all the same, and show up late; one that Nova refused was not. */
function afterOrder(record: ReturnRecord, entry: Entry): ReturnRecord {
  const { kind, at } = entry
  const { orderedAt, orderedBefore, forceDown } = record
  if (kind === 'step.intended') return { ...record, orderedAt: at, orderedBefore: orderedAt }
  if (kind === 'step.confirmed') return { ...record, orderedAt: null, orderedBefore: null, forceDown: 'taken' }
  if (kind === 'step.failed' && wasRefused(entry.data.error))
    return { ...record, orderedAt: orderedBefore, forceDown: forceDown ?? 'refused' }
  return { ...record, orderedAt: at }
}

/** Nova took nothing of it. A proxy that answers 503 may have handed it on; a connection that was never made has not. */
export function wasRefused(error: Pick<ErrorRecord, 'code' | 'certainty'> & Partial<ErrorRecord>): boolean {
  const { code, certainty, details } = error
  if (certainty !== 'not-applied') return false
  // A row without details may be about either.
  return details === undefined ? code !== 'API_UNAVAILABLE' : details['status'] !== 503
}

/**
 * What is ours after one more mark. What the service had before counts as ours only where an earlier mark of ours had set it:
 * a host that fails again before its return was over carries our own text already. An incident marks once more what it finds
 * otherwise than at first: a person did that, for its own write was not taken. A disable that set the host aside becomes part of it,
 * also one that Nova shows only later.
 */
function flagsAfter(
  { ourFlags: earlier, setAside }: ReturnRecord,
  incident: string,
  data: EntryData['service.marked'],
): OurFlags {
  const { serviceId, before, reason } = data
  const still = earlier?.serviceId === serviceId ? earlier : null
  const again = still?.incidents.at(-1) === incident
  const aside = setAside?.serviceId === serviceId ? [setAside.reason] : []
  const disabledByUs = [...(still?.disabled === true ? still.reasons : []), ...aside]
  const ownText = disabledByUs.includes(before.disabledReason ?? '')
  return {
    incidents: [...(still?.incidents ?? []), ...(again ? [] : [incident])],
    serviceId,
    forcedDown: before.forcedDown ? still?.forcedDown === true && !again : true,
    disabled: before.status === 'disabled' ? ownText : true,
    reasons: [...(still?.reasons ?? []), ...aside, ...(again ? [] : [reason])],
  }
}

/** Whoever ordered its return did not know of that guest, so their order goes. An order to keep it out stands. */
function withStray(record: ReturnRecord, instance: InstanceId | null): ReturnRecord | undefined {
  const { ourFlags, order, strays } = record
  if (ourFlags === null || instance === null) return undefined
  return { ...record, order: order?.keepOut === true ? order : null, strays: [...new Set([...strays, instance])] }
}

/** Whether it is out by us. An enable that is on its way may still fail. */
export function isOutByUs({ ourFlags, confirmed }: ReturnRecord): boolean {
  return ourFlags !== null && confirmed.enable === undefined
}

/** Whether a person's order keeps it out, or a guest that may run twice. Too many failures do as well: `decideReturn` counts them. */
export function isKeptOut({ order, strays }: Pick<ReturnRecord, 'order' | 'strays'>): boolean {
  return order?.keepOut === true || strays.length > 0
}

function begun(record: ReturnRecord): ReturnRecord {
  return { ...record, state: 'away', said: null, leftovers: [], confirmed: {}, open: null, failed: null }
}

/** None of ours is on it: one that someone sets from now on stays, also over another incident. */
function withoutForcedDown(record: ReturnRecord): ReturnRecord {
  const { ourFlags } = record
  return ourFlags === null ? record : { ...record, ourFlags: { ...ourFlags, forcedDown: false } }
}

/** The record of a host that no entry speaks of. */
export function nothingKnown(host: string): ReturnRecord {
  return {
    host,
    ourFlags: null,
    setAside: null,
    covered: [],
    orderedAt: null,
    orderedBefore: null,
    forceDown: null,
    state: 'away',
    said: null,
    leftovers: [],
    failures: [],
    processFailures: [],
    order: null,
    strays: [],
    confirmed: {},
    open: null,
    failed: null,
    attempts: 0,
  }
}

function isOpen(record: ReturnRecord, entry: Entry): record is ReturnRecord & { open: OpenReturnStep } {
  return record.open !== null && record.open.key === entry.step
}

function isReturnStep(kind: string): kind is ReturnStepKind {
  return kind in returnStepKinds
}
