/**
 * The two writes on a host that is set aside: its disable, and taking that back. Each is on record before it leaves, and again as soon
 * as an answer tells what came of it; what a lost answer leaves open is learnt by reading the service (law L3).
 *
 * Never decides whether: domain/set-aside.ts does.
 */
import type { Clock } from '../domain/clock.ts'
import type { Cloud } from '../domain/cloud.ts'
import type { EntryData } from '../domain/entry.ts'
import { ensureError, type LifeboatError } from '../domain/errors.ts'
import type { Journal } from '../domain/journal.ts'
import type { HostName, ServiceChange, ServiceRecord } from '../domain/service.ts'
import type { SetAside } from '../domain/set-aside.ts'
import { lastMoment } from './last-moment.ts'
import { stepRequestId } from './step-request-id.ts'

export interface SetAsideRun {
  host: HostName
  cloud: Pick<Cloud, 'updateService'>
  journal: Journal
  clock: Clock
  /** As the journal tells now. */
  record: () => SetAside | null
  /** Asked right before the write leaves. */
  mayWrite: () => boolean
  noteOurWrite: (service: ServiceRecord, sentAt: number) => void
  noteOurDisable: () => void
  /** Aborts when the daemon stops: a write that hangs is given up, and the next run learns by reading what came of it. */
  signal: AbortSignal
}

/** What is written on a service, and for which incident's evacuations. */
export type SetAsideOrder = Pick<SetAside, 'incident' | 'serviceId' | 'reason'>

/**
 * Sends the disable, once. It is in force long before the answer comes, where Nova asks a dying host to follow.
 *
 * @returns why Nova refused it, or null
 */
export async function disable(run: SetAsideRun, order: SetAsideOrder, because: string): Promise<LifeboatError | null> {
  const change = { status: 'disabled', disabledReason: order.reason } as const
  return send(run, order, { to: 'setting', because }, change, (error) =>
    error === null
      ? { to: 'set', because: 'Nova took our disable', certainty: 'applied' }
      : { to: 'over', because: `not done: ${error.message}`, certainty: 'not-applied' },
  )
}

/** Sends the enable, once. @returns why Nova refused it, or null */
export async function enable(run: SetAsideRun, known: SetAside, because: string): Promise<LifeboatError | null> {
  return send(run, known, { to: 'taking-back', because }, { status: 'enabled' }, (error) =>
    error === null
      ? { to: 'over', because: 'it lives and is enabled again', certainty: 'applied' }
      : { to: 'set', because: `not enabled: ${error.message}`, certainty: 'not-applied' },
  )
}

async function send(
  run: SetAsideRun,
  order: SetAsideOrder,
  { to, because }: { to: 'setting' | 'taking-back'; because: string },
  change: ServiceChange,
  after: (refused: LifeboatError | null) => Said,
): Promise<LifeboatError | null> {
  const { host, clock, cloud, signal } = run
  const step = `set-aside.${to}.${new Date(clock.wall()).toISOString()}`
  const globalRequestId = stepRequestId({ incident: order.incident, host, step })
  const mayLeave = lastMoment(clock, () => !signal.aborted && run.mayWrite())
  say(run, order, { to, because, certainty: 'unknown', globalRequestId })
  const since = run.record()?.since
  let refused: LifeboatError | null = null
  const sentAt = clock.now()
  try {
    mayLeave()
    const service = await cloud.updateService(order.serviceId, change, { globalRequestId, mayLeave, signal })
    // The stamp of a disable explains itself by the flags that move with it, and may be a minute old by now.
    if (to === 'taking-back') run.noteOurWrite(service, sentAt)
    else run.noteOurDisable()
  } catch (thrown) {
    refused = ensureError(thrown)
    if (refused.code === 'JOURNAL_UNAVAILABLE') throw refused
    if (refused.certainty !== 'not-applied') return null
  }
  const known = run.record()
  // Its effect was read meanwhile, or an incident of the host took it over.
  if (!signal.aborted && known?.state === to && known.since === since) say(run, order, after(refused))
  return refused?.code === 'HELD_BACK' ? null : refused
}

type Said = Pick<EntryData['service.set-aside'], 'to' | 'because' | 'certainty' | 'globalRequestId'>

function say({ journal, host }: SetAsideRun, { incident, serviceId, reason }: SetAsideOrder, said: Said): void {
  journal.append([{ kind: 'service.set-aside', incident, host, data: { serviceId, reason, ...said } }])
}
