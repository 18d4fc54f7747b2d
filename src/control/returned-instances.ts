/**
 * One look at the instances of a host that came back by itself: two listings, and the histories of those that went off since about
 * its death. Gives what is new as entries; writes nothing.
 */
import {
  isLeftOpen,
  isOffNow,
  mayBeOff,
  mayHaveDiedWithHost,
  planAfterReturn,
  type ReturnedInstance,
} from '../engine/after-return.ts'
import { unknownEvacuation } from '../engine/recall.ts'
import { afterReturnRule, offAfterReturn, ranSince } from '../domain/after-return.ts'
import type { Cloud } from '../domain/cloud.ts'
import { cloudTimeMs } from '../domain/cloud-time.ts'
import type { NewEntry } from '../domain/entry.ts'
import { ensureError } from '../domain/errors.ts'
import { requestsOf, type Incident, type InstanceRecovery } from '../domain/incident.ts'
import type { Instance, InstanceAction, InstanceId } from '../domain/instance.ts'
import type { Outcome } from '../domain/outcome.ts'
import type { InstancePlan } from '../domain/plan.ts'
import { lastOrder, wasRunSince } from '../domain/power-history.ts'
import type { InstancePolicy } from '../domain/segment.ts'
import type { HostName } from '../domain/service.ts'
import type { EarlierRecovery } from '../domain/survey.ts'
import { afterOf, runningAgain } from '../executor/start-again.ts'
import { isRunning } from '../executor/steps/power.ts'
import { lookSince } from '../executor/recall.ts'
import { readActions } from '../executor/surroundings.ts'
import { requireCell } from '../executor/survey.ts'

export interface ReturnedLook {
  cloud: Cloud
  host: HostName
  incident: Incident
  policy: InstancePolicy
  /** The host's last sign of life before it died, cloud time in ms. */
  lastSign: number
  /** When it came back, ms since the epoch. */
  backAt: number
  /** What an incident before this one did with an instance; null: none did anything. */
  earlier: (instance: InstanceId) => EarlierRecovery | null
  nowMs: number
  /** How long Nova may still serve a request whose answer was lost. */
  requestLastsMs: number
  /** Those that were found off before, with the stamp of the row that told so. Added to. */
  cleared: Map<InstanceId, string>
  /** Some of them are being started: what Nova shows of those is somewhere in between. */
  isBusy: () => boolean
  signal: AbortSignal
}

export interface Returned {
  entries: NewEntry[]
  /** How many Nova lists on the host. */
  instances: number
  /** Those of them whose outcome of before stands: they are told of already. */
  settled: number
  /** Nova may still show these as running though they are off. */
  pending: number
}

/** Throws what reading the cloud throws: nothing is known then that was not known before. */
export async function lookAtReturned(look: ReturnedLook): Promise<Returned> {
  const { cloud, host, incident, lastSign, signal } = look
  const [listed, { services }] = await Promise.all([
    cloud.listInstances(host, { signal }),
    cloud.listServices({ signal }),
  ])
  requireCell(services, host)
  const off = listed.filter(
    (one) =>
      isOffNow(one) &&
      isUntouched(incident.instances.get(one.id)) &&
      !isNew(one, look.backAt) &&
      look.cleared.get(one.id) !== one.updatedAt,
  )
  const suspects = off
    .map((instance) => ({ instance, earlier: look.earlier(instance.id) }))
    .filter(({ earlier }) => !isAtWork(earlier))
    .filter(
      ({ instance, earlier }) => (earlier !== null && isLeftOpen(earlier)) || mayHaveDiedWithHost(instance, lastSign),
    )
  const plans = await plansFor(look, suspects)
  const base = { incident: incident.id, host }
  const entries = [
    ...plans.flatMap((plan): NewEntry[] => [
      { kind: 'plan.made', ...base, instance: plan.instanceId, data: plan },
      {
        ...{ kind: 'outcome.recorded', ...base, instance: plan.instanceId },
        data: { outcome: 'left', code: plan.reason, message: plan.message, after: afterOf(plan.original.instance) },
      },
    ]),
    ...(look.isBusy() ? [] : await changes(look, listed)).map(([instance, data]): NewEntry => ({
      kind: 'outcome.recorded',
      ...base,
      instance,
      data,
    })),
  ]
  const untouched = listed.filter(({ id }) => isUntouched(incident.instances.get(id)))
  const pending = untouched.filter((one) => mayBeOff(one) && !isNew(one, look.backAt))
  const told = listed.filter(({ id }) => isOfTheRecovery(incident.instances.get(id)))
  return { entries, instances: listed.length, settled: told.length, pending: pending.length }
}

/** Another incident is bringing it back: it says what became of it. */
function isAtWork(earlier: EarlierRecovery | null): boolean {
  return earlier !== null && earlier.endedAt === null
}

/** Nothing was begun for it: it is where it was, and no outcome says whether it runs. */
function isUntouched(recovery: InstanceRecovery | undefined): boolean {
  return recovery === undefined || (recovery.outcome?.code === 'CANCELLED' && recovery.steps.size === 0)
}

/** The recovery that was cancelled says what became of it. */
function isOfTheRecovery(recovery: InstanceRecovery | undefined): boolean {
  return recovery !== undefined && recovery.plan.rule !== afterReturnRule && !isUntouched(recovery)
}

type Suspect = Pick<ReturnedInstance, 'instance' | 'earlier'>

async function plansFor(look: ReturnedLook, suspects: Suspect[]): Promise<InstancePlan[]> {
  const { cloud, policy, signal } = look
  if (suspects.length === 0) return []
  const instances = suspects.map(({ instance }) => instance)
  const volumeIds = [...new Set(instances.flatMap((one) => one.volumeIds))]
  const [actions, volumes] = await Promise.all([
    readActions(cloud, instances, { signal }),
    volumeIds.length === 0 ? new Map<string, { encrypted: boolean }>() : cloud.getVolumes(volumeIds, { signal }),
  ])
  const plans: InstancePlan[] = []
  for (const { instance, earlier } of suspects) {
    const encrypted = instance.volumeIds.some((id) => volumes.get(id)?.encrypted !== false)
    const mayActForProject = encrypted && (await cloud.mayActFor(instance.projectId, { signal }))
    const history = actions[instance.id] ?? null
    const since = await readSince(look, instance.id, earlier, history)
    const asked = { instance, earlier, since, actions: history, encrypted, mayActForProject }
    const plan = planAfterReturn(asked, look, policy)
    if (plan === null) look.cleared.set(instance.id, instance.updatedAt)
    else plans.push(plan)
  }
  return plans
}

/** Whether its guest may still run where an earlier incident took it. A stop that came through says nothing of that. */
async function readSince(
  { cloud, requestLastsMs, signal }: ReturnedLook,
  id: InstanceId,
  earlier: EarlierRecovery | null,
  history: InstanceAction[] | null,
): Promise<ReturnedInstance['since']> {
  if (earlier === null || history === null || unknownEvacuation(earlier) === null) return null
  const orders = history.filter(({ action }) => action !== 'stop')
  return { ...(await lookSince(cloud, id, earlier, orders, { signal })), requestLastsMs }
}

/** What others did since to those that were off. */
async function changes(look: ReturnedLook, listed: Instance[]): Promise<[InstanceId, Outcome][]> {
  const here = new Map(listed.map((one) => [one.id, one]))
  const changed: [InstanceId, Outcome][] = []
  for (const recovery of offAfterReturn(look.incident)) {
    // Our start began before a restart; its outcome is read once it may go on.
    if (isBegun(recovery)) continue
    const outcome = await outcomeNow(look, recovery, here.get(recovery.plan.instanceId))
    if (outcome !== null) changed.push([recovery.plan.instanceId, outcome])
  }
  return changed
}

function isBegun({ steps }: InstanceRecovery): boolean {
  return [...steps.values()].some(({ status }) => status === 'intended' || status === 'issued')
}

async function outcomeNow(
  { cloud, cleared, signal }: ReturnedLook,
  recovery: InstanceRecovery,
  seen: Instance | undefined,
): Promise<Outcome | null> {
  const { plan } = recovery
  const id = plan.instanceId
  if (seen === undefined) return elsewhere(cloud, id, signal)
  if (isRunning(seen)) return runningAgain(seen, 'STARTED_BY_OTHERS')
  const known = cleared.get(id) ?? plan.original.instance.updatedAt
  if (seen.vmState !== 'stopped' || seen.taskState !== null || seen.updatedAt === known) return null
  const actions: InstanceAction[] = await cloud.listActions(id, { signal })
  cleared.set(id, seen.updatedAt)
  const isStopped = lastOrder(actions) === 'stop'
  if (!isStopped && !wasRunSince(actions, plan.original.instance.updatedAt, requestsOf(recovery))) return null
  const message = `${isStopped ? 'its owner stopped it after all' : ranSince}; it stays off`
  return { outcome: 'left', code: 'STOPPED_BY_OWNER', message, after: afterOf(seen) }
}

/** It is no longer listed on its host. */
async function elsewhere(cloud: Cloud, id: InstanceId, signal: AbortSignal): Promise<Outcome | null> {
  try {
    const seen = await cloud.getInstance(id, { signal })
    const outcome = isRunning(seen) ? 'recovered' : 'left'
    const message = `on ${seen.host ?? 'no host'}, ${seen.vmState}; someone else moved it`
    return { outcome, code: 'MOVED_BY_OTHERS', message, after: afterOf(seen) }
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code !== 'INSTANCE_GONE') throw error
    return { outcome: 'left', code: error.code, message: 'it was deleted', after: null }
  }
}

/** Started for the first time after the host was back. */
function isNew({ launchedAt }: Instance, backAt: number): boolean {
  return launchedAt !== null && cloudTimeMs(launchedAt) >= backAt
}
