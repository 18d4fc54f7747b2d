/** What would happen if a host died now: the same survey and the same planner as in an incident, without a single write. */
import { sleep, type Clock } from '../domain/clock.ts'
import type { Cloud } from '../domain/cloud.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { HostPlan, Workflow } from '../domain/plan.ts'
import type { SegmentOf } from '../domain/segment.ts'
import { recall, type Earlier } from '../executor/recall.ts'
import { takeSurvey } from '../executor/survey.ts'

/** Throws NOT_FOUND for a host that Nova does not know, and what the cloud throws. */
export async function planHost(
  parts: { cloud: Cloud; clock: Clock; workflow: Workflow; segmentOf: SegmentOf; earlier?: Earlier },
  host: string,
): Promise<HostPlan> {
  const { cloud, clock, workflow, segmentOf } = parts
  const pause = (): Promise<void> => sleep(clock, 0)
  const taken = await takeSurvey(cloud, host, () => clock.wall())
  const { earlier = () => null } = parts
  const survey = await recall(taken.survey, { cloud, permissions: { earlier }, id: null, pause })
  const service = survey.services.find((row) => row.binary === 'nova-compute' && row.host === host)
  if (service === undefined) {
    const known = survey.services.filter((row) => row.binary === 'nova-compute').map((row) => row.host)
    throw new LifeboatError('NOT_FOUND', `Nova knows no nova-compute on ${host} (it knows ${known.sort().join(', ')})`)
  }
  const aggregates = survey.aggregates
    .filter((aggregate) => aggregate.hosts.includes(host))
    .map((aggregate) => aggregate.name)
  // The planner asks whether the other end of a resize lives; this host is taken for dead, as it would be.
  return workflow.planInPieces(survey, segmentOf(host, service.zone, aggregates), pause)
}
