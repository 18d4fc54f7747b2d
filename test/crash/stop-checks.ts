/** What must hold after a daemon was stopped in the middle of a recovery and continued later, in words where it does not. */
import type { Entry } from '../../src/domain/entry.ts'
import { foldIncidents, type Incident } from '../../src/domain/incident.ts'
import type { Simulator } from '../../src/simulator/index.ts'

export const host = 'cmp01'

/** Stopped right before its n-th commit, or right after it. */
export type Stop = { before: number } | { after: number }

/** What the host does while the daemon is stopped. */
export type Meanwhile = 'comes back' | 'stays away' | 'comes back and is cut off again'

/** The host is cut off from its network, and its guests run on. */
export function cutOff(simulator: Simulator): void {
  simulator.partition(host)
}

/** Its network is back, or a person powers it on: then its nova-compute starts those guests that Nova has not evacuated. */
export function comeBack(simulator: Simulator): void {
  const { world } = simulator
  simulator.start(host)
  world.clock.after(world.options.timings.agentStartMs + 1, () => {
    const { hypervisors } = world
    for (const { uuid } of world.instancesOn(host))
      if (hypervisors.power(host, uuid) === 4) hypervisors.set(host, uuid, true, 'host_init')
  })
}

export function theIncident(entries: readonly Entry[]): Incident | undefined {
  return [...foldIncidents([...entries]).values()].at(-1)
}

/** However far it had come: each guest runs once, where Nova says, and the record says the same. */
export function wellOnEither(simulator: Simulator, entries: readonly Entry[], ids: readonly string[]): string[] {
  const known = theIncident(entries)
  return [
    ...ranTwice(simulator),
    ...(known === undefined || known.closed !== null ? [] : [`open: ${known.phase} ${JSON.stringify(known.held)}`]),
    ...ids.flatMap((id) => {
      const now = stateOf(simulator, id)
      const recovery = known?.instances.get(id)
      const told = recovery?.outcome ?? null
      const isTrue = (told?.outcome === 'recovered') === (now.at !== host)
      const isTold = recovery === undefined || told !== null
      if (now.vmState === 'active' && now.taskState === null && !now.locked && isTrue && isTold && runsWhereItIs(now))
        return []
      return [`${id} is ${JSON.stringify(now)}, told as ${told?.outcome} ${told?.code}: ${told?.message}`]
    }),
  ]
}

/** As if the daemon had never been stopped. */
export function allRecovered(simulator: Simulator, entries: readonly Entry[], ids: readonly string[]): string[] {
  const known = theIncident(entries)
  const problems = wellOnEither(simulator, entries, ids)
  if (known?.closed?.outcome !== 'done') problems.push(`ended as ${known?.closed?.outcome}`)
  for (const id of ids) {
    const evacuations = simulator.evacuationsOf(id).map(({ status }) => status)
    if (known?.instances.get(id)?.outcome?.outcome !== 'recovered') problems.push(`${id} is not recovered`)
    if (evacuations.length !== 1) problems.push(`${id} was evacuated ${evacuations.length} times`)
  }
  return problems
}

function ranTwice(simulator: Simulator): string[] {
  return simulator.truth().doubles.map((double) => `a guest ran twice: ${JSON.stringify(double)}`)
}

interface State {
  at: string | null
  vmState: string
  taskState: string | null
  locked: boolean
  runs: string[]
}

function stateOf(simulator: Simulator, id: string): State {
  const { host: at, vmState, taskState, locked } = simulator.instance(id)
  return { at, vmState, taskState, locked, runs: simulator.truth().running[id] ?? [] }
}

function runsWhereItIs({ at, runs }: State): boolean {
  return runs.length === 1 && runs[0] === at
}
