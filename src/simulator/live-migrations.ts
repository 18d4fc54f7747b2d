/** What becomes of a live migration under way. Its guest runs on its destination a moment before Nova shows it there. */
import type { World } from './world.ts'

export const liveMigrationTurns = ['switched-over', 'completed', 'failed'] as const

export type LiveMigrationTurn = (typeof liveMigrationTurns)[number]

/** Throws when the instance has none under way: the script is wrong then. */
export function turnLiveMigration(world: World, uuid: string, turn: LiveMigrationTurn): void {
  const instance = world.instances.get(uuid)
  const migration = world.migrations.find((at) => at.instanceUuid === uuid && at.type === 'live-migration')
  const { source, dest } = migration ?? {}
  if (
    instance?.taskState !== 'migrating' ||
    migration === undefined ||
    source === undefined ||
    dest === undefined ||
    dest === null
  )
    throw new Error(`no live migration of ${uuid} is under way`)
  if (turn === 'switched-over') {
    world.hypervisors.set(source, uuid, false, 'migrated')
    world.hypervisors.set(dest, uuid, true, 'migrated')
    return
  }
  world.saveMigration(migration, { status: turn })
  world.release(migration.uuid, source)
  if (turn === 'failed') return world.save(instance, { taskState: null })
  world.hypervisors.destroy(source, uuid)
  world.release(uuid, source)
  world.allocate(uuid, dest)
  world.save(instance, { host: dest, taskState: null })
}
