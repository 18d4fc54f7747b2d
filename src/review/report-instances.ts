/** The report's part on instances: for each, initial state -> landing -> outcome and reason, and every step that was tried. */
import { wasHeldBack, type Incident, type InstanceRecovery, type StepRecord } from '../domain/incident.ts'
import { powerState } from '../domain/instance.ts'
import { outcomes, type OutcomeKind } from '../domain/outcome.ts'
import { between } from '../domain/text/span.ts'
import { bullets, oneLine, table, time } from './markdown.ts'

/** What needs a person comes first. */
const order: (OutcomeKind | 'open')[] = ['stuck', 'failed', 'open', 'left', 'recovered']

const headings: Record<OutcomeKind | 'open', string> = { ...outcomes, open: 'No outcome yet' }

export function instancesPart(incident: Incident): string {
  if (incident.instances.size === 0) return '## Instances\n\nNo instance was planned for.'
  const all = [...incident.instances].sort(([, one], [, other]) => rank(one) - rank(other))
  const rows = all.map(([id, recovery]) => [
    recovery.plan.name,
    id,
    initially(recovery),
    landing(recovery),
    recovery.outcome === null ? 'open' : `**${recovery.outcome.outcome}**`,
    recovery.outcome?.code ?? recovery.plan.reason,
  ])
  const overview = table(['Instance', 'Id', 'Initial state', 'Landing', 'Outcome', 'Reason'], rows)
  return `## Instances\n\n${overview}\n\n${all.map(([id, recovery]) => instanceDetail(id, recovery)).join('\n\n')}`
}

function rank(recovery: InstanceRecovery): number {
  return order.indexOf(recovery.outcome?.outcome ?? 'open')
}

function instanceDetail(id: string, recovery: InstanceRecovery): string {
  const { plan, outcome } = recovery
  const { original } = plan
  const lines = [
    `Initial state: ${initially(recovery)}; ${oneLine(original.wantedBecause)}${original.flagged ? ' — **the sources disagreed**' : ''}.`,
    `Decision: **${plan.decision}** by rule ${oneLine(plan.rule)} (${plan.reason}): ${oneLine(plan.message)}.`,
  ]
  if (original.locked)
    lines.push(
      `It was locked when found${original.lockedReason === null ? '' : `: ${oneLine(original.lockedReason)}`}.`,
    )
  if (original.resize !== null)
    lines.push(
      `A resize from ${original.resize.sourceHost} to ${original.resize.destHost} was waiting for its confirmation.`,
    )
  if (plan.asProject !== null) lines.push(`Acted with a token of its own project, ${plan.asProject}.`)
  if (recovery.recipe !== null)
    lines.push(`Recipe: ${recovery.recipe}${recovery.recipe === plan.recipe ? '' : ` (planned: ${plan.recipe})`}.`)
  if (outcome === null) lines.push('Outcome: **none yet**.')
  else
    lines.push(
      `Outcome: **${outcome.outcome}** (${outcome.code}): ${oneLine(outcome.message)}. ${headings[outcome.outcome]}.`,
    )
  if (outcome !== null && outcome.after !== null) lines.push(`Nova showed at the end: ${afterwards(outcome.after)}.`)
  for (const note of plan.notes) lines.push(`Note: ${oneLine(note)}.`)
  for (const { code, message } of recovery.leftovers) lines.push(`Leftover ${code}: ${oneLine(message)}.`)
  const steps = recovery.steps.size === 0 ? '' : `\n\n${stepTable(recovery.steps)}`
  return `### ${oneLine(plan.name)} (${id})\n\n${bullets(lines)}${steps}`
}

function stepTable(steps: Map<string, StepRecord>): string {
  const rows = [...steps.values()].map((step) => [
    step.kind,
    String(step.attempt),
    step.status,
    step.requestId ?? '',
    time(step.intendedAt),
    step.endedAt === null ? 'not ended' : between(step.intendedAt, step.endedAt),
    step.error === null
      ? ''
      : `${step.error.code} (${step.error.certainty}): ${[step.error.message, ...step.error.chain].join(' < ')}`,
  ])
  return table(['Step', 'Attempt', 'Status', 'Nova request id', 'Began', 'Took', 'Error'], rows)
}

function initially({ plan }: InstanceRecovery): string {
  const { instance, wanted } = plan.original
  const task = instance.taskState === null ? '' : `, task ${instance.taskState}`
  return `${instance.vmState}${task}, power ${powerName(instance.powerState)}, wanted ${wanted}`
}

/** How it was sent, the landing of the last evacuation that was tried; where it ended and as what: it may be started after it. */
function landing(recovery: InstanceRecovery): string {
  const sent = [...recovery.steps.values()]
    .filter((step) => step.kind === 'evacuate')
    .findLast((step) => !wasHeldBack(step))?.request
  const how = sent?.landing ?? null
  const after = recovery.outcome?.after ?? null
  const where = after?.host ?? null
  if (how === null) return where ?? 'not sent'
  return after === null || where === null ? how : `${how} on ${where}, ${after.vmState}`
}

function afterwards(after: NonNullable<NonNullable<InstanceRecovery['outcome']>['after']>): string {
  const task = after.taskState === null ? 'no task' : `task ${after.taskState}`
  return `on ${after.host ?? 'no host'}, ${after.vmState}, ${task}, power ${powerName(after.powerState)}, ${after.locked ? 'locked' : 'not locked'}`
}

function powerName(power: number): string {
  const found = Object.entries(powerState).find(([, value]) => value === power)
  return found === undefined ? String(power) : found[0]
}
