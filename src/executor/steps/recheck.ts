/**
 * The recheck of an instance right before its first evacuation. It may have waited for hours since the survey, for room or at the
 * gate, and people act meanwhile: what someone evacuates by hand must not be evacuated a second time (law L5). Reads only.
 */
import { cloudTimeMs } from '../../domain/cloud-time.ts'
import { ensureError, LifeboatError } from '../../domain/errors.ts'
import { tookNothing, type InstanceRecovery, type StepRecord } from '../../domain/incident.ts'
import type { Instance, Migration } from '../../domain/instance.ts'
import { isCloudTrouble } from '../cloud-trouble.ts'
import { retryRead } from '../retry.ts'
import type { StepScene } from '../step-driver.ts'

/**
 * How old what is known of an instance may be: about two readings. Longer: an evacuation that someone has begun is doubled, and the
 * guest runs twice. Shorter: the host is listed again although the survey or the reading before has just told.
 */
const knownGoodForMs = 1_000

/**
 * The same while Nova takes long to answer: as old as two of its answers, but never older than this. Longer doubles what was begun
 * meanwhile; shorter reads every instance by itself, from a Nova that is busy as it is.
 */
const longestGoodForMs = 5_000

/**
 * How old an owner's words may be, in metadata and tags, when an instance is begun. Longer: an instance that its owner asked to be left
 * is evacuated. Shorter: the host is listed as often while many wait for room, and one whose metadata changes all the time is
 * planned without end.
 */
export const wordsGoodForMs = 60_000

/** All evacuations of the instance from the dead host, oldest first. */
export async function listEvacuations({ run, plan, signal }: StepScene): Promise<Migration[]> {
  const filter = { sourceHost: run.host, type: 'evacuation', instanceId: plan.instanceId } as const
  const records = await retryRead(run.clock, signal, () => run.cloud.listMigrations(filter, { signal }))
  return records.toSorted((a, b) => a.id - b.id)
}

/** Attempts of all rounds that got as far as a write. What could not be prepared sent nothing. */
export function attempts({ steps }: InstanceRecovery): StepRecord<'evacuate'>[] {
  return [...steps.values()].filter((step) => step.kind === 'evacuate').filter(({ before }) => before !== null)
}

/** Attempts whose order Nova may have taken. Where there are none, an evacuation that is found is someone else's. */
export function mayHaveLeft(recovery: InstanceRecovery): StepRecord<'evacuate'>[] {
  return attempts(recovery).filter((attempt) => !tookNothing(attempt))
}

/**
 * The instance as Nova shows it now.
 *
 * @param known uuids of the evacuations that stood before
 * @throws LifeboatError INSTANCE_GONE; EVACUATION_STALLED where someone else evacuates it; STATE_MISMATCH where it was moved;
 *   API_UNAVAILABLE where it may not be looked at: nothing was done, and the step is tried again
 */
export async function recheck(scene: StepScene, known: readonly string[]): Promise<Instance> {
  const { run, plan } = scene
  const { seen, records } = await look(scene)
  if (seen.vmState === 'deleted')
    throw new LifeboatError('INSTANCE_GONE', 'the instance was deleted before its turn came')
  const foreign = records.findLast((record) => !known.includes(record.uuid) || isOfNow(scene, record))
  if (foreign !== undefined)
    throw new LifeboatError(
      'EVACUATION_STALLED',
      `someone else began to evacuate it before its turn came (to ${foreign.destHost ?? 'no host yet'}, ${foreign.status}); a second evacuation could start the guest twice`,
      { certainty: 'unknown', details: { foreign: foreign.uuid, destination: foreign.destHost } },
    )
  if (seen.host !== run.host)
    throw new LifeboatError(
      'STATE_MISMATCH',
      `it was on ${plan.original.instance.host ?? 'no host'} and is on ${seen.host ?? 'no host'} by now: someone else moved it before its turn came`,
    )
  return seen
}

/**
 * The instance before a later attempt. Its records are listed by themselves then; it may have waited for minutes while the order
 * before could still be served, and its owner may have deleted it. Throws as reading does.
 */
export async function lookAgain(scene: StepScene): Promise<Instance> {
  const { run, watch, signal } = scene
  const seen = seenSince(scene, watch.knownAt(scene.plan.instanceId))
  return seen ?? retryRead(run.clock, signal, () => watch.read(scene.plan.instanceId))
}

/**
 * Made since this incident began, where nothing of ours was sent yet: also in the survey it is no leftover of earlier days. Its guest
 * may have got as far as a destination. One that found none has started nothing.
 */
function isOfNow({ run }: StepScene, { createdAt, status }: Migration): boolean {
  const { openedAt } = run.permissions.incident(run.id)
  return status !== 'error' && cloudTimeMs(createdAt) > cloudTimeMs(openedAt)
}

async function look(scene: StepScene): Promise<{ seen: Instance; records: Migration[] }> {
  const { run, watch, plan, signal } = scene
  try {
    const known = knownNow(scene)
    if (known !== null) return known
    await retryRead(run.clock, signal, () => watch.list(goodForMs(watch)))
    const listed = knownNow(scene)
    if (listed !== null) return listed
    // The instance first: who evacuates it sets its task, then writes the record, and moves it last.
    const seen = await retryRead(run.clock, signal, () => watch.read(plan.instanceId))
    return { seen, records: await listEvacuations(scene) }
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'INSTANCE_GONE' || error.code === 'SHUTDOWN' || isCloudTrouble(error)) throw error
    const message = `it cannot be looked at before it is evacuated: ${error.message}`
    throw new LifeboatError('API_UNAVAILABLE', message, { retry: 'backoff', cause: error })
  }
}

/** What the listings told a moment ago, or null where the instance must be read by itself. */
function knownNow(scene: StepScene): { seen: Instance; records: Migration[] } | null {
  const { watch, plan } = scene
  const seen = seenSince(scene, Math.min(watch.knownAt(plan.instanceId), watch.migrationsReadAt))
  if (seen === null) return null
  // Its record may be younger than the listing of records.
  if (isRebuilding(seen) && !isRebuilding(plan.original.instance)) return null
  return { seen, records: watch.evacuations(plan.instanceId) }
}

/** The instance as last shown, where what is known of it since `knownAt` is good enough, its owner's words included. */
function seenSince({ run, watch, plan }: StepScene, knownAt: number): Instance | null {
  const isKnown = run.clock.now() - knownAt <= goodForMs(watch)
  // No listing of changes tells of a tag (docs/nova.md §1.3).
  const areWordsKnown = run.clock.now() - watch.shownAt(plan.instanceId) <= wordsGoodForMs
  return isKnown && areWordsKnown ? (watch.instance(plan.instanceId) ?? null) : null
}

function goodForMs({ tookMs }: StepScene['watch']): number {
  return Math.min(Math.max(knownGoodForMs, 2 * tookMs), longestGoodForMs)
}

export function isRebuilding({ taskState }: Pick<Instance, 'taskState'>): boolean {
  return taskState === 'rebuilding' || taskState?.startsWith('rebuild_') === true
}
