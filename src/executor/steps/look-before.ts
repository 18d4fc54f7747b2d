/**
 * The last look at an instance before its first evacuation. It may have waited for hours since the survey, for room or at the
 * gate, and people act meanwhile: what somebody evacuates by hand must not be evacuated a second time (law L5). Reads only.
 */
import { ensureError, LifeboatError } from '../../domain/errors.ts'
import type { InstanceRecovery, StepRecord } from '../../domain/incident.ts'
import type { Instance, Migration } from '../../domain/instance.ts'
import { patiently } from '../patience.ts'
import type { StepScene } from '../step-driver.ts'

/**
 * How old what is known of an instance may be. Longer: an evacuation that a person has begun is doubled, and the guest runs
 * twice. Shorter: each instance costs a reading of its own, although the survey and the listings of changes have just told.
 */
const knownGoodForMs = 20_000

/** All evacuations of the instance from the dead host, oldest first. */
export async function listEvacuations({ run, plan, signal }: StepScene): Promise<Migration[]> {
  const filter = { sourceHost: run.host, type: 'evacuation', instanceId: plan.instanceId } as const
  const records = await patiently(run.clock, signal, () => run.cloud.listMigrations(filter, { signal }))
  return records.toSorted((a, b) => a.id - b.id)
}

/** Attempts of all rounds that got as far as a write. What could not be prepared sent nothing. */
export function attempts({ steps }: InstanceRecovery): StepRecord[] {
  return [...steps.values()].filter(({ kind, before }) => kind === 'evacuate' && before !== null)
}

/**
 * The instance as Nova shows it now.
 *
 * @param known uuids of the evacuations that stood before
 * @throws LifeboatError INSTANCE_GONE; EVACUATION_STALLED where somebody else evacuates it; STATE_MISMATCH where it was moved;
 *   API_UNAVAILABLE where it may not be looked at: nothing was done, and the step is tried again
 */
export async function lookBefore(scene: StepScene, known: readonly string[]): Promise<Instance> {
  const { run, plan } = scene
  const { seen, records } = await look(scene)
  if (seen.vmState === 'deleted')
    throw new LifeboatError('INSTANCE_GONE', 'the instance was deleted before its turn came')
  if (seen.host !== run.host)
    throw new LifeboatError(
      'STATE_MISMATCH',
      `it was on ${plan.original.instance.host ?? 'no host'} and is on ${seen.host ?? 'no host'} by now: somebody else moved it before its turn came`,
    )
  const foreign = records.findLast(({ uuid }) => !known.includes(uuid))
  if (foreign !== undefined)
    throw new LifeboatError(
      'EVACUATION_STALLED',
      `somebody else began to evacuate it before its turn came (to ${foreign.destHost ?? 'no host yet'}, ${foreign.status}); a second evacuation could start the guest twice`,
      { certainty: 'unknown', details: { foreign: foreign.uuid, destination: foreign.destHost } },
    )
  return seen
}

async function look(scene: StepScene): Promise<{ seen: Instance; records: Migration[] }> {
  const { run, watch, plan, signal } = scene
  const { instanceId } = plan
  const known = watch.instance(instanceId)
  const knownAt = Math.min(watch.knownAt(instanceId), watch.migrationsReadAt)
  const isRecent = run.clock.now() - knownAt <= knownGoodForMs
  if (known !== undefined && isRecent && !(isRebuilding(known) && !isRebuilding(plan.original.instance)))
    return { seen: known, records: watch.evacuations(instanceId) }
  try {
    // The instance first: who evacuates it sets its task, then writes the record, and moves it last.
    const seen = await patiently(run.clock, signal, () => watch.read(instanceId))
    return { seen, records: await listEvacuations(scene) }
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code === 'INSTANCE_GONE' || error.code === 'SHUTDOWN') throw error
    const message = `it cannot be looked at before it is evacuated: ${error.message}`
    throw new LifeboatError('API_UNAVAILABLE', message, { retry: 'backoff', cause: error })
  }
}

function isRebuilding({ taskState }: Instance): boolean {
  return taskState === 'rebuilding' || taskState?.startsWith('rebuild_') === true
}
