/**
 * Another evacuation that is carried out after ours has landed. Nova's API lets one in while the instance is still on the dead host: it reads the
 * instance, checks it, and writes the order only then, and our landing fits in between. No look at the landing can see such an order, and nothing
 * keeps Nova from it: the guest then runs where ours landed and where the other went. This finds that in the history, afterwards. Reads only.
 */
import type { Clock } from '../domain/clock.ts'
import type { Cloud } from '../domain/cloud.ts'
import { ensureError } from '../domain/errors.ts'
import { requestsOf, type InstanceRecovery, type StepRecord } from '../domain/incident.ts'
import type { Instance, InstanceAction, InstanceActionEvent } from '../domain/instance.ts'
import type { HostName } from '../domain/service.ts'
import { retryRead } from './retry.ts'
import { orderOf, waitsAt } from './steps/evacuation-records.ts'
import { attempts, isRebuilding } from './steps/recheck.ts'
import { cameAfter, evacuationsOfOthers, eventsOf, givenUp, takenBy } from './steps/two-evacuations.ts'

/** An evacuation that did not bring the instance there, with what its hosts did. */
export interface OtherEvacuation extends Pick<InstanceAction, 'startedAt'> {
  events: readonly InstanceActionEvent[]
}

export interface LandedFacts {
  /** Where our evacuation brought it. */
  landedOn: HostName
  /** Of our order; empty where its answer was lost. */
  ours: readonly InstanceActionEvent[]
  others: readonly OtherEvacuation[]
  /** As Nova shows it now. */
  instance: Instance
  /** The host where it landed has been silent since: then it may have been moved on from there, as it should. */
  wasAway: boolean
  isProvenDead: (host: HostName) => boolean
}

/**
 * - `none`: no second guest.
 * - `wait`: an order is not at its end. After the last look its host is unknown.
 * - `twice`: where the guest may run beside the host where Nova shows it, null for a host that Nova does not tell.
 */
export type LateEvacuation = { is: 'none' } | { is: 'wait' } | { is: 'twice'; hosts: (HostName | null)[] }

/** Pure. */
export function decideLateEvacuation(facts: LandedFacts, isLastLook: boolean): LateEvacuation {
  const { landedOn, ours, others, instance, wasAway, isProvenDead } = facts
  // Nova refuses to evacuate what is on a host that it sees up. So what came later was let in before ours landed, unless that host went down.
  const hasLanded = ours.some(({ event, result }) => event === 'compute_rebuild_instance' && result === 'Success')
  const beside = others.filter((order) => !wasAway || (hasLanded && !cameAfter(order, ours)))
  if (beside.length === 0) return { is: 'none' }
  const taken = beside.map(({ events }) => takenBy(events))
  // Each was refused: where ours landed is where it was.
  if (taken.every((hosts) => hosts?.length === 0)) return { is: 'none' }
  // Nova ends the task first, then moves the instance, and ends the event last (docs/nova.md §2.4).
  const isUnderWay = beside.some(({ events }) => events.some(isOpenRebuild))
  if (!isLastLook && (isUnderWay || isRebuilding(instance) || taken.includes(null))) return { is: 'wait' }
  const all = new Set([landedOn, ...taken.flatMap((hosts) => hosts ?? [null])])
  if (all.size === 1) return { is: 'none' }
  const hosts = [...all].filter((host) => host === null || (host !== instance.host && !isProvenDead(host)))
  return hosts.length === 0 ? { is: 'none' } : { is: 'twice', hosts }
}

function isOpenRebuild({ event, result }: InstanceActionEvent): boolean {
  return event === 'compute_rebuild_instance' && result === null
}

/** The step that landed it, or undefined: it was not evacuated by us. */
function landing({ steps }: InstanceRecovery): StepRecord<'evacuate'> | undefined {
  return [...steps.values()].findLast(
    (step): step is StepRecord<'evacuate'> => step.kind === 'evacuate' && step.status === 'confirmed',
  )
}

interface Read extends Pick<LandedFacts, 'landedOn' | 'ours' | 'others' | 'instance'> {
  /** When its first evacuation was written down, ISO, our wall clock. */
  begunAt: string
}

interface Reader {
  cloud: Pick<Cloud, 'getInstance' | 'listActions' | 'getAction'>
  clock: Clock
  signal: AbortSignal
}

/**
 * What Nova tells of an instance that has landed; null where no evacuation of ours landed it, where nothing else evacuated it, and where it is gone.
 * Throws as reading does.
 */
export async function readLanded({ cloud, clock, signal }: Reader, recovery: InstanceRecovery): Promise<Read | null> {
  const landed = landing(recovery)
  const result = landed?.result ?? null
  const landedOn = result !== null && 'migration' in result ? result.host : null
  const [first] = attempts(recovery)
  const since = first?.before?.cloudTime
  if (landed === undefined || landedOn === null || first === undefined || since === undefined) return null
  const { plan } = recovery
  try {
    const actions = await retryRead(clock, signal, () => cloud.listActions(plan.instanceId, { signal }))
    const own = new Set([...requestsOf(recovery), ...attempts(recovery).map(orderOf)])
    const isForeign = ({ action, requestId }: InstanceAction): boolean => action === 'evacuate' && !own.has(requestId)
    // Newest first. Only what came before ours may be one of ours whose answer was lost.
    const ownAt = actions.findIndex(({ requestId }) => requestId === landed.requestId)
    const newer = actions.slice(0, Math.max(ownAt, 0)).filter(isForeign)
    const older = actions.slice(Math.max(ownAt, 0)).filter(isForeign)
    const others = [...newer, ...evacuationsOfOthers({ recovery }, since, older)]
    const scene = { run: { cloud, clock }, plan, signal }
    const read: OtherEvacuation[] = []
    for (const { startedAt, requestId } of others) read.push({ startedAt, events: await eventsOf(scene, requestId) })
    // What waits for a dead host is a stale order. An event without an end is what a lost order leaves.
    const isLost = (attempt: StepRecord): boolean => waitsAt(attempt) === null
    const lost = new Set(givenUp({ recovery }, landed).filter(isLost).map(orderOf))
    for (const { startedAt, requestId } of actions.filter((action) => lost.has(action.requestId))) {
      const events = (await eventsOf(scene, requestId)).filter(({ result }) => result !== null)
      if (takenBy(events) !== null) read.push({ startedAt, events })
    }
    if (read.length === 0) return null
    const ours = landed.requestId === null ? [] : await eventsOf(scene, landed.requestId)
    // Last: where it is by then, those orders have brought it.
    const instance = await retryRead(clock, signal, () => cloud.getInstance(plan.instanceId, { signal }))
    return { landedOn, ours, others: read, instance, begunAt: first.intendedAt }
  } catch (thrown) {
    if (['INSTANCE_GONE', 'NOT_FOUND'].includes(ensureError(thrown).code)) return null
    throw thrown
  }
}
