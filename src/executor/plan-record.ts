/** Every instance's initial state and plan in the journal, before the first instance is touched (laws L2, L4). */
import type { Segment } from '../domain/segment.ts'
import type { Survey } from '../domain/survey.ts'
import type { Run } from './context.ts'
import { turn } from './turn.ts'

/** Plans recorded in one go. Many more would keep the whole daemon, its polls included, from doing anything else. */
const plansAtOnce = 25

/** Gives how many instances were planned: those that the incident did not know. Throws SHUTDOWN and JOURNAL_UNAVAILABLE. */
export async function recordPlans(run: Run, survey: Survey, segment: Segment): Promise<number> {
  const incident = run.permissions.incident(run.id)
  const workflow = run.permissions.workflow(incident.workflowDigest)
  const { instances } = await workflow.planInPieces(survey, segment, () => turn(run))
  const added = instances.filter(({ instanceId }) => !incident.instances.has(instanceId))
  const base = { incident: run.id, host: run.host }
  for (let from = 0; from < added.length; from += plansAtOnce) {
    const some = added.slice(from, from + plansAtOnce)
    // A crash in between is harmless: nothing was touched yet, and what is planned already keeps its initial state.
    if (from > 0) await turn(run)
    run.journal.append(some.map((data) => ({ kind: 'plan.made', ...base, instance: data.instanceId, data })))
  }
  return added.length
}
