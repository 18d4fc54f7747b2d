/** One instance of an incident on one line: initial state, landing, outcome and reason. Pure. */
import type { Landing } from '../domain/cloud.ts'
import { isOfInstance, wasHeldBack, type Incident, type InstanceRecovery, type StepRecord } from '../domain/incident.ts'
import { runsAgain } from '../domain/outcome.ts'
import { initialStateText } from '../domain/initial-state-text.ts'
import type { InstanceLine } from '../domain/review.ts'
import { withBegun, withEnded, type Stage } from '../domain/stages.ts'
import { decided } from './incident-views.ts'

/** When the recovery of an instance began (its first step) and ended (its outcome). */
export interface Span {
  startedAt: string | null
  endedAt: string | null
}

/** When the guests of the incident were last known to run. */
export type LastAlive = Pick<Incident, 'mode' | 'verdict' | 'crashed' | 'process' | 'openedAt'>

export function instanceLine(recovery: InstanceRecovery, { startedAt, endedAt }: Span, of: LastAlive): InstanceLine {
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
    stages: stagesOf(recovery),
    downSince: downSince(recovery, of),
    upAt: runsAgain(outcome) ? endedAt : null,
    current: outcome === null ? current([...recovery.steps.values()].at(-1)) : null,
    // A copy: debts are added to that list, and a line that was given out stays as it was.
    debts: [...leftovers],
    notes,
  }
}

function stagesOf({ steps }: InstanceRecovery): Stage[] {
  let stages: Stage[] = []
  for (const step of steps.values()) {
    if (!isOfInstance(step)) continue
    stages = withBegun(stages, step.kind, step.intendedAt)
    if (step.endedAt !== null) stages = withEnded(stages, step.endedAt)
  }
  return stages
}

/** The host's last heartbeat that we saw; null without a verdict. */
export function lastBeatAt({ verdict }: Pick<Incident, 'verdict'>): string | null {
  if (verdict === null) return null
  const { sinceBeatMs, silentMs } = verdict.evidence
  return new Date(Date.parse(verdict.at) - (sinceBeatMs ?? silentMs)).toISOString()
}

/** Null for what its owner had off, what went on running beside a failed process, and where nobody saw the host beat. */
function downSince({ plan }: InstanceRecovery, of: LastAlive): string | null {
  if (plan.original.wanted !== 'running' || of.process !== null) return null
  return of.crashed === null ? lastBeatAt(of) : of.openedAt
}

/** As it was sent last; before that, as the recipe in force will send it. */
function landingOf({ plan, recipe, steps }: InstanceRecovery): Landing | null {
  const sent = [...steps.values()].filter((step) => step.kind === 'evacuate').findLast((step) => !wasHeldBack(step))
    ?.request?.landing
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
