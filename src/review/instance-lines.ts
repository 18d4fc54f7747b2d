/** One instance of an incident on one line: initial state, landing, outcome and reason. Pure. */
import type { Landing } from '../domain/cloud.ts'
import { isOfInstance, type InstanceRecovery, type StepRecord } from '../domain/incident.ts'
import { initialStateText } from '../domain/initial-state-text.ts'
import type { InstanceLine } from '../domain/review.ts'
import { decided } from './incident-views.ts'

/** When the recovery of an instance began (its first step) and ended (its outcome). */
export interface Span {
  startedAt: string | null
  endedAt: string | null
}

export function instanceLine(recovery: InstanceRecovery, { startedAt, endedAt }: Span): InstanceLine {
  const { plan, outcome, leftovers } = recovery
  const { notes, original, expected } = plan
  return {
    ...decided(plan),
    original: initialStateText(original),
    wanted: original.wanted,
    flagged: original.flagged,
    expected,
    landing: landingOf(recovery),
    outcome: outcome?.outcome ?? 'open',
    code: outcome?.code ?? null,
    outcomeMessage: outcome?.message ?? null,
    landedOn: outcome?.after?.host ?? null,
    endedAs: outcome?.after?.vmState ?? null,
    startedAt,
    endedAt,
    current: outcome === null ? current([...recovery.steps.values()].at(-1)) : null,
    debts: leftovers,
    notes,
  }
}

/** As it was sent last; before that, as the recipe in force will send it. */
function landingOf({ plan, recipe, steps }: InstanceRecovery): Landing | null {
  const sent = [...steps.values()].findLast((step) => step.kind === 'evacuate')?.request?.landing
  if (isLanding(sent)) return sent
  const planned = recipe === null ? undefined : plan.recipes[recipe]?.steps.find((step) => step.do === 'evacuate')
  return isLanding(planned?.landing) ? planned.landing : null
}

function isLanding(value: unknown): value is Landing {
  return value === 'stopped' || value === 'as-before'
}

function current(step: StepRecord | undefined): InstanceLine['current'] {
  if (step === undefined || !isOfInstance(step) || step.endedAt !== null) return null
  return { kind: step.kind, status: step.status, since: step.intendedAt, waitsUntil: step.waitsUntil }
}
