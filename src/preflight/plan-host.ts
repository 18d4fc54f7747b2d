/**
 * What would happen if a host died now, its nova-compute failed, or the guest of one of its instances crashed: the same readings and the
 * same workflows as in an incident, without a single write.
 */
import { sleep, type Clock } from '../domain/clock.ts'
import type { Cloud } from '../domain/cloud.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { Aggregate, Instance } from '../domain/instance.ts'
import type { HostPlan, InstancePlan, PlanSubject, ProcessRuling, WorkflowRecord } from '../domain/plan.ts'
import { leastMissedBeats, novaCompute } from '../domain/process-failure.ts'
import { readSetAsideReason } from '../domain/set-aside.ts'
import type { Segment, SegmentOf } from '../domain/segment.ts'
import type { ServiceRecord } from '../domain/service.ts'
import { isJudgedByHypervisor, planOfCrash, type CrashFacts } from '../engine/crash.ts'
import type { OwnerPolicySettings } from '../engine/owner-policy.ts'
import type { Workflows } from '../engine/workflow.ts'
import { readEncryption } from '../executor/encryption.ts'
import { recall, type Earlier } from '../executor/recall.ts'
import { takeSurvey } from '../executor/survey.ts'

export interface PlanParts {
  cloud: Cloud
  clock: Clock
  workflows: Workflows
  segmentOf: SegmentOf
  ownerPolicy: OwnerPolicySettings
  earlier?: Earlier
  settings?: { longestRequestMs: number }
}

/** Throws NOT_FOUND for a host that Nova does not know, and for an instance that is not on it, and what the cloud throws. */
export function planFailure(parts: PlanParts, subject: PlanSubject): Promise<HostPlan> {
  switch (subject.failure) {
    case 'host':
      return planHost(parts, subject.host)
    case 'process':
      return planProcess(parts, subject.host)
    case 'instance':
      return planCrash(parts, subject.host, subject.instance)
  }
}

async function planHost(parts: PlanParts, host: string): Promise<HostPlan> {
  const { cloud, clock, workflows, segmentOf } = parts
  const pause = (): Promise<void> => sleep(clock, 0)
  const taken = await takeSurvey(cloud, host, () => clock.wall())
  const { earlier = () => null, settings } = parts
  const known = { cloud, permissions: { earlier }, id: null, pause }
  const survey = await recall(taken.survey, settings === undefined ? known : { ...known, settings })
  const { segment } = placed(host, survey.services, survey.aggregates, segmentOf)
  // The planner asks whether the other end of a resize lives; this host is taken for dead, as it would be.
  return workflows.host.planInPieces(survey, segment, pause)
}

/** As if its heartbeats had just stopped, for the first time. Where its segment fences such a host, it is the plan of the host. */
async function planProcess(parts: PlanParts, host: string): Promise<HostPlan> {
  const { cloud, workflows, segmentOf } = parts
  const [{ services }, aggregates] = await Promise.all([cloud.listServices(), cloud.listAggregates()])
  const { segment, row, own } = placed(host, services, aggregates, segmentOf)
  if (segment.onServiceDown === 'fence') return planHost(parts, host)
  const service =
    alreadyOut(row) ??
    workflows.process.decide({
      host: { name: host, zone: row.zone ?? '', aggregates: own.map(({ name }) => name) },
      service: { missed_beats: leastMissedBeats },
      ...{ report: { by: '' }, failures: { recent: 1 }, segment: { name: segment.name } },
    })
  return { host, workflow: named(workflows.process), instances: [], service }
}

/** No workflow is asked about a service that Nova schedules nothing to already, unless Lifeboat itself has disabled it for a while. */
function alreadyOut({ status, forcedDown, disabledReason }: ServiceRecord): ProcessRuling | null {
  if (!forcedDown && (status === 'enabled' || readSetAsideReason(disabledReason) !== null)) return null
  const reason = disabledReason === null ? '' : ` (${disabledReason})`
  const because = `it is ${forcedDown ? 'forced down' : 'disabled'} already${reason}, and stays so`
  return { rule: '', do: 'leave', enable: null, because }
}

/** As if a monitor had just reported it, and its hypervisor said that it does not run. Several may have the name. */
async function planCrash(parts: PlanParts, host: string, instance: string): Promise<HostPlan> {
  const { cloud, workflows, segmentOf } = parts
  const [{ services }, aggregates, listed] = await Promise.all([
    cloud.listServices(),
    cloud.listAggregates(),
    cloud.listInstances(host),
  ])
  const { segment, own } = placed(host, services, aggregates, segmentOf)
  const meant = listed.filter(({ id, name }) => id === instance || name === instance)
  if (meant.length === 0) throw new LifeboatError('NOT_FOUND', `Nova shows no instance ${instance} on ${host}`)
  const instances: InstancePlan[] = []
  for (const one of meant) instances.push(await planOfOne(parts, one, own, segment))
  return { host, workflow: named(workflows.instance), instances }
}

async function planOfOne(
  { cloud, clock, workflows, ownerPolicy }: PlanParts,
  instance: Instance,
  aggregates: Aggregate[],
  { name, restart, policy }: Segment,
): Promise<InstancePlan> {
  const [actions, encryption] = await Promise.all([
    instance.vmState === 'stopped' ? cloud.listActions(instance.id) : null,
    readEncryption(cloud, instance),
  ])
  const facts: CrashFacts = {
    ...{ host: instance.host ?? '', instance, actions, aggregates, ...encryption },
    live: isJudgedByHypervisor(instance) ? 'off' : null,
    ...{
      crashedAt: clock.wall(),
      reportedAt: clock.wall(),
      sinceMs: 0,
      requests: [],
      evacuatedFrom: [],
      cancelled: null,
    },
  }
  const rules = { segment: name, restart, policy, owner: ownerPolicy }
  const decision = workflows.instance.decide(facts, rules)
  if (decision.do === 'restart' || decision.do === 'leave') return planOfCrash(instance, decision, facts)
  const { rule, message } = decision
  // Nova would have to come to an end with it first.
  const code = decision.do === 'wait' ? 'INSTANCE_BUSY' : decision.code
  const plan = planOfCrash(instance, { do: 'leave', rule, code, message }, facts)
  return { ...plan, message, decision: decision.do === 'wait' ? 'hold' : 'leave' }
}

/** The row, the segment and the aggregates of the host. Throws NOT_FOUND. */
function placed(
  host: string,
  services: readonly ServiceRecord[],
  aggregates: readonly Aggregate[],
  segmentOf: SegmentOf,
): { row: ServiceRecord; segment: Segment; own: Aggregate[] } {
  const rows = services.filter(({ binary }) => binary === novaCompute)
  const row = rows.find((one) => one.host === host)
  if (row === undefined) {
    const known = rows.map((one) => one.host).sort()
    throw new LifeboatError('NOT_FOUND', `Nova knows no nova-compute on ${host} (it knows ${known.join(', ')})`)
  }
  const own = aggregates.filter(({ hosts }) => hosts.includes(host))
  const names = own.map(({ name }) => name)
  return { row, segment: segmentOf(host, row.zone, names), own }
}

function named({ name, revision, digest }: WorkflowRecord): HostPlan['workflow'] {
  return { name, revision, digest }
}
