/**
 * The writes that take back what we set on a returning host: each with its rows around it, as every write has, and confirmed
 * only by reading the service back. A write whose answer was lost is reconciled by reading; nothing is sent again in the same call.
 *
 * Never decides whether: domain/host-return.ts does, and control/ asks it before every call.
 */
import { sleep, type Clock } from '../domain/clock.ts'
import type { Cloud } from '../domain/cloud.ts'
import type { NewEntry } from '../domain/entry.ts'
import { ensureError, errorRecord, LifeboatError } from '../domain/errors.ts'
import type { OurFlags, ReturnStepKind } from '../domain/host-return.ts'
import type { Journal } from '../domain/journal.ts'
import { intention } from '../domain/step-payloads.ts'
import { lastMoment } from './last-moment.ts'
import { stepRequestId } from './step-request-id.ts'
import {
  incidentOf,
  refusalsOf,
  returnStepKey,
  type OpenReturnStep,
  type ReturnRecord,
} from '../domain/return-record.ts'
import { isRefusal, refusalsBeforeAlarm, serviceChangeRefused } from '../domain/service-refusals.ts'
import type { HostName, ServiceChange, ServiceRecord } from '../domain/service.ts'

export interface ReturnRun {
  host: HostName
  cloud: Pick<Cloud, 'listServices' | 'updateService'>
  journal: Journal
  clock: Clock
  /** As the journal tells now. */
  record: () => ReturnRecord
  /** Asked once more right before the write is sent. */
  mayWrite: () => boolean
  noteOurWrite: (service: ServiceRecord, sentAt: number) => void
  /** Aborts when the daemon stops. A write that was sent is always waited for. */
  signal: AbortSignal
  /** How long a write whose answer was lost may still show up in Nova. Too short: it is called lost and tried again. */
  reconcileQuietMs: number
  /** Pause between two readings meanwhile. */
  tickMs: number
}

const changes: Record<ReturnStepKind, ServiceChange> = {
  'clear-forced-down': { forcedDown: false },
  enable: { status: 'enabled' },
}

const reached: Record<ReturnStepKind, (service: ServiceRecord) => boolean> = {
  'clear-forced-down': (service) => !service.forcedDown,
  enable: (service) => service.status === 'enabled',
}

/** Whether what would be taken back is there, and ours, by a fresh row: a person may have acted since the decision. */
const ours: Record<ReturnStepKind, (service: ServiceRecord, ourFlags: OurFlags) => boolean> = {
  'clear-forced-down': (service, ourFlags) => service.forcedDown && ourFlags.forcedDown,
  // Only a host that Nova sees up: the PUT asks its nova-compute to take the trait in Placement back as well.
  enable: (service, ourFlags) =>
    service.status === 'disabled' &&
    service.state === 'up' &&
    ourFlags.disabled &&
    ourFlags.reasons.includes(service.disabledReason ?? ''),
}

/** Sends one write and follows it to its end. Throws what reading the cloud throws; the rows then stay open. */
export async function takeBack(run: ReturnRun, kind: ReturnStepKind): Promise<void> {
  const { ourFlags } = run.record()
  const service = await readService(run)
  if (ourFlags === null || service?.id !== ourFlags.serviceId || !ours[kind](service, ourFlags)) return
  if (run.signal.aborted || !run.mayWrite()) return
  const { forcedDown, status, state, disabledReason, updatedAt } = service
  const key = returnStepKey(run.record(), kind)
  const as = { globalRequestId: stepRequestId({ incident: incidentOf(run.record()), host: run.host, step: key }) }
  const noted = { before: { forcedDown, status, state, disabledReason, updatedAt }, request: changes[kind] }
  const data = intention<ReturnStepKind>(kind, run.record().attempts + 1, noted, as)
  const mayLeave = lastMoment(run.clock, () => !run.signal.aborted && run.mayWrite())
  append(run, { kind: 'step.intended', step: key, data })
  try {
    mayLeave()
    const sentAt = run.clock.now()
    const after = await run.cloud.updateService(ourFlags.serviceId, changes[kind], { ...as, mayLeave })
    run.noteOurWrite(after, sentAt)
    append(run, { kind: 'step.issued', step: key, data: { requestId: null, ...as } })
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'JOURNAL_UNAVAILABLE') throw error
    // A refusal is an answer: Nova says what is missing, and asking again at once changes nothing.
    if (error.certainty !== 'unknown') return refuse(run, key, kind, error)
  }
  await reconcileOpen(run)
}

/** Finds out what became of a write that has rows but no end: after a lost answer, or after a restart. */
export async function reconcileOpen(run: ReturnRun): Promise<void> {
  const { open } = run.record()
  if (open === null) return
  const askedAt = run.clock.now()
  for (;;) {
    const service = await readService(run)
    if (service !== undefined && reached[open.kind](service)) return confirm(run, open, service)
    // It was accepted: what shows now is no late effect but someone's next write, or a refusal in disguise.
    if (open.issued) return fail(run, open.key, notReached())
    if (run.clock.now() - askedAt >= run.reconcileQuietMs) return fail(run, open.key, neverTaken())
    await sleep(run.clock, run.tickMs, run.signal)
    if (run.signal.aborted) throw new LifeboatError('SHUTDOWN', 'the daemon is stopping', { certainty: 'unknown' })
  }
}

function confirm(run: ReturnRun, open: OpenReturnStep, service: ServiceRecord): void {
  const { forcedDown, status, state, disabledReason, updatedAt } = service
  if (!open.issued) append(run, { kind: 'step.issued', step: open.key, data: { requestId: null } })
  const result = { forcedDown, status, state, disabledReason, updatedAt }
  append(run, { kind: 'step.confirmed', step: open.key, data: { result } })
}

function fail(run: ReturnRun, step: string, error: LifeboatError): void {
  append(run, { kind: 'step.failed', step, data: { error: errorRecord(error) } })
}

/** People hear of a row of refusals in the same moment: after a crash in between they would never hear of it. */
function refuse(run: ReturnRun, step: string, kind: ReturnStepKind, error: LifeboatError): void {
  const isTold = isRefusal(error) && refusalsOf(run.record(), kind) + 1 === refusalsBeforeAlarm
  const alarm = { kind: 'alarm.raised' as const, data: serviceChangeRefused(run.host, error) }
  append(run, { kind: 'step.failed', step, data: { error: errorRecord(error) } }, ...(isTold ? [alarm] : []))
}

function notReached(): LifeboatError {
  return new LifeboatError('STATE_MISMATCH', 'Nova answered, but the service does not show it', {
    certainty: 'applied',
    retry: 'backoff',
  })
}

function neverTaken(): LifeboatError {
  return new LifeboatError('API_UNAVAILABLE', 'no answer, and the service shows that the write was not taken', {
    retry: 'backoff',
  })
}

async function readService({ cloud, host, signal }: ReturnRun): Promise<ServiceRecord | undefined> {
  const { services } = await cloud.listServices({ signal })
  return services.find((row) => row.binary === 'nova-compute' && row.host === host)
}

type Row = Extract<
  NewEntry,
  { kind: 'step.intended' | 'step.issued' | 'step.confirmed' | 'step.failed' | 'alarm.raised' }
>

function append(run: ReturnRun, ...rows: Row[]): void {
  const incident = incidentOf(run.record())
  run.journal.append(rows.map((row) => ({ ...row, ...(incident !== undefined && { incident }), host: run.host })))
}
