/**
 * Confirms a pending resize. The call goes to the resize's source host, which is alive; the dead one is its destination
 * (docs/nova.md fact 7). Only after it may the instance be evacuated.
 */
import { LifeboatError } from '../../domain/errors.ts'
import type { Migration } from '../../domain/instance.ts'
import { pause } from '../retry.ts'
import type { StepDriver } from '../step-driver.ts'
import { confirmed, isConfirmed, readConfirmation, whereItWaits } from './confirmation-follow.ts'
import { refuseReverted } from './reverted-meanwhile.ts'

export const confirmResize: StepDriver<'confirm-resize'> = {
  before: async (scene) => {
    const { plan, run } = scene
    const { instance: seen, records } = await readConfirmation(scene)
    refuseReverted(seen, run.host)
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

  overdue: (scene) => {
    const source = scene.plan.original.resize?.sourceHost ?? null
    return {
      // As long as that one is open it may still prove the source dead, and the order with it.
      goesOn: source !== null && scene.run.permissions.hasIncident(source),
      where: whereItWaits(scene, 'unread'),
      details: { migration: scene.plan.original.resize?.migrationUuid ?? null },
    }
  },

  follow: confirmed,

  reconcile: async (scene, _record, quietMs) => {
    let quietFrom: number | null = null
    for (;;) {
      const { instance, resize } = await readConfirmation(scene)
      // It came first, and Nova refused ours: what its record shows is not of our doing.
      if (instance.taskState === 'resize_reverting') return { applied: false, requestId: null }
      if (instance.vmState !== 'resized' || (resize !== null && resize.status !== 'finished'))
        return { applied: true, requestId: null }
      quietFrom ??= scene.run.clock.now()
      if (scene.run.clock.now() - quietFrom >= quietMs) return { applied: false, requestId: null }
      await pause(scene.run.clock, scene.run.settings.tickMs, scene.signal)
    }
  },
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
