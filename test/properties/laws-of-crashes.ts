/** Laws on guests that crash: by the journal, and by what the simulated cloud was asked and did. */
import type { Entry } from '../../src/domain/entry.ts'
import { failureOf, foldIncidents, type Incident } from '../../src/domain/incident.ts'
import type { Scenario } from '../../src/rehearsal/scenario.ts'
import type { Stage } from '../../src/rehearsal/stage.ts'
import type { Asked } from './timeline.ts'

/** A look at the hypervisor, and the answer of a slow Nova. */
const lookGoodForMs = 20_000

export function brokenByCrashes(stage: Stage, scenario: Scenario): string[] {
  const { entries } = stage.readJournal()
  const all = [...foldIncidents(entries).values()]
  const incidents = all.filter((incident) => failureOf(incident) === 'instance')
  const requests = stage.simulator.requests()
  return [
    ...stoppedByOwners(stage, scenario, requests, entries),
    ...rebootedWithoutALook(requests),
    ...rebootedUnasked(stage, scenario, requests),
    ...twoRestartsAtOnce(entries),
    ...restartedTooOften(entries, incidents, scenario),
    ...unsettled(entries, all),
  ]
}

const ours = ({ user }: Asked): boolean => user === 'lifeboat'

/** What its owner ordered last counts: where that is a stop that Nova took, the guest is off, or people were told. */
export function stoppedByOwners(
  stage: Stage,
  { instances }: Scenario,
  requests: readonly Asked[],
  entries: readonly Entry[],
): string[] {
  const { running } = stage.simulator.truth()
  return instances.flatMap(({ name }) => {
    const id = stage.idOf(name)
    const orders = requests.filter(
      (asked) =>
        !ours(asked) &&
        asked.path.includes(id) &&
        asked.status === 202 &&
        /^(os-stop|os-start|reboot)$/.test(asked.action ?? ''),
    )
    const last = orders.at(-1)
    if (last?.action !== 'os-stop' || running[id] === undefined) return []
    const isTold = entries.some(
      (entry) => entry.kind === 'outcome.recorded' && entry.instance === id && /failed|stuck/.test(entry.data.outcome),
    )
    return isTold ? [] : [`${name} runs, and its owner's last order was a stop`]
  })
}

/** Each reboot of ours follows an answer of the hypervisor that the guest does not run. */
export function rebootedWithoutALook(requests: readonly Asked[]): string[] {
  const refusedAt = new Map<string, number>()
  return requests.flatMap((asked) => {
    const id = /servers\/([0-9a-f-]{36})/.exec(asked.path)?.[1] ?? ''
    if (asked.path.endsWith('/diagnostics')) {
      if (asked.status === 409) refusedAt.set(id, asked.at)
      else if (asked.status === 200) refusedAt.delete(id)
    }
    if (!ours(asked) || asked.action !== 'reboot') return []
    const age = asked.at - (refusedAt.get(id) ?? -Infinity)
    return age > lookGoodForMs ? [`${id} is rebooted on a look of ${age} ms before`] : []
  })
}

/** Only what its owner wants restarted is. */
export function rebootedUnasked(stage: Stage, { instances }: Scenario, requests: readonly Asked[]): string[] {
  return instances.flatMap(({ name, metadata }) => {
    const id = stage.idOf(name)
    const isRebooted = requests.some((asked) => ours(asked) && asked.action === 'reboot' && asked.path.includes(id))
    return isRebooted && metadata === undefined ? [`${name} is rebooted, and nobody asked for that`] : []
  })
}

/** Of one instance a restart begins only when the one before it has its end on record. */
export function twoRestartsAtOnce(entries: readonly Entry[]): string[] {
  const open = new Map<string, string>()
  return entries.flatMap((entry) => {
    const { instance, step, seq } = entry
    if (instance === null || step === null) return []
    if (entry.kind === 'step.intended' && (entry.data.kind === 'reboot' || entry.data.kind === 'start')) {
      const other = open.get(instance)
      open.set(instance, step)
      return other === undefined ? [] : [`entry ${seq}: ${step} begins while ${other} is open`]
    }
    if ((entry.kind === 'step.confirmed' || entry.kind === 'step.failed') && open.get(instance) === step)
      open.delete(instance)
    return []
  })
}

/** In all its crashes, for these scripts are shorter than the time in which restarts are counted. */
export function restartedTooOften(
  entries: readonly Entry[],
  incidents: readonly Incident[],
  { config }: Scenario,
): string[] {
  const { max_restarts: most } = (config as { defaults: { restart: { max_restarts: number } } }).defaults.restart
  const ids = [...new Set(incidents.map(({ crashed }) => crashed?.instance ?? ''))]
  return ids.flatMap((id) => {
    const own = new Set(incidents.filter(({ crashed }) => crashed?.instance === id).map((incident) => incident.id))
    const isOf = (entry: Entry): boolean => own.has(entry.incident ?? '')
    const letThrough = entries.filter((entry) => entry.kind === 'operator.override' && isOf(entry)).length
    const sent = entries.filter(
      (entry) => entry.kind === 'step.issued' && isOf(entry) && entry.step?.includes('stop-again') === false,
    ).length
    return sent > most + letThrough ? [`${id} was restarted ${sent} times, ${most} may be`] : []
  })
}

const waitsForAPerson = new Set(['RESTARTS_SPENT', 'CRASHES_ON_HOST', 'NOVA_REFUSED'])

/** Nothing that was answered with 202 is lost: each report is settled, or its incident or that of its host waits for a person. */
export function unsettled(entries: readonly Entry[], incidents: readonly Incident[]): string[] {
  const settled = new Set(entries.flatMap((entry) => (entry.kind === 'report.settled' ? [entry.data.uuid] : [])))
  const waiting = new Set(
    incidents
      .filter(({ closed, held }) => closed === null && waitsForAPerson.has(held?.code ?? ''))
      .flatMap(({ crashed }) => crashed?.instance ?? []),
  )
  // Its host came back in the middle of its recovery, or was never dead.
  const heldAlive = new Set(
    incidents
      .filter(({ closed, crashed, held }) => closed === null && crashed === null && held?.code === 'HOST_ALIVE')
      .map(({ host }) => host),
  )
  return entries.flatMap((entry) =>
    entry.kind === 'report.received' &&
    !settled.has(entry.data.uuid) &&
    !heldAlive.has(entry.host ?? '') &&
    !waiting.has(entry.data.payload['instance_uuid'] ?? '')
      ? [`the report ${entry.data.uuid} of ${entry.data.payload['instance_uuid']} was never settled`]
      : [],
  )
}
