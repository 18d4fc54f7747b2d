/** Journal entries as metrics. Keeps only what spans two entries: when a step or an incident began. */
import type { Entry, IncidentId } from '../domain/entry.ts'
import type { ReturnStepKind } from '../domain/host-return.ts'
import type { FenceAttempt } from '../domain/fencing.ts'
import type { Failure } from '../domain/incident.ts'
import type { HostStepKind, StepKind } from '../domain/plan.ts'
import type { HostName } from '../domain/service.ts'
import type { Verdict } from '../domain/verdict.ts'
import type { Metrics } from './metrics.ts'

const failures = { 'incident.opened': 'host', 'process.failed': 'process', 'instance.failed': 'instance' } as const

interface OpenIncident {
  segment: string
  failure: Failure
  openedAt: string
  lastOutcomeAt: string | null
  steps: Map<string, { kind: StepKind | HostStepKind | ReturnStepKind; at: string }>
}

/** Counts an entry. Entries of incidents that were opened before this daemon started count where they need no beginning. */
export function entryMetrics(metrics: Metrics): (entry: Entry) => void {
  const open = new Map<IncidentId, OpenIncident>()
  const dead = new Set<HostName>()

  const endStep = (entry: Entry, result: 'confirmed' | 'failed', outcome: string): void => {
    const incident = open.get(entry.incident ?? '')
    const key = stepKey(entry)
    const step = incident?.steps.get(key)
    if (incident === undefined || step === undefined) return
    incident.steps.delete(key)
    metrics.steps.observe({ kind: step.kind, result }, seconds(step.at, entry.at))
    if (step.kind === 'evacuate') metrics.evacuations.inc({ segment: incident.segment, outcome })
  }

  /** One death is one observation: a verdict that wavers until the host beats again is still the same death. */
  const detected = ({ host, segment, kind, evidence }: Verdict): void => {
    if (kind === 'healthy' || kind === 'contradiction') dead.delete(host)
    if (kind !== 'host-down' || dead.has(host)) return
    dead.add(host)
    if (evidence.sinceBeatMs !== undefined) metrics.detection.observe({ segment }, evidence.sinceBeatMs / 1000)
  }

  return (entry) => {
    metrics.journalEntries.inc()
    metrics.journalSequence.set(entry.seq)
    const incident = open.get(entry.incident ?? '')
    switch (entry.kind) {
      case 'daemon.started':
        metrics.armed.set(entry.data.mode === 'armed' ? 1 : 0)
        break
      case 'mode.changed':
        metrics.armed.set(entry.data.to === 'armed' ? 1 : 0)
        break
      case 'verdict.changed':
        detected(entry.data)
        break
      case 'incident.opened':
      case 'process.failed':
      case 'instance.failed': {
        const { segment, mode } = entry.data
        const failure = failures[entry.kind]
        open.set(entry.incident ?? '', { segment, failure, openedAt: entry.at, lastOutcomeAt: null, steps: new Map() })
        metrics.incidentsOpened.inc({ segment, failure, mode })
        break
      }
      case 'incident.closed':
        metrics.incidentsClosed.inc({
          segment: incident?.segment ?? 'unknown',
          failure: incident?.failure ?? 'unknown',
          outcome: entry.data.outcome,
        })
        if (incident?.failure === 'host' && incident.lastOutcomeAt !== null) {
          metrics.recovery.observe({ segment: incident.segment }, seconds(incident.openedAt, incident.lastOutcomeAt))
        }
        open.delete(entry.incident ?? '')
        break
      case 'step.intended':
        incident?.steps.set(stepKey(entry), { kind: entry.data.kind, at: entry.at })
        break
      case 'step.confirmed':
        endStep(entry, 'confirmed', 'confirmed')
        break
      case 'step.failed':
        endStep(entry, 'failed', entry.data.error.code)
        break
      case 'outcome.recorded':
        metrics.instances.inc({ outcome: entry.data.outcome, code: entry.data.code })
        if (incident !== undefined && entry.data.crossed === undefined) incident.lastOutcomeAt = entry.at
        break
      case 'fence.attempt':
        if (entry.data.phase !== 'trying') observeFence(metrics, entry.data)
        break
      case 'debt.recorded':
        metrics.leftovers.inc({ code: entry.data.code })
        break
      case 'return.changed':
        if (entry.data.to === 'back') metrics.returns.inc({ code: entry.data.code })
        break
      case 'notice.sent':
      case 'notice.failed':
      case 'notice.dead-lettered':
        metrics.notices.inc({ receiver: entry.data.receiver, result: entry.kind.slice('notice.'.length) })
        break
      case 'alarm.raised':
        metrics.alarms.inc({ code: entry.data.code })
        break
      default:
        break
    }
  }
}

function observeFence(metrics: Metrics, { method, phase, certainty, startedAt, endedAt }: FenceAttempt): void {
  const result = phase === 'failed' && certainty === 'unknown' ? 'unknown' : phase
  metrics.fenceAttempts.inc({ method, result })
  if (startedAt !== undefined && endedAt !== undefined)
    metrics.fenceDuration.observe({ method, result }, seconds(startedAt, endedAt))
}

function stepKey(entry: Entry): string {
  return `${entry.instance ?? ''} ${entry.step ?? ''}`
}

/** Wall time: an administrator who sets the clock back must not make a negative observation. */
function seconds(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from)) / 1000
}
