/** The plugs of a simulated cloud: what people may kill in the demo, and bring back. */
import { LifeboatError } from '../domain/errors.ts'
import type { Plug, Simulation } from '../domain/simulation.ts'
import type { Simulator } from '../simulator/index.ts'

interface Wire extends Omit<Plug, 'out'> {
  isOut: () => boolean
  pull: () => void
  putBack: () => void
}

/** What is not of the cloud, and has a plug too. */
export type OtherPlug = Pick<Plug, 'id' | 'title'> & { isOut: () => boolean; setOut: (out: boolean) => void }

/**
 * @param racks which hosts lose their power together
 * @param others services beside the cloud
 */
export function plugsOf(
  simulator: Simulator,
  racks: ReadonlyMap<string, readonly string[]>,
  others: readonly OtherPlug[] = [],
): Simulation {
  const { world } = simulator
  const isDead = (host: string): boolean => !world.host(host).alive
  const hosts = [...world.hosts.keys()]
  const rackOf = new Map(
    [...racks].flatMap(([rack, members]) => members.map((host) => [host, `rack:${rack}`] as const)),
  )
  const wires: Wire[] = [
    ...hosts.map((host): Wire => ({
      id: `host:${host}`,
      kind: 'host',
      title: host,
      within: rackOf.get(host) ?? null,
      isOut: () => isDead(host),
      pull: () => simulator.crash(host),
      putBack: () => simulator.start(host),
    })),
    ...[...racks].map(([rack, members]): Wire => ({
      id: `rack:${rack}`,
      kind: 'rack',
      title: `rack ${rack}`,
      within: null,
      isOut: () => members.every(isDead),
      pull: () => simulator.crash(...members),
      putBack: () => simulator.start(...members),
    })),
    ...hosts.map((host): Wire => ({
      id: `bmc:${host}`,
      kind: 'bmc',
      title: `BMC of ${host}`,
      within: null,
      isOut: () => !simulator.bmc(host).reachable,
      pull: () => void simulator.bmc(host, { reachable: false }),
      putBack: () => void simulator.bmc(host, { reachable: true }),
    })),
    ...(
      [
        ['rabbitmq', 'RabbitMQ'],
        ['nova-api', 'Nova’s API'],
      ] as const
    ).map(([part, title]): Wire => ({
      id: `service:${part}`,
      kind: 'service',
      title,
      within: null,
      isOut: () => world.down.has(part),
      pull: () => simulator.kill(part),
      putBack: () => simulator.revive(part),
    })),
    ...others.map(({ id, title, isOut, setOut }): Wire => ({
      ...{ id, kind: 'receiver', title, within: null, isOut },
      pull: () => setOut(true),
      putBack: () => setOut(false),
    })),
  ]
  const byId = new Map(wires.map((wire) => [wire.id, wire]))
  return {
    plugs: () => wires.map(({ id, kind, title, within, isOut }) => ({ id, kind, title, within, out: isOut() })),
    set: (id, out) => {
      const wire = byId.get(id)
      if (wire === undefined) throw new LifeboatError('NOT_FOUND', `The simulated cloud has no plug ${id}`)
      if (wire.isOut() === out) return
      if (out) wire.pull()
      else wire.putBack()
    },
  }
}
