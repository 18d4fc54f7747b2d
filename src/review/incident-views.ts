/** An incident as people and the API read it: plain JSON made from what the journal tells. */
import { fenceSentence } from '../domain/fence-progress.ts'
import { isOfInstance, type Incident, type InstanceRecovery, type StepRecord } from '../domain/incident.ts'
import type {
  DecidedInstance,
  IncidentDetail,
  IncidentSummary,
  InstanceSummary,
  StepSummary,
} from '../domain/operations.ts'
import type { InstanceId } from '../domain/instance.ts'
import type { OutcomeKind } from '../domain/outcome.ts'
import type { InstancePlan, StepKind } from '../domain/plan.ts'

export function incidentSummary(incident: Incident): IncidentSummary {
  const { held, closed, instances } = incident
  const outcomes: Partial<Record<OutcomeKind | 'open', number>> = {}
  for (const { outcome } of instances.values()) {
    const name = outcome?.outcome ?? 'open'
    outcomes[name] = (outcomes[name] ?? 0) + 1
  }
  const ended = closed === null ? null : { outcome: closed.outcome, message: closed.message, at: closed.at }
  const fencing =
    incident.fencing === null || incident.proof !== null || ended !== null ? null : fenceSentence(incident.fencing)
  return { ...headOf(incident), held, fencing, ended, instances: instances.size, outcomes }
}

type Head = Pick<
  IncidentSummary,
  'id' | 'host' | 'process' | 'crashed' | 'segment' | 'mode' | 'openedAt' | 'openedBy' | 'phase'
>

/** Which incident it is: what its fold and its line in a list call by the same names. */
export function headOf({ id, host, process, crashed, segment, mode, openedAt, openedBy, phase }: Head): Head {
  return { id, host, process, crashed, segment, mode, openedAt, openedBy, phase }
}

/** What is on record of an incident: its fold, the tries to fence its host, and when each instance got its end. */
interface OnRecord {
  readonly incident: Incident
  readonly attempts: IncidentDetail['fenceAttempts']
  span(instance: InstanceId): { endedAt: string | null }
}

export function incidentDetail(record: OnRecord): IncidentDetail {
  return {
    ...incidentFacts(record.incident),
    fenceAttempts: [...record.attempts],
    instanceList: [...record.incident.instances].map(([id, recovery]) =>
      instanceSummary(recovery, record.span(id).endedAt),
    ),
  }
}

/** What is known of the host and was ordered for it, on its page as in its detail. */
export function incidentFacts(incident: Incident): Omit<IncidentDetail, 'fenceAttempts' | 'instanceList'> {
  const { verdict, proof, revoked, attestation, provenOn, override, cancelled, watched } = incident
  const kept = { verdict, proof, voided: revoked, statement: provenOn ?? attestation, override, cancelled, watched }
  return { ...incidentSummary(incident), ...kept }
}

function instanceSummary(
  { plan, recipe, steps, outcome, leftovers }: InstanceRecovery,
  endedAt: string | null,
): InstanceSummary {
  const { original, notes } = plan
  const { wanted, wantedBecause, flagged, locked, instance } = original
  const { vmState, powerState, taskState } = instance
  return {
    ...decided(plan),
    original: { vmState, powerState, taskState, wanted, wantedBecause, flagged, locked },
    recipe,
    steps: [...steps.values()].filter(isOfInstance).map(stepSummary),
    outcome,
    endedAt: outcome === null ? null : endedAt,
    notes,
    debts: leftovers,
  }
}

export function decided(plan: InstancePlan): DecidedInstance {
  const { instanceId: id, name, projectId, decision, rule, reason, message } = plan
  return { id, name, projectId, decision, rule, reason, message }
}

function stepSummary(step: StepRecord<StepKind>): StepSummary {
  const { key, kind, attempt, status, requestId, intendedAt, endedAt, waitsUntil, error } = step
  const failure = error === null ? null : { code: error.code, message: error.message }
  return { key, kind, attempt, status, requestId, intendedAt, endedAt, waitsUntil, error: failure }
}
