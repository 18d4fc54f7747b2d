/** The simulated Placement: resource providers by name and the allocations of a consumer. */
import type { Caller } from './caller.ts'
import { hasDisabledTrait } from './disabled-trait.ts'
import type { Answer, Exchange } from './exchange.ts'
import type { World } from './world.ts'

export function servePlacement(world: World, exchange: Exchange, caller: Caller | null): Answer {
  const { path, method } = exchange
  if (world.down.has('placement')) return { status: 503 }
  if (path === '' || path === '/') {
    const links = [{ rel: 'self', href: '' }]
    return {
      status: 200,
      body: { versions: [{ id: 'v1.0', min_version: '1.0', max_version: '1.39', status: 'CURRENT', links }] },
    }
  }
  if (caller === null) return { status: 401 }
  if (path === '/resource_providers') {
    const resource_providers = [...world.hosts.values()].map((host) => ({
      uuid: host.service.uuid,
      name: host.name,
      generation: 1,
    }))
    return { status: 200, body: { resource_providers } }
  }
  const traits = /^\/resource_providers\/([^/]+)\/traits$/.exec(path)?.[1]
  if (traits !== undefined) {
    const host = [...world.hosts.values()].find((at) => at.service.uuid === traits)
    if (host === undefined) return { status: 404 }
    const names = hasDisabledTrait(world, host) ? ['COMPUTE_STATUS_DISABLED'] : []
    return { status: 200, body: { traits: names, resource_provider_generation: 1 } }
  }
  const consumer = /^\/allocations\/([^/]+)$/.exec(path)?.[1]
  if (consumer === undefined) return { status: 404 }
  const held = world.allocations.get(consumer)
  if (method === 'DELETE') {
    if (held === undefined) return { status: 404 }
    world.releaseAll(consumer)
    return { status: 204 }
  }
  const allocations = Object.fromEntries(
    [...(held ?? [])].map((host) => [
      world.host(host).service.uuid,
      { resources: { VCPU: 1, MEMORY_MB: 64 }, generation: 1 },
    ]),
  )
  return { status: 200, body: { allocations } }
}
