/** The journal entries of an instance's crash: those that begin its incident, end it, and settle its reports. Pure. */
import type { IncidentEnd, IncidentId, NewEntry } from '../domain/entry.ts'
import { errorRecord, LifeboatError } from '../domain/errors.ts'
import type { Incident, InstanceRecovery, StepRecord } from '../domain/incident.ts'
import type { Instance, InstanceId } from '../domain/instance.ts'
import { isStopAgain } from '../domain/instance-failure.ts'
import type { Outcome } from '../domain/outcome.ts'
import type { InstancePlan } from '../domain/plan.ts'
import type { Report } from '../domain/report.ts'
import type { ReportEnd } from '../domain/report-words.ts'
import type { HostName } from '../domain/service.ts'
import type { RestartStep } from '../engine/crash.ts'
import { afterOf } from '../executor/start-again.ts'

/** The instance, where it crashed, its incident if there is one, and the reports that wait for its end. */
export interface CrashSubject {
  host: HostName
  instance: InstanceId
  incident: IncidentId | null
  reports: readonly Report[]
}

export function openingRows(
  { host, instance, reports: [report] }: CrashSubject,
  incident: IncidentId,
  plan: InstancePlan,
  rules: { segment: string; mode: 'observe' | 'armed'; workflowDigest: string },
): NewEntry[] {
  const about = { incident, host, instance }
  const openedBy = report?.by ?? 'daemon'
  const actor = openedBy === 'daemon' ? 'daemon' : `operator:${openedBy}`
  const { name, projectId } = plan
  const event = report?.payload['vir_domain_event'] ?? ''
  const data = { name, projectId, event, ...rules, openedBy, report: report?.uuid ?? '' }
  return [
    { kind: 'instance.failed', actor, ...about, data },
    { kind: 'plan.made', ...about, data: plan },
  ]
}

/** Ends the incident and its reports, in one transaction. */
export function endingRows(subject: CrashSubject, outcome: Outcome, status: ReportEnd, end: IncidentEnd): NewEntry[] {
  const { host, instance } = subject
  const incident = subject.incident ?? ''
  const counts = { [outcome.outcome]: 1 }
  return [
    { kind: 'outcome.recorded', incident, host, instance, data: outcome },
    { kind: 'incident.closed', incident, host, data: { outcome: end, message: outcome.message, counts } },
    ...settlingRows(subject, status, outcome.message),
  ]
}

export function observedRows(subject: CrashSubject, step: string): NewEntry[] {
  const message = `observed only, nothing was sent: Lifeboat would have restarted its guest by ${step}`
  const data = { outcome: 'observed' as const, message, counts: {} }
  return [
    { kind: 'incident.closed', incident: subject.incident ?? '', host: subject.host, data },
    ...settlingRows(subject, 'ignored', 'Lifeboat only observes'),
  ]
}

/** The host failed as well. Nobody knows what became of a restart that was under way. */
export function endedByHostRows(
  subject: CrashSubject,
  open: Incident | undefined,
  hostIncident: IncidentId,
): NewEntry[] {
  const { host, instance } = subject
  const message = `its host failed as well: incident ${hostIncident} recovers it now`
  const settled = settlingRows({ ...subject, incident: hostIncident }, 'ignored', message)
  if (open === undefined) return settled
  const unknown = new LifeboatError('DESTINATION_DIED', 'its host failed while it was being restarted', {
    certainty: 'unknown',
  })
  const outcome: Outcome = { outcome: 'left', code: 'HOST_FAILED', message, after: null }
  return [...takenFrom({ open, host, instance }, unknown, outcome, 'host-failed'), ...settled]
}

/** Ends an incident that was opened beside another one of the same crash. */
export function endedByTwinRows(open: Incident, instance: InstanceId, goesOn: IncidentId): NewEntry[] {
  const message = `it was opened twice: incident ${goesOn} goes on with the same crash`
  const unknown = new LifeboatError('INVARIANT', message, { certainty: 'unknown' })
  const outcome: Outcome = { outcome: 'left', code: 'SAME_CRASH', message, after: null }
  return takenFrom({ open, host: open.host, instance }, unknown, outcome, 'done')
}

/** Another incident goes on with the instance. */
function takenFrom(
  { open, host, instance }: Pick<CrashSubject, 'host' | 'instance'> & { open: Incident },
  unknown: LifeboatError,
  outcome: Outcome,
  end: IncidentEnd,
): NewEntry[] {
  const about = { incident: open.id, host, instance }
  const data = { outcome: end, message: outcome.message, counts: { left: 1 } }
  const error = errorRecord(unknown)
  return [
    ...openSteps(open, instance).map((step): NewEntry => ({ kind: 'step.failed', ...about, step, data: { error } })),
    { kind: 'outcome.recorded', ...about, data: outcome },
    { kind: 'incident.closed', incident: open.id, host, data },
  ]
}

export function settlingRows(
  { host, instance, reports, incident }: CrashSubject,
  status: ReportEnd,
  message: string,
): NewEntry[] {
  return reports.map(({ uuid }) => ({
    ...{ kind: 'report.settled', host, instance },
    data: { uuid, status, message, of: incident },
  }))
}

/** Keys of steps whose end is not on record. */
export function openSteps({ instances }: Incident, instance: InstanceId): string[] {
  return [...(instances.get(instance)?.steps.values() ?? [])]
    .filter(({ status }) => status === 'intended' || status === 'issued')
    .map(({ key }) => key)
}

/** The restart that was sent and has no answer yet. Null: there is none. */
export function unansweredRestart(incident: Incident, instance: InstanceId): StepRecord<RestartStep> | null {
  const steps = [...(incident.instances.get(instance)?.steps.values() ?? [])]
  const isUnanswered = (step: StepRecord): step is StepRecord<RestartStep> =>
    (step.kind === 'reboot' || step.kind === 'start') && step.status === 'intended' && step.request !== null
  return steps.find(isUnanswered) ?? null
}

/** Whether a restart was begun, or an owner's stop is owed, and its end is not on record. */
export function isUnderWay(incident: Incident, instance: InstanceId): boolean {
  const recovery = incident.instances.get(instance)
  return openSteps(incident, instance).length > 0 || (recovery !== undefined && owesStop(recovery))
}

/** Whether a stop of its owner is still to be given again. */
export function owesStop({ steps }: InstanceRecovery): boolean {
  const stops = [...steps.values()].filter(({ key }) => isStopAgain(key))
  return stops.length > 0 && stops.every(({ status }) => status !== 'confirmed')
}

/** Whether a restart of ours came to its end. */
export function wasRestarted({ steps }: InstanceRecovery): boolean {
  return [...steps.values()].some(
    ({ kind, request, status }) =>
      (kind === 'reboot' || kind === 'start') && request !== null && status === 'confirmed',
  )
}

export function shown(instance: Instance | null): Outcome['after'] {
  return instance === null ? null : afterOf(instance)
}
