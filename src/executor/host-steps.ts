/**
 * The steps on the host itself: fence it, tell Nova, survey it. Each leaves the same rows as an instance's steps. Fencing
 * and forcing down may be repeated, so after a crash they are reconciled by reading and, where needed, done once more.
 */
import { isDeepStrictEqual } from 'node:util'
import { ensureError, errorRecord, LifeboatError, type ErrorCode } from '../domain/errors.ts'
import type { FenceAttempt, FencingProof } from '../domain/fencing.ts'
import type { Incident } from '../domain/incident.ts'
import type { HostStepKind } from '../domain/plan.ts'
import { wasRefused } from '../domain/return-record.ts'
import { ourDisabledReason, type FlagsFound, type ServiceRecord } from '../domain/service.ts'
import { intention, type BeforeOf, type ForcedDown, type RequestOf, type ResultOf } from '../domain/step-payloads.ts'
import type { Verdict } from '../domain/verdict.ts'
import { believedMethods } from './believed-methods.ts'
import type { Run } from './context.ts'
import { FenceWatch } from './fence-watch.ts'
import type { Gate } from './gate.ts'
import { retryRead } from './retry.ts'
import { stepRequestId } from './step-request-id.ts'

/**
 * Fences the host by its segment's methods, or takes a person's attestation where it counts, and records the proof. Throws
 * FENCING_MISSING, FENCE_FAILED, FENCE_UNVERIFIED: then nothing is proven and the incident must wait. Throws FENCE_STOPPED
 * when the host showed life meanwhile or acting was forbidden: the gate knows why.
 *
 * @param attestationCounts false while a witness finds the host alive: then only a method proves anything
 * @param seen the look right before, when it is not the verdict that opened the incident
 */
export async function fenceHost(run: Run, attestationCounts: boolean, seen?: Verdict): Promise<FencingProof> {
  const incident = run.permissions.incident(run.id)
  const { permissions, fencer, host } = run
  const { fencing, fencingLimitMs } = permissions.segment(incident)
  const { methods } = believedMethods(incident, fencing, run.clock.wall())
  const limitMs = fencingLimitMs ?? permissions.workflow(incident.workflowDigest).hostDeadlineMs.fence
  const tell = (data: FenceAttempt): void => {
    // A chain that the incident's end cut short.
    if (permissions.incident(run.id).closed !== null) return
    run.journal.append([{ kind: 'fence.attempt', incident: run.id, host, data }])
  }
  const before = {
    verdict: (seen ?? incident.verdict)?.kind ?? null,
    // A stamp later than this one is a sign of life after the fencing.
    ...(seen !== undefined && { updatedAt: seen.evidence.updatedAt }),
  }
  return hostStep(run, 'fence', { before, request: { methods, limitMs } }, async () => {
    const { attestation } = incident
    const proof =
      attestation === null || !attestationCounts
        ? await watched(new FenceWatch(run, methods, !attestationCounts), (watch) =>
            fencer.fence(host, methods, tell, { signal: watch.signal, mayGoOn: watch.mayGoOn, limitMs }),
          )
        : fencer.attest(host, attestation.by, attestation.statement)
    recordProof(run, proof)
    return { value: proof, result: { method: proof.method, strength: proof.strength } }
  })
}

async function watched<T>(watch: FenceWatch, work: (watch: FenceWatch) => Promise<T>): Promise<T> {
  try {
    return await work(watch)
  } finally {
    watch.end()
  }
}

/** Writes the proof into the journal, as plain data. */
export function recordProof(run: Run, made: FencingProof): void {
  const { host, method, strength, provenAt, statedBy, evidence, proves } = made
  const proof = { host, method, strength, provenAt, statedBy, evidence, ...(proves !== undefined && { proves }) }
  run.journal.append([{ kind: 'proof.recorded', incident: run.id, host: run.host, data: { proof } }])
}

const wasStopped: ReadonlySet<ErrorCode> = new Set(['SHUTDOWN', 'FENCE_STOPPED', 'HELD_BACK'])

/** How many attempts of a host step failed by themselves, over all runs: what was stopped might have gone well. */
export function failedAttempts({ hostSteps }: Incident, kind: HostStepKind): number {
  const failed = [...hostSteps.values()].filter((step) => step.kind === kind && step.status === 'failed')
  return failed.filter(({ error }) => error === null || !wasStopped.has(error.code)).length
}

/** What the gate says of a write on the host. */
export type HostGate = Pick<Gate, 'pass' | 'isOpen' | 'lastMoment'>

/**
 * Forces the service down, so that Nova evacuates at once, and disables it, so that nothing is scheduled there when it
 * returns: one PUT. What others set stays as it is found right before (law L6).
 */
export async function forceDown(run: Run, gate: HostGate): Promise<void> {
  for (;;) {
    await gate.pass()
    // After the gate: it may have waited for days, in which people act.
    const service = await readService(run)
    const incident = run.permissions.incident(run.id)
    if (isForcedDown(service, incident)) {
      leaveToThem(run, service)
      return confirmOpen(run, 'force-down', flagsOf(service))
    }
    if (!gate.isOpen()) continue
    try {
      return await orderForceDown(run, gate, service)
    } catch (thrown) {
      if (ensureError(thrown).code !== 'HELD_BACK') throw thrown
    }
  }
}

function isForcedDown({ forcedDown, status }: ServiceRecord, incident: Incident): boolean {
  return forcedDown && (status === 'disabled' || (incident.ourFlags !== null && mayHaveArrived(incident)))
}

/** Whether what stands there may be an order of ours. One that never left, or that Nova refused, set nothing. */
function mayHaveArrived({ hostSteps }: Incident): boolean {
  const orders = [...hostSteps.values()].filter(({ kind }) => kind === 'force-down')
  return orders.some(({ error }) => error === null || !wasRefused(error))
}

/** Our mark was made for an order that set nothing: the host is forced down by others, and at its return it stays so. */
function leaveToThem(run: Run, found: ServiceRecord): void {
  const incident = run.permissions.incident(run.id)
  const { ourFlags } = incident
  const before = flagsFound(found)
  if (ourFlags === null || mayHaveArrived(incident) || isDeepStrictEqual(ourFlags.before, before)) return
  const data = { ...ourFlags, before, updatedAt: found.updatedAt }
  run.journal.append([{ kind: 'service.marked', incident: run.id, host: run.host, data }])
}

/** Enabled, or disabled by us while it was only silent: from now on the text names the host's own incident. */
function isOursToDisable({ permissions, host }: Run, { status, disabledReason }: ServiceRecord): boolean {
  return status === 'enabled' || (disabledReason !== null && disabledReason === permissions.setAsideReason(host))
}

/** Throws HELD_BACK when the row must be read again: a person changed it, or what allowed the write is no longer so. */
async function orderForceDown(run: Run, gate: HostGate, found: ServiceRecord): Promise<void> {
  const { id, updatedAt } = found
  if (id === null)
    throw new LifeboatError('API_UNAVAILABLE', `the cell of ${run.host} does not answer`, { retry: 'after' })
  const before = flagsFound(found)
  const reason = ourDisabledReason(run.id)
  const change = {
    forcedDown: true,
    ...(isOursToDisable(run, found) && { status: 'disabled' as const, disabledReason: reason }),
  }
  let mayLeave = gate.lastMoment()
  await hostStep(run, 'force-down', { before, request: change }, async (as) => {
    // Before the flags are on record too: what is not sent leaves nothing of ours to be taken back.
    mayLeave()
    // Once for what was found: a refusal that lasts for days must not repeat it.
    const { ourFlags } = run.permissions.incident(run.id)
    if (ourFlags === null || !isDeepStrictEqual(ourFlags.before, before)) {
      const data = { serviceId: id, before, reason, updatedAt }
      run.journal.append([{ kind: 'service.marked', incident: run.id, host: run.host, data }])
    }
    let unanswered: LifeboatError | null = null
    let tries = 0
    // Setting the same flags again changes nothing, so a lost answer is cured by sending again.
    const after = await retryRead(run.clock, run.signal, async () => {
      if (++tries > 1) {
        // Each try is a write of its own, and what is true may have changed since the last one. Waiting here would be wrong: a second
        // fencing may force the host down again meanwhile, and that ends this step.
        if (!gate.isOpen()) throw stoppedAfter(unanswered, heldBack(run.host))
        const now = await readService(run)
        if (now.forcedDown && (change.status === undefined || now.disabledReason === reason)) return now
        if (!isDeepStrictEqual(flagsFound(now), before)) throw stoppedAfter(unanswered, changedMeanwhile(run.host))
        mayLeave = gate.lastMoment()
      }
      const order = (): Promise<ServiceRecord> => {
        mayLeave()
        return run.cloud.updateService(id, change, { ...as, mayLeave })
      }
      try {
        // From the second try on once more at once: with a read between each two, a balancer that asks a broken API server
        // in turn would hand it every one of them.
        return await (tries > 1 ? onceMore(order) : order())
      } catch (thrown) {
        const error = ensureError(thrown)
        const told = stoppedAfter(unanswered, error)
        // A proxy that answers 503 may have handed it on.
        if (!wasRefused(error)) unanswered = error
        throw told
      }
    })
    run.permissions.noteOurWrite(after)
    if (!after.forcedDown)
      throw new LifeboatError('STATE_MISMATCH', 'Nova answered, but the service is not forced down', {
        certainty: 'applied',
        retry: 'backoff',
      })
    return { value: undefined, result: flagsOf(after) }
  })
}

/** Sends once more at once what was refused for now. For what does no harm when it is sent twice. */
async function onceMore<T>(order: () => Promise<T>): Promise<T> {
  try {
    return await order()
  } catch (thrown) {
    const { code, certainty } = ensureError(thrown)
    if (code !== 'API_UNAVAILABLE' || certainty !== 'not-applied') throw thrown
    try {
      return await order()
    } catch (second) {
      // The first one was sent, and may yet be carried out.
      throw wasRefused(ensureError(second)) ? thrown : second
    }
  }
}

function heldBack(host: string): LifeboatError {
  return new LifeboatError('HELD_BACK', `${host} was not forced down again: what allowed that is no longer so`, {
    retry: 'backoff',
  })
}

function changedMeanwhile(host: string): LifeboatError {
  return new LifeboatError('HELD_BACK', `not sent: someone changed the service of ${host} meanwhile`, {
    retry: 'backoff',
  })
}

/** Stopped, or refused, while an earlier answer was missing: Nova may have set the flags all the same, and the row must say so (law L3). */
function stoppedAfter(unanswered: LifeboatError | null, thrown: unknown): LifeboatError {
  const error = ensureError(thrown)
  if (unanswered === null || error.certainty !== 'not-applied') return error
  // One 503 after another says no more than the first.
  if (unanswered.certainty === 'not-applied' && !wasRefused(error)) return error
  const earlier = `an earlier try to force the host down may have been taken: ${unanswered.message}`
  return new LifeboatError(error.code, `${error.message}; ${earlier}`, {
    certainty: 'unknown',
    retry: error.retry,
    cause: unanswered,
  })
}

function flagsFound({ forcedDown, status, disabledReason }: ServiceRecord): FlagsFound {
  return { forcedDown, status, disabledReason }
}

function flagsOf(service: ServiceRecord): ForcedDown {
  return { ...flagsFound(service), updatedAt: service.updatedAt }
}

/** The daemon died after its write was taken and before it was told so: reading says that it is done (law L2). */
function confirmOpen<K extends HostStepKind>(run: Run, kind: K, result: ResultOf<K>): void {
  const steps = [...run.permissions.incident(run.id).hostSteps.values()].filter((step) => step.kind === kind)
  for (const { key, status } of steps)
    if (status === 'intended' || status === 'issued')
      run.journal.append([{ kind: 'step.confirmed', incident: run.id, host: run.host, step: key, data: { result } }])
}

/** Nova's row of the host's nova-compute. Throws NOT_FOUND, and what reading again cannot cure. */
export async function readService(run: Run): Promise<ServiceRecord> {
  const { services } = await retryRead(run.clock, run.signal, () => run.cloud.listServices({ signal: run.signal }))
  const service = services.find((row) => row.binary === 'nova-compute' && row.host === run.host)
  if (service === undefined) throw new LifeboatError('NOT_FOUND', `Nova knows no nova-compute on ${run.host}`)
  return service
}

/** Writes the rows of one host step around `work`. An attempt that a crash left open is closed first. */
async function hostStep<T, K extends HostStepKind>(
  run: Run,
  kind: K,
  asked: { before: BeforeOf<K>; request: RequestOf<K> },
  work: (as: { globalRequestId: string }) => Promise<{ value: T; result: ResultOf<K> }>,
): Promise<T> {
  const base = { incident: run.id, host: run.host }
  const steps = [...run.permissions.incident(run.id).hostSteps.values()].filter((step) => step.kind === kind)
  for (const open of steps.filter((step) => step.status === 'intended' || step.status === 'issued')) {
    const error = errorRecord(
      new LifeboatError('SHUTDOWN', 'the daemon stopped in the middle; it is done once more', { certainty: 'unknown' }),
    )
    run.journal.append([{ kind: 'step.failed', ...base, step: open.key, data: { error } }])
  }
  const attempt = steps.length + 1
  const step = `host.${kind}.${attempt}`
  const as = { globalRequestId: stepRequestId({ ...base, step }) }
  // Fencing asks nothing of OpenStack.
  const id = kind === 'fence' ? {} : as
  const data = intention<HostStepKind>(kind, attempt, asked, id)
  run.journal.append([{ kind: 'step.intended', ...base, step, data }])
  // A second end of one step would make a journal that no daemon can open.
  const isOpen = (): boolean => run.permissions.incident(run.id).hostSteps.get(step)?.status === 'intended'
  try {
    const { value, result } = await work(as)
    if (isOpen()) run.journal.append([{ kind: 'step.confirmed', ...base, step, data: { result, ...id } }])
    return value
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code !== 'SHUTDOWN' && error.code !== 'JOURNAL_UNAVAILABLE' && isOpen())
      run.journal.append([{ kind: 'step.failed', ...base, step, data: { error: errorRecord(error), ...id } }])
    throw error
  }
}
