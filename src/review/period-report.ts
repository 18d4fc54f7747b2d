/** The report of a period: folded from the journal's entries and from readiness as of now. Pure. */
import type { Entry, EntryKind, IncidentEnd, IncidentId } from '../domain/entry.ts'
import type { Failure } from '../domain/incident.ts'
import type { DeathVerdict, PeriodHosts, PeriodIncident, PeriodReport } from '../domain/period-report.ts'
import { fencingStates, type HostReadiness, type Readiness } from '../domain/readiness.ts'
import type { InstanceId } from '../domain/instance.ts'
import type { InstancePlan } from '../domain/plan.ts'
import type { HostName } from '../domain/service.ts'
import { isBeating } from '../domain/verdict.ts'
import type { IncidentLine } from '../journal/listing.ts'

/** What the fold takes in. */
export const periodKinds: EntryKind[] = [
  'daemon.started',
  'mode.changed',
  'verdict.changed',
  'incident.opened',
  'incident.closed',
  'proof.recorded',
  'proof.voided',
  'plan.made',
]

type Decision = InstancePlan['decision']

/** Instances named in a group. More are in the plans. */
const mostNamed = 5

export interface PeriodFacts {
  from: string
  to: string
  /** The mode in which it began. */
  modeBefore: 'observe' | 'armed' | null
  /** Of the period, oldest first; kinds beyond `periodKinds` are passed over. */
  entries: Iterable<Entry>
  /** Those that were opened in the period. */
  lines: readonly IncidentLine[]
  /** Those of dead hosts that were open when it began. */
  openBefore: readonly Pick<IncidentLine, 'id' | 'host'>[]
  readiness: Readiness | null
}

export function periodReport({
  from,
  to,
  modeBefore,
  entries,
  lines,
  openBefore,
  readiness,
}: PeriodFacts): PeriodReport {
  const fold = new PeriodFold(openBefore)
  for (const entry of entries) fold.take(entry)
  const modes = [...new Set([...(modeBefore === null ? [] : [modeBefore]), ...fold.modes])]
  return {
    ...{ from, to, modes, verdicts: fold.verdicts, suspicions: fold.suspicions },
    incidents: lines.map((line) => incidentOf(line, fold)).toReversed(),
    now: readiness === null ? null : hostsOf(readiness),
  }
}

class PeriodFold {
  readonly modes: PeriodReport['modes'] = []
  readonly verdicts: DeathVerdict[] = []
  readonly provenAt = new Map<IncidentId, string>()
  readonly plans = new Map<IncidentId, Map<InstanceId, Decision>>()
  suspicions = 0
  readonly #open: Map<HostName, IncidentId>
  /** Hosts that were found dead and have not beaten since. */
  readonly #dead = new Map<HostName, DeathVerdict>()
  /** Those of them that were in maintenance then: of such a death no incident is opened. */
  readonly #planned = new Set<HostName>()

  /** @param open whose hosts a restarted daemon finds dead again */
  constructor(open: PeriodFacts['openBefore']) {
    this.#open = new Map(open.map(({ host, id }) => [host, id]))
  }

  take(entry: Entry): void {
    const { incident, host } = entry
    switch (entry.kind) {
      case 'daemon.started':
        this.modes.push(entry.data.mode)
        break
      case 'mode.changed':
        this.modes.push(entry.data.to)
        break
      case 'verdict.changed':
        this.#takeVerdict(entry)
        break
      case 'incident.opened': {
        if (incident === null || host === null) break
        this.#open.set(host, incident)
        const verdict = this.#dead.get(host)
        if (verdict !== undefined) verdict.incident ??= incident
        break
      }
      case 'incident.closed':
        if (host !== null && this.#open.get(host) === incident) this.#open.delete(host)
        break
      case 'proof.recorded':
        // A proof that is renewed is recorded again: the first one is when it was proven.
        if (incident !== null && !this.provenAt.has(incident)) this.provenAt.set(incident, entry.data.proof.provenAt)
        break
      case 'proof.voided':
        if (entry.data.unproven) break
        for (const verdict of this.verdicts)
          if (incident !== null && verdict.incident === incident) verdict.false = 'life-after-proof'
        break
      case 'plan.made': {
        if (incident === null) break
        const plans = this.plans.get(incident) ?? new Map<InstanceId, Decision>()
        // One that was planned again counts as it was planned last.
        plans.set(entry.data.instanceId, entry.data.decision)
        this.plans.set(incident, plans)
        break
      }
      default:
    }
  }

  #takeVerdict({ data, at }: Extract<Entry, { kind: 'verdict.changed' }>): void {
    const { host, segment, kind, reason, message } = data
    if (kind === 'suspect') this.suspicions += 1
    const dead = this.#dead.get(host)
    if (dead !== undefined && isBeating(data)) {
      this.#dead.delete(host)
      dead.backAt = at
      if (dead.incident === null && !this.#planned.delete(host)) dead.false = 'healed-without-incident'
    }
    // A restarted daemon says it again; until it beats it is the same death.
    if (kind !== 'host-down' || this.#dead.has(host)) return
    const verdict: DeathVerdict = {
      ...{ host, segment, at, reason, message, backAt: null, false: null },
      incident: this.#open.get(host) ?? null,
    }
    this.verdicts.push(verdict)
    this.#dead.set(host, verdict)
    if (data.planned === true) this.#planned.add(host)
    else this.#planned.delete(host)
  }
}

function incidentOf(line: IncidentLine, { provenAt, plans }: PeriodFold): PeriodIncident {
  const { id, host, segment, mode, openedAt, closedAt, lastLineAt, heldCode } = line
  const failure: Failure = line.crashed !== null ? 'instance' : line.process !== null ? 'process' : 'host'
  const outcomes = Object.entries(line.instances).filter(([, count]) => count > 0)
  return {
    ...{ id, host, segment, failure, mode, openedAt, closedAt, held: closedAt === null ? heldCode : null },
    provenAt: provenAt.get(id) ?? null,
    // Without an outcome it is the time of its plan.
    lastOutcomeAt: mode === 'armed' && line.instances.open === 0 ? lastLineAt : null,
    outcome: line.outcome as IncidentEnd | null,
    outcomes: Object.fromEntries(outcomes),
    decisions: countsOf(plans.get(id)?.values() ?? []),
  }
}

function countsOf(decisions: Iterable<Decision>): PeriodIncident['decisions'] {
  const counts: PeriodIncident['decisions'] = {}
  for (const decision of decisions) counts[decision] = (counts[decision] ?? 0) + 1
  return counts
}

function hostsOf({ at, sentences, hosts }: Readiness): PeriodHosts {
  return {
    ...{ at, sentences, hosts: hosts.length },
    unplanned: hosts.filter(({ plan }) => plan === null).length,
    unfenced: hosts.filter(({ fencing }) => fencing.state === 'none' || fencing.state === 'silent').map(unfenced),
    left: leftOf(hosts),
  }
}

function unfenced({ host, segment, fencing, missing }: HostReadiness): PeriodHosts['unfenced'][number] {
  const said = missing.filter(({ code }) => code === 'NO_FENCING' || code === 'FENCING_SILENT')
  const message = said.map((one) => one.message).join('; ') || fencingStates[fencing.state]
  return { host, segment, fencing: fencing.state, message }
}

/** The largest group first. */
function leftOf(hosts: readonly HostReadiness[]): PeriodHosts['left'] {
  const groups = new Map<string, PeriodHosts['left'][number]>()
  for (const { plan } of hosts)
    for (const { decision, reason, message, instances, names } of plan?.left ?? []) {
      const key = `${decision} ${reason}`
      const group = groups.get(key) ?? { decision, reason, message, instances: 0, hosts: 0, names: [] }
      group.instances += instances
      group.hosts += 1
      group.names.push(...names.slice(0, mostNamed - group.names.length))
      groups.set(key, group)
    }
  return [...groups.values()].toSorted((a, b) => b.instances - a.instances)
}
