/** The scheduler: which host takes an instance. Deterministic where Nova's is not: the emptiest host, then by name. */
import { hasDisabledTrait } from './disabled-trait.ts'
import type { SimHost, SimInstance } from './model.ts'
import type { World } from './world.ts'

/** Null is NoValidHost; with Placement down every request ends there (docs/nova.md fact 12). */
export function pickDestination(
  world: World,
  instance: Pick<SimInstance, 'uuid'>,
  except: string,
  requested?: string,
): SimHost | null {
  if (world.down.has('placement')) return null
  let best: SimHost | null = null
  for (const host of world.hosts.values()) {
    if (host.name === except || (requested !== undefined && host.name !== requested)) continue
    // The cheap comparison first: with thousands of hosts few get as far as the checks.
    if (best !== null && !emptier(world, host, best)) continue
    if (takes(world, instance, host)) best = host
  }
  return best
}

function emptier(world: World, host: SimHost, than: SimHost): boolean {
  const difference = world.loadOf(host.name) - world.loadOf(than.name)
  return difference < 0 || (difference === 0 && host.name < than.name)
}

function takes(world: World, instance: Pick<SimInstance, 'uuid'>, host: SimHost): boolean {
  return (
    host.service.status === 'enabled' &&
    !hasDisabledTrait(world, host) &&
    world.isUp(host.service) &&
    (host.faults.capacity === null || world.loadOf(host.name) < host.faults.capacity) &&
    groupAllows(world, instance, host)
  )
}

function groupAllows(world: World, instance: Pick<SimInstance, 'uuid'>, host: SimHost): boolean {
  const group = world.groupOf(instance.uuid)
  if (group === undefined) return true
  const others = [...world.instances.values()].filter(
    (other) => other.uuid !== instance.uuid && other.deletedAt === null && group.members.includes(other.uuid),
  )
  if (group.policy === 'anti-affinity') return others.every((other) => other.host !== host.name)
  if (group.policy === 'affinity') return others.length === 0 || others.some((other) => other.host === host.name)
  return true
}
