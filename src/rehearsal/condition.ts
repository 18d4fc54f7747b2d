/** What a script can wait for: something in the journal, a verdict, an incident's moment, or Nova's record of an instance. */
import { z } from 'zod'
import type { Entry } from '../domain/entry.ts'
import type { Incident } from '../domain/incident.ts'
import { holdsForAPerson, type HoldCode } from '../domain/incident-phases.ts'
import { section, text } from '../config/pieces.ts'
import type { Stage } from './stage.ts'

const plain = z.union([z.string(), z.number(), z.boolean(), z.null()])

export const condition = z.union([
  section({
    entry: text().describe('A journal entry of this kind, written since the step before'),
    host: text().optional(),
    instance: text().optional(),
    step: text().optional(),
    data: z.record(z.string(), plain).optional().describe('Values the entry has'),
  }),
  section({ verdict: text().describe('Host'), is: text() }),
  section({ incident: text().describe('Host'), phase: text().optional(), held: text().optional() }),
  section({
    settled: z
      .literal(true)
      .describe('Every incident is over, or waits for what only a person can give, itself or through another one'),
  }),
  section({ closed: text().describe('Host whose newest incident is over') }),
  section({
    instance: text(),
    task: z.union([text(), z.null()]).optional(),
    vm: text().optional(),
    host: text().optional(),
  }),
])

export type Condition = z.output<typeof condition>

export function holds(stage: Stage, wanted: Condition): boolean {
  if ('entry' in wanted) return stage.newEntries().some((entry) => isEntry(stage, entry, wanted))
  if ('verdict' in wanted) return stage.daemon?.monitor.verdict(wanted.verdict)?.kind === wanted.is
  if ('settled' in wanted) return areSettled(stage)
  if ('closed' in wanted) return (stage.incidentOn(wanted.closed)?.closed ?? null) !== null
  if ('incident' in wanted) {
    const incident = stage.incidentOn(wanted.incident)
    if (incident === undefined) return false
    if (wanted.phase !== undefined && incident.phase !== wanted.phase) return false
    return wanted.held === undefined || incident.held?.code === wanted.held
  }
  const { vmState, taskState, host } = stage.instance(wanted.instance)
  if (wanted.task !== undefined && taskState !== wanted.task) return false
  if (wanted.vm !== undefined && vmState !== wanted.vm) return false
  return wanted.host === undefined || host === wanted.host
}

/** What a person must mend in the cloud or in Lifeboat. A scenario ends when its cloud is well, so it must not end held by these. */
const faults: ReadonlySet<HoldCode | undefined> = new Set<HoldCode>(['NOVA_REFUSED', 'INTERNAL_ERROR'])

/** Why an incident may wait although nothing is wrong with the cloud any more. */
export function waitsForAPerson({ held }: Pick<Incident, 'held'>): boolean {
  return holdsForAPerson.has(held?.code) && !faults.has(held?.code)
}

/** How long an incident that waits for another one says nothing: longer than any pause between two attempts. */
const waitsForAnotherMs = 30 * 60_000

/** One whose evacuation waits on a host that only a person lets be recovered waits for that person too. */
function areSettled(stage: Stage): boolean {
  // A nova-compute that nobody starts stays down, and its incident open.
  const isDown = ({ process, host }: Incident): boolean =>
    process !== null && stage.daemon?.monitor.verdict(host)?.kind !== 'healthy'
  const open = stage.incidents().filter((incident) => incident.closed === null && !isDown(incident))
  const others = open.filter((incident) => !waitsForAPerson(incident))
  return (
    others.length === 0 ||
    (others.length < open.length && others.every(({ id }) => stage.silentMs(id) >= waitsForAnotherMs))
  )
}

type EntryCondition = Extract<Condition, { entry: string }>

function isEntry(stage: Stage, entry: Entry, wanted: EntryCondition): boolean {
  if (entry.kind !== wanted.entry) return false
  if (wanted.host !== undefined && entry.host !== wanted.host) return false
  if (wanted.step !== undefined && entry.step?.startsWith(wanted.step) !== true) return false
  if (wanted.instance !== undefined && entry.instance !== stage.idOf(wanted.instance)) return false
  const data = entry.data as unknown as Record<string, unknown>
  return Object.entries(wanted.data ?? {}).every(([key, value]) => data[key] === value)
}
