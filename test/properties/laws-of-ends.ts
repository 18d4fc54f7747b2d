/** Laws on how a script ends: by what the simulated cloud says truly is, and by what the journal says of each instance and incident. */
import type { Entry, EntryKind } from '../../src/domain/entry.ts'
import type { Incident, InstanceRecovery } from '../../src/domain/incident.ts'
import { waitsForAPerson } from '../../src/rehearsal/condition.ts'
import type { Scenario } from '../../src/rehearsal/scenario.ts'
import type { Stage } from '../../src/rehearsal/stage.ts'

const meantToBeOff = new Set(['stopped', 'resized-stopped', 'shelved', 'powering-off'])

/** An instance that its owner had stopped runs only where the journal says that something went wrong with it. */
export function stoppedOnesThatRun(stage: Stage, scenario: Scenario, incidents: Map<string, Incident>): string[] {
  const { running } = stage.simulator.truth()
  return scenario.instances.flatMap(({ name, state }) => {
    const id = stage.idOf(name)
    if (!meantToBeOff.has(state) || running[id] === undefined || wasOrdered(scenario, name)) return []
    // It was never touched: powering-off ends on its own host as Nova likes.
    const lines = linesOf(incidents, id)
    if (lines.length === 0 && state === 'powering-off') return []
    return lines.some((line) => line === 'failed' || line === 'stuck')
      ? []
      : [`${name} (${state}) runs, and nobody is told`]
  })
}

/** Locks are as they were, unless the journal says that the instance is stuck. */
export function marksLeftBehind(stage: Stage, scenario: Scenario, incidents: Map<string, Incident>): string[] {
  return scenario.instances.flatMap(({ name, locked }) => {
    const instance = stage.instance(name)
    if (instance.locked === (locked ?? false) || wasOrdered(scenario, name)) return []
    const told = linesOf(incidents, instance.uuid).includes('stuck')
    // What waits for a person, or on a host that a person has to let go, keeps its lock.
    const isOpen = [...incidents.values()].some(({ closed, held, instances }) => {
      const recovery = instances.get(instance.uuid)
      if (closed !== null || recovery === undefined || recovery.outcome !== null) return false
      return waitsForAPerson({ held }) || isUnderWay(recovery.steps)
    })
    return told || isOpen
      ? []
      : [`${name} is ${instance.locked ? 'locked' : 'unlocked'}, it was ${locked ? 'locked' : 'unlocked'}`]
  })
}

/** Whether people order anything of it in the script: then its state is what they make of it. */
export function wasOrdered({ script }: Scenario, name: string): boolean {
  return script.some(({ act }) => act?.name === 'user' && (act.given as { instance: string }).instance === name)
}

function linesOf(incidents: Map<string, Incident>, id: string): string[] {
  return [...incidents.values()].flatMap((incident) => incident.instances.get(id)?.outcome?.outcome ?? [])
}

/** What only an incident that is open does. */
const doneWhileOpen: ReadonlySet<EntryKind> = new Set<EntryKind>([
  'incident.held',
  'incident.continued',
  'incident.phase',
  'fence.attempt',
  'proof.recorded',
])

/** An incident that is over is not held and fences nothing. */
export function goesOnAfterItsEnd(entries: readonly Entry[]): string[] {
  const over = new Set<string>()
  return entries.flatMap(({ kind, incident }) => {
    if (incident === null) return []
    if (kind === 'incident.closed') over.add(incident)
    return over.has(incident) && doneWhileOpen.has(kind) ? [`${kind} in ${incident}, which is over`] : []
  })
}

/** In an incident that is over each instance has its outcome. */
export function instancesWithoutLine(incidents: Map<string, Incident>): string[] {
  return [...incidents.values()]
    .filter((incident) => incident.closed !== null && incident.mode === 'armed')
    .flatMap((incident) =>
      [...incident.instances.values()]
        .filter(({ outcome }) => outcome === null)
        .map(({ plan }) => `${plan.name} of ${incident.id} has no line`),
    )
}

/** After hours of peace an incident is over, or waits for what only a person can give, itself or through another one. */
export function openForEver(incidents: Map<string, Incident>, stage: Stage): string[] {
  // A nova-compute that nobody starts stays down, and its incident open.
  const isDown = ({ process, host }: Incident): boolean =>
    process !== null && stage.daemon?.monitor.verdict(host)?.kind !== 'healthy'
  const open = [...incidents.values()].filter((incident) => incident.closed === null && !isDown(incident))
  // No script takes a workflow away.
  const held = open.filter((one) => waitsForAPerson(one) && one.held?.code !== 'WORKFLOW_UNREADABLE')
  // An order under way on a host that a person has to let go ends when that one does.
  const waits = ({ instances }: Incident): boolean =>
    held.length > 0 && [...instances.values()].some(({ outcome, steps }) => outcome === null && isUnderWay(steps))
  return open
    .filter((incident) => !held.includes(incident) && !waits(incident))
    .map((incident) => `${incident.id} is still ${incident.phase}, held for ${incident.held?.code ?? 'nothing'}`)
}

/** What another host carries out: an evacuation its destination, a confirmation the host that it was resized from. */
function isUnderWay(steps: InstanceRecovery['steps']): boolean {
  return [...steps.values()].some(
    ({ kind, status }) => (kind === 'evacuate' || kind === 'confirm-resize') && status === 'issued',
  )
}
