/**
 * Confirms a pending resize. The call goes to the resize's source host, which is alive; the dead one is its destination
 * (docs/nova.md fact 7). Only after it may the instance be evacuated.
 */
import { LifeboatError } from '../../domain/errors.ts'
import type { Instance, Migration } from '../../domain/instance.ts'
import { retryRead, pause } from '../retry.ts'
import type { StepDriver, StepScene } from '../step-driver.ts'

export const confirmResize: StepDriver<'confirm-resize'> = {
  before: async (scene) => {
    const { plan } = scene
    const { instance: seen, records } = await readBoth(scene)
    refuseWrongRecord(records, plan.original.resize?.migrationUuid ?? null)
    const before = {
      vmState: seen.vmState,
      taskState: seen.taskState,
      powerState: seen.powerState,
      resize: plan.original.resize,
    }
    return isConfirmed(seen, null)
      ? { nothingToDo: before }
      : { before, request: { confirm: plan.original.resize?.migrationUuid ?? null } }
  },

  send: ({ run, plan }, as) => run.cloud.confirmResize(plan.instanceId, as),

  follow: async (scene) => {
    for (;;) {
      const { instance, resize } = await readBoth(scene)
      if (isConfirmed(instance, resize))
        return { vmState: instance.vmState, powerState: instance.powerState, migration: resize?.status ?? null }
      if (instance.vmState === 'error' || resize?.status === 'error') {
        throw new LifeboatError(
          'STATE_MISMATCH',
          `the source could not finish the resize: ${instance.fault ?? 'no reason given'}`,
          { certainty: 'applied' },
        )
      }
      // Nova took it while it still saw the source up; nobody is left there to do it.
      const source = scene.plan.original.resize?.sourceHost ?? null
      if (source !== null && scene.run.permissions.isFenced(source)) {
        throw new LifeboatError('INSTANCE_BUSY', `the resize's source ${source} died before it had confirmed`, {
          certainty: 'applied',
        })
      }
      await pause(scene.run.clock, scene.run.settings.tickMs, scene.signal)
    }
  },

  reconcile: async (scene, _record, quietMs) => {
    let quietFrom: number | null = null
    for (;;) {
      const { instance, resize } = await readBoth(scene)
      if (instance.vmState !== 'resized' || (resize !== null && resize.status !== 'finished'))
        return { applied: true, requestId: null }
      quietFrom ??= scene.run.clock.now()
      if (scene.run.clock.now() - quietFrom >= quietMs) return { applied: false, requestId: null }
      await pause(scene.run.clock, scene.run.settings.tickMs, scene.signal)
    }
  },
}

async function readBoth({
  run,
  watch,
  plan,
  signal,
}: StepScene): Promise<{ instance: Instance; resize: Migration | null; records: Migration[] }> {
  const records = await retryRead(run.clock, signal, () =>
    run.cloud.listMigrations({ instanceId: plan.instanceId }, { signal }),
  )
  const resize = records.find((record) => record.uuid === plan.original.resize?.migrationUuid) ?? null
  return { instance: await retryRead(run.clock, signal, () => watch.read(plan.instanceId)), resize, records }
}

/**
 * Nova confirms the oldest finished record of the instance, whichever it is (docs/nova.md fact 8). One that is left from
 * other hosts is not among the dead host's migrations: only the instance's own list shows it.
 */
function refuseWrongRecord(records: Migration[], ours: string | null): void {
  const waiting = records
    .filter(({ type, status }) => (type === 'resize' || type === 'migration') && status === 'finished')
    .toSorted((a, b) => a.id - b.id)
  const [oldest] = waiting
  if (oldest === undefined || oldest.uuid === ours) return
  throw new LifeboatError(
    'INSTANCE_BUSY',
    `Nova would confirm an older resize that is still on record (${oldest.uuid}, from ${oldest.sourceHost ?? 'nowhere'}), not this one`,
    { details: { oldest: oldest.uuid, waiting: waiting.length } },
  )
}

/** vm_state alone is not enough: it changes while the record is still `confirming`. */
function isConfirmed(instance: Instance, resize: Migration | null): boolean {
  const moved = instance.vmState === 'active' || instance.vmState === 'stopped'
  return moved && instance.taskState === null && (resize === null || resize.status === 'confirmed')
}
