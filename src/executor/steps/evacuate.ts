/**
 * The evacuation of one instance: the write that must never be sent twice (law L5, docs/nova.md fact 1).
 *
 * Success is not "task_state is null" (fact 4) but: the attempt's own migration is done, the instance is no longer on the dead host, and no task
 * of a rebuild is left (docs/nova.md §2.4).
 */
import type { Landing } from '../../domain/cloud.ts'
import { cloudTimeMs } from '../../domain/cloud-time.ts'
import { LifeboatError } from '../../domain/errors.ts'
import type { Instance, InstanceAction, InstanceActionEvent, Migration } from '../../domain/instance.ts'
import type { StepRecord } from '../../domain/incident.ts'
import type { HostName } from '../../domain/service.ts'
import type { BeforeEvacuation, PowerOrder } from '../../domain/step-payloads.ts'
import { retryRead, pause } from '../retry.ts'
import { wasConfirmed } from '../how-far.ts'
import { powerOrderAfterLife, powerOrderIn, powerOrderOf, powerOrderWiped } from '../power-order.ts'
import type { StepDriver, StepScene } from '../step-driver.ts'
import { destinationOf, whereItStands } from './destination.ts'
import { refuseDeleted } from './deleted-meanwhile.ts'
import { followed } from './evacuation-follow.ts'
import {
  beforeOf,
  hasFailed,
  isRevived,
  isSpare,
  isTaken,
  orderOf,
  ours,
  recordInForce,
  recordsOf,
  spareOf,
  waitingOf,
} from './evacuation-records.ts'
import { orderedMeanwhile, orderedWhileItLived } from './ordered-meanwhile.ts'
import { attempts, isRebuilding, listEvacuations, lookAgain, mayHaveLeft, recheck } from './recheck.ts'
import { mayHaveStarted } from './guest-started.ts'
import { givenUp, mayBeTaken, refuseTwo } from './two-evacuations.ts'

/** Nova stamps actions in whole seconds, by the API's clock. Too large would take an older evacuation for this one. */
const clockMarginMs = 5_000

/**
 * nova-compute fails the migration first and ends the task last, and Nova shows the fault only after that (docs/nova.md §2.5). Shorter
 * misses that a destination was refused the disk: the old guest lives. Longer waits as long for one that died over it.
 */
const faultWithinMs = 10_000

export const evacuate: StepDriver<'evacuate'> = {
  before: async (scene) => {
    const { run, watch, plan, recovery } = scene
    if (run.proof === null) throw new LifeboatError('PROOF_INVALID', `no proof that ${run.host} is dead`)
    run.fencer.verify(run.proof, run.host)
    const earlier = mayHaveLeft(recovery)
    const spent = [...plan.original.knownEvacuations, ...earlier.flatMap(recordsOf)]
    // A later attempt looks whether one that was given up as lost came through; before the first none can be ours.
    const isFirst = earlier.length === 0
    const records = isFirst ? [] : await listEvacuations(scene)
    const made = records.filter(({ uuid }) => earlier.flatMap(recordsOf).includes(uuid))
    const waiting = waitingOf(made, earlier)
    const taken = made.filter((record) => isTaken(record, run.permissions))
    const revived = made.find((record) => isRevived(record, earlier, run.permissions))
    // A spare record of an attempt that ended has no order any more.
    const queues = waiting.filter(({ migration }) => !isSpare(earlier, migration)).map(({ destination }) => destination)
    if (taken.some((record) => record !== revived) || queues.some((host) => !run.permissions.isFenced(host ?? ''))) {
      throw new LifeboatError('EVACUATION_STALLED', 'an earlier evacuation of this instance is still under way', {
        certainty: 'unknown',
      })
    }
    const seen = isFirst ? await recheck(scene, spent) : await lookAgain(scene)
    if (seen.vmState === 'deleted')
      throw new LifeboatError('INSTANCE_GONE', 'the instance was deleted before its turn came')
    // From ERROR a guest lands running whatever was asked for (docs/nova.md fact 2): its state is reset first.
    if (isFirst && seen.vmState === 'error' && plan.original.instance.vmState !== 'error')
      throw new LifeboatError('EVACUATION_FAILED', 'it went to ERROR before its turn came', { retry: 'backoff' })
    if (seen.host === run.host) refuseDeleted(seen)
    const cameTrue = isFirst || seen.host === run.host ? revived : await arrivedMeanwhile(scene, seen)
    const before: BeforeEvacuation = {
      vmState: seen.vmState,
      taskState: seen.taskState,
      powerState: seen.powerState,
      host: seen.host,
      // What is taken up again is this attempt's own.
      spentEvacuations: spent.filter((uuid) => uuid !== cameTrue?.uuid),
      ...(waiting.length > 0 && { waitingEvacuations: waiting }),
      knownRequests: earlier.flatMap((record) => record.requestId ?? []),
      cloudTime: watch.knownAtCloudTime(plan.instanceId),
    }
    const lastOrder = plan.expected === null ? null : await orderedWhileItLived(scene)
    const inTask = isFirst ? (powerOrderIn(seen, plan) ?? powerOrderWiped(recovery)) : null
    // One that was held back may have seen an order in a task that is gone by now.
    const ordered = lastOrder === null ? (inTask ?? powerOrderOf(recovery)) : powerOrderAfterLife(lastOrder, recovery)
    const request = {
      landing: landingOf(scene, ordered),
      asProject: plan.asProject,
      fencedBy: run.proof.method,
      ...(ordered !== null && { ordered }),
    }
    const late = cameTrue ?? records.find((record) => !spent.includes(record.uuid))
    return late === undefined ? { before, request } : { before, request, adopt: late.uuid }
  },

  send: (scene, as) => {
    const { run, plan, recovery } = scene
    if (run.proof === null) throw new LifeboatError('PROOF_INVALID', `no proof that ${run.host} is dead`)
    run.fencer.verify(run.proof, run.host)
    const landing = landingOf(scene, powerOrderOf(recovery))
    const order = { landing, ...(plan.asProject !== null && { asProject: plan.asProject }) } as const
    return run.cloud.evacuate(plan.instanceId, order, as)
  },

  overdue: ({ run, watch, plan }, record) => {
    const migration = recordInForce(watch.evacuations(plan.instanceId), beforeOf(record))
    if (migration === undefined) return { goesOn: false, where: null, details: {} }
    const destination = destinationOf(run, migration)
    return {
      // As long as that one is open it may still prove the destination dead, and the order with it.
      goesOn: destination !== null && run.permissions.hasIncident(destination),
      where: whereItStands(run, migration),
      details: { migration: migration.uuid, destination },
    }
  },

  follow: async (scene, record) => {
    const over = new AbortController()
    const reader = { ...scene, signal: AbortSignal.any([scene.signal, over.signal]) }
    let history: ReturnType<typeof orderedMeanwhile> | null = null
    const readHistory = (): NonNullable<typeof history> => (history ??= orderedMeanwhile(reader, { follows: true }))
    try {
      // What fails beside the following is thrown at the landing. Without a landing nobody asks what it told.
      const end = await followed(scene, record, () => void readHistory().catch(() => undefined))
      if (!('instance' in end)) throw await explainFailure(scene, record, end.migration)
      const { migration, instance } = end
      const { evacuations = [], ...ordered } = await readHistory()
      await refuseTwo(reader, record, evacuations, instance.host)
      return {
        migration: migration.uuid,
        host: instance.host,
        vmState: instance.vmState,
        powerState: instance.powerState,
        ...ordered,
      }
    } finally {
      // Else it would be read on for as long as Nova is silent, also beside the next attempt and after the incident.
      over.abort()
    }
  },

  reconcile: async (scene, record, quietMs) => {
    const { run } = scene
    let quietFrom: number | null = null
    let requestId: string | null = null
    for (;;) {
      const found = ours(await listEvacuations(scene), beforeOf(record)).at(-1)
      // Read also where there is no record: for a cell that Nova cannot reach it lists no migrations, but refuses this read.
      requestId = (await findAction(scene, record))?.requestId ?? null
      // Its action alone does not count: Nova writes that first, and an API that stands still between the two sends the order once it goes on.
      if (found !== undefined) return { applied: true, requestId }
      // From the first answer on: an order that hung with Nova's database is taken a moment after both are back.
      quietFrom ??= run.clock.now()
      if (run.clock.now() - quietFrom >= quietMs) break
      await pause(run.clock, run.settings.tickMs, scene.signal)
    }
    return { applied: false, requestId }
  },
}

/**
 * Nova has it elsewhere by now: the order that brought it there, though it was given up. Another one would start the guest a second time.
 * @throws LifeboatError STATE_MISMATCH where none of ours did
 */
async function arrivedMeanwhile(scene: StepScene, { host }: Pick<Instance, 'host'>): Promise<Migration> {
  const { knownEvacuations } = scene.plan.original
  // Listed after the instance was read: Nova moves it first, and ends the record then.
  const records = await listEvacuations(scene)
  const found = records.findLast(
    ({ uuid, status, destHost }) => !knownEvacuations.includes(uuid) && destHost === host && !hasFailed(status),
  )
  if (found === undefined)
    throw new LifeboatError(
      'STATE_MISMATCH',
      `it is on ${host ?? 'no host'} by now, and no evacuation of ours brought it there: someone else moved it before its turn came`,
    )
  return found
}

/** As the step says; stopped where the owner ordered that meanwhile, unless this Nova was found unable to. */
function landingOf({ step, recovery }: StepScene, ordered: PowerOrder | null): Landing {
  const unable = attempts(recovery).some(({ error }) => error?.code === 'MICROVERSION_UNSUPPORTED')
  return step.landing === 'as-before' && (ordered !== 'stop' || unable) ? 'as-before' : 'stopped'
}

/** The evacuate action that this attempt made: the newest that no other attempt made and that began after it was intended. */
async function findAction(
  { run, plan, signal }: StepScene,
  record: StepRecord<'evacuate'>,
): Promise<InstanceAction | undefined> {
  const { knownRequests, cloudTime } = beforeOf(record)
  const actions = await retryRead(run.clock, signal, () => run.cloud.listActions(plan.instanceId, { signal }))
  const newest = actions.find((action) => action.action === 'evacuate')
  if (newest === undefined || knownRequests.includes(newest.requestId)) return undefined
  return cloudTimeMs(newest.startedAt) < Date.parse(cloudTime) - clockMarginMs ? undefined : newest
}

/**
 * The destination was refused the write lock of the disk: whatever proved the host dead, its guest may run. The proof is void, and
 * the next order waits until the host is proven dead again. The lock goes with the old guest, on some file systems a minute later,
 * so the order is repeated (docs/nova.md §2.5).
 */
function oldGuestLives(
  { run, plan }: StepScene,
  { key }: StepRecord<'evacuate'>,
  { destHost }: Migration,
  details: object,
): LifeboatError {
  const message = `${destHost ?? 'a destination'} was refused the write lock of ${plan.name}'s disk: its guest on ${run.host} still runs, or the lock of a dead one has not expired yet`
  const data = { code: 'DISK_IN_USE', message, updatedAt: null }
  // One that was made since the order was sent is put to the test by the next order. By their places: clocks are set.
  const of = { incident: run.id, newestFirst: true }
  const [made] = run.journal.read({ ...of, kinds: ['proof.recorded'], limit: 1 })
  const orders = run.journal.read({ ...of, instance: plan.instanceId, kinds: ['step.intended'] })
  const isLater = (orders.find(({ step }) => step === key)?.seq ?? 0) > (made?.seq ?? 0)
  if (run.permissions.incident(run.id).proof !== null && isLater)
    run.journal.append([{ kind: 'proof.voided', incident: run.id, host: run.host, data }])
  return new LifeboatError('EVACUATION_FAILED', message, {
    certainty: 'applied',
    retry: 'backoff',
    details: { ...details },
  })
}

/**
 * The source of a resize keeps its guest, off, until the resize is confirmed. Nova looks for one before it starts anything (docs/nova.md
 * §3.6), and an evacuation of ours that may have started one there is never followed by another.
 */
function metItsResize({ plan, recovery }: StepScene, { destHost }: Migration, reason: string): boolean {
  const isSource = destHost !== null && destHost === plan.original.resize?.sourceHost
  return isSource && !wasConfirmed(recovery) && /already exists/i.test(reason)
}

/** Nova's scheduler knows nothing of that guest and may choose its host again, so people are told, once. */
function inItsOwnWay({ run, plan }: StepScene, { destHost }: Migration, details: object): LifeboatError {
  const code = 'RESIZE_GUEST_IN_THE_WAY'
  const message = `${destHost} cannot take ${plan.name}: it still has its switched-off guest from before a resize that was never confirmed. Disable nova-compute there until the instance is back, or remove that guest`
  const alarms = run.journal.read({ incident: run.id, instance: plan.instanceId, kinds: ['alarm.raised'] })
  if (!alarms.some((entry) => entry.kind === 'alarm.raised' && entry.data.code === code)) {
    const place = { incident: run.id, host: run.host, instance: plan.instanceId }
    run.journal.append([{ kind: 'alarm.raised', ...place, data: { code, message } }])
  }
  return new LifeboatError('EVACUATION_FAILED', message, {
    certainty: 'applied',
    retry: 'backoff',
    details: { ...details },
  })
}

/** The instance once its failed evacuation has ended its task: only then Nova shows the fault. */
async function settled({ run, watch, plan, signal }: StepScene): Promise<Instance> {
  const until = run.clock.now() + faultWithinMs
  for (;;) {
    const seen = await retryRead(run.clock, signal, () => watch.read(plan.instanceId))
    if (!isRebuilding(seen) || run.clock.now() >= until) return seen
    await pause(run.clock, run.settings.tickMs, signal)
  }
}

/** What tells of its failure: the events of the attempt's own order, or of those whose record it took up. Null: nobody can tell. */
async function eventsBehind(
  scene: StepScene,
  record: StepRecord<'evacuate'>,
  { uuid }: Migration,
): Promise<InstanceActionEvent[] | null> {
  const { run, plan, recovery, signal } = scene
  const own = record.requestId ?? (await findAction(scene, record))?.requestId
  const earlier = attempts(recovery).filter((attempt) => recordsOf(attempt).includes(uuid))
  const orders = own === undefined ? earlier.flatMap((attempt) => orderOf(attempt) ?? []) : [own]
  const events: InstanceActionEvent[] = []
  for (const order of orders)
    events.push(
      ...(await retryRead(run.clock, signal, () => run.cloud.getAction(plan.instanceId, order, { signal }))).events,
    )
  return orders.length === 0 ? null : events
}

/**
 * An order that was given up has moved the record that waited, and ours is elsewhere: its host may start the guest yet. That host, null while Nova
 * names none; undefined where the record tells of ours.
 */
async function elsewhere(
  scene: StepScene,
  record: StepRecord<'evacuate'>,
  { uuid, destHost }: Migration,
  events: readonly InstanceActionEvent[] | null,
): Promise<HostName | null | undefined> {
  const isOfEarlier = beforeOf(record).waitingEvacuations?.some(({ migration }) => migration === uuid) === true
  if (!isOfEarlier || destHost === null || record.requestId === null || events === null) return undefined
  if (events.some(({ event, result }) => event === 'rebuild_server' && result === 'Error')) return undefined
  // Whichever of them: each moves the oldest record that stands at `accepted`, not its own (docs/nova.md §2.7).
  const isBehind = (attempt: StepRecord): boolean => attempt.key !== record.key && recordsOf(attempt).includes(uuid)
  const earlier = [...givenUp(scene, record), ...attempts(scene.recovery).filter(isBehind)]
  if (!(await mayBeTaken(scene, earlier, destHost))) return undefined
  const hosts = events.flatMap(({ event, host }) => (event === 'compute_rebuild_instance' ? [host] : []))
  const last = hosts.at(-1) ?? null
  return hosts.includes(destHost) || scene.run.permissions.isFenced(last ?? '') ? undefined : last
}

/** Why the evacuation failed, and whether its guest may be running on the destination (docs/nova.md fact 5). */
async function explainFailure(
  scene: StepScene,
  record: StepRecord<'evacuate'>,
  migration: Migration,
): Promise<LifeboatError> {
  const { run, plan } = scene
  const instance = await settled(scene)
  const noReason = 'Nova gives no reason'
  const spare = spareOf(scene.watch.evacuations(plan.instanceId), beforeOf(record), migration)
  const details = { migration: migration.uuid, destination: migration.destHost, fault: instance.fault, ...spare }
  if (instance.diskInUse === true) return oldGuestLives(scene, record, migration, details)
  if (migration.status === 'error') {
    return new LifeboatError('NO_VALID_HOST', `no destination: ${instance.fault ?? noReason}`, {
      certainty: 'applied',
      retry: 'backoff',
      details,
    })
  }
  const events = await eventsBehind(scene, record, migration)
  const other = await elsewhere(scene, record, migration, events)
  if (other !== undefined)
    return new LifeboatError(
      'GUEST_ON_DESTINATION',
      `an earlier evacuation that was given up went to ${migration.destHost}; ours may start the guest on ${other ?? 'an unknown host'}`,
      { certainty: 'unknown', details: { ...details, destination: other } },
    )
  // A claim that is refused leaves the instance as it was, without a fault: only the event knows why, and where.
  const broken = events?.find((event) => event.event === 'compute_rebuild_instance' && event.result === 'Error')
  const reason = instance.fault ?? broken?.details ?? noReason
  if (metItsResize(scene, migration, reason)) return inItsOwnWay(scene, migration, details)
  if (mayHaveStarted(events, reason) && !run.permissions.isFenced(migration.destHost ?? '')) {
    return new LifeboatError(
      'GUEST_ON_DESTINATION',
      `the guest may be running on ${migration.destHost ?? 'an unknown host'}, where Nova could not finish: ${reason}`,
      { certainty: 'unknown', details },
    )
  }
  return new LifeboatError(
    'EVACUATION_FAILED',
    `${migration.destHost ?? broken?.host ?? 'the destination'} could not take it: ${reason}`,
    { certainty: 'applied', retry: 'backoff', details },
  )
}
