/** The laws of a recovery, checked over a whole journal and what the simulated cloud says truly happened. */
import type { Entry } from '../../src/domain/entry.ts'
import { foldIncidents, type Incident, type InstanceRecovery } from '../../src/domain/incident.ts'
import { waitsForAPerson } from '../../src/rehearsal/condition.ts'
import type { Scenario } from '../../src/rehearsal/scenario.ts'
import type { Stage } from '../../src/rehearsal/stage.ts'
import { ranTwice, recoveredTwice } from './laws-of-doubles.ts'
import { lockedOut } from './laws-of-locks.ts'
import { sentWithoutALook } from './laws-of-looks.ts'
import { contradictsTheOneBefore } from './laws-of-memory.ts'
import { fencedWhileHeld, stillSetAside } from './laws-of-orders.ts'

/** Every law that was broken, in words; none is what must come out. */
export function brokenLaws(stage: Stage, scenario: Scenario): string[] {
  const ran = { ...stage.simulator.truth(), requests: stage.simulator.requests() }
  const { entries, verified } = stage.readJournal()
  const incidents = foldIncidents(entries)
  return [
    ...(verified.broken === null ? [] : [`the journal is broken at ${verified.broken.seq}`]),
    ...evacuationsWithoutProof(entries),
    ...twoInFlight(entries),
    ...fencedWhileHeld(entries),
    ...sentWithoutALook(stage),
    ...ranTwice(ran, entries, incidents),
    ...recoveredTwice(ran, entries, incidents),
    ...contradictsTheOneBefore(entries, orderedOf(stage, scenario)),
    ...stillSetAside(entries, stage, incidents),
    ...moreThanTheBrakeAllows(entries, scenario),
    ...stoppedOnesThatRun(stage, scenario, incidents),
    ...marksLeftBehind(stage, scenario, incidents),
    ...lockedOut(entries, stage),
    ...instancesWithoutLine(incidents),
    ...openForEver(incidents, stage),
  ]
}

function evacuationsWithoutProof(entries: Entry[]): string[] {
  const proven = new Set<string>()
  const broken: string[] = []
  for (const { kind, incident, data, seq } of entries) {
    if (kind === 'proof.recorded' && incident !== null) proven.add(incident)
    if (kind === 'proof.voided' && incident !== null) proven.delete(incident)
    if (kind === 'step.intended' && data.kind === 'evacuate' && !proven.has(incident ?? ''))
      broken.push(`entry ${seq}: an evacuation without proof`)
  }
  return broken
}

function twoInFlight(entries: Entry[]): string[] {
  const open = new Map<string, string>()
  const broken: string[] = []
  for (const entry of entries) {
    const { instance, step, seq } = entry
    if (instance === null || step === null) continue
    if (entry.kind === 'step.intended' && entry.data.kind === 'evacuate') {
      const other = open.get(instance)
      if (other !== undefined && other !== step) broken.push(`entry ${seq}: ${step} begins while ${other} is open`)
      open.set(instance, step)
    }
    if ((entry.kind === 'step.confirmed' || entry.kind === 'step.failed') && open.get(instance) === step)
      open.delete(instance)
  }
  return broken
}

/** Hosts whose recovery goes on at once, those that a person let through aside. */
function moreThanTheBrakeAllows(entries: Entry[], scenario: Scenario): string[] {
  const fleet = typeof scenario.cloud.hosts === 'number' ? scenario.cloud.hosts : scenario.cloud.hosts.length
  // The base configuration: two hosts or half of a segment, four or half of the cloud. A reload may make a second segment.
  const segments = scenario.script.some(({ act }) => act?.name === 'reload' && 'segments' in configOf(act.given))
    ? 2
    : 1
  const most = Math.min(2 * segments, Math.floor(fleet / 2))
  const under = new Set<string>()
  const excused = new Set<string>()
  const broken: string[] = []
  for (const { kind, incident, seq } of entries) {
    if (incident === null) continue
    if (kind === 'operator.override' || kind === 'operator.statement') excused.add(incident)
    if (kind === 'incident.closed') under.delete(incident)
    if (kind !== 'proof.recorded' || excused.has(incident)) continue
    under.add(incident)
    if (under.size > most) broken.push(`entry ${seq}: ${under.size} hosts under recovery, ${most} may be`)
  }
  return broken
}

function configOf(given: unknown): object {
  return (given as { config?: object }).config ?? {}
}

const meantToBeOff = new Set(['stopped', 'resized-stopped', 'shelved', 'powering-off'])

/** An instance that its owner had stopped runs only where the journal says that something went wrong with it. */
function stoppedOnesThatRun(stage: Stage, scenario: Scenario, incidents: Map<string, Incident>): string[] {
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
function marksLeftBehind(stage: Stage, scenario: Scenario, incidents: Map<string, Incident>): string[] {
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

function orderedOf(stage: Stage, scenario: Scenario): Set<string> {
  const names = scenario.instances.map(({ name }) => name).filter((name) => wasOrdered(scenario, name))
  return new Set(names.map((name) => stage.instance(name).uuid))
}

/** Whether people order anything of it in the script: then its state is what they make of it. */
function wasOrdered({ script }: Scenario, name: string): boolean {
  return script.some(({ act }) => act?.name === 'user' && (act.given as { instance: string }).instance === name)
}

function linesOf(incidents: Map<string, Incident>, id: string): string[] {
  return [...incidents.values()].flatMap((incident) => incident.instances.get(id)?.outcome?.outcome ?? [])
}

function instancesWithoutLine(incidents: Map<string, Incident>): string[] {
  return [...incidents.values()]
    .filter((incident) => incident.closed !== null && incident.mode === 'armed')
    .flatMap((incident) =>
      [...incident.instances.values()]
        .filter(({ outcome }) => outcome === null)
        .map(({ plan }) => `${plan.name} of ${incident.id} has no line`),
    )
}

/** After hours of peace an incident is over, or waits for what only a person can give, itself or through another one. */
function openForEver(incidents: Map<string, Incident>, stage: Stage): string[] {
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

function isUnderWay(steps: InstanceRecovery['steps']): boolean {
  return [...steps.values()].some(({ kind, status }) => kind === 'evacuate' && status === 'issued')
}
