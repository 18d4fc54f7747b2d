/** The workflow documents that the journal has pinned: each goes on record before the first incident that it decides about. */
import type { NewEntry } from '../domain/entry.ts'
import { ensureError, LifeboatError, problemsOf } from '../domain/errors.ts'
import type { Failure } from '../domain/incident.ts'
import type { Journal } from '../domain/journal.ts'
import type { WorkflowRecord } from '../domain/plan.ts'
import { isOf, type AnyWorkflow, type Workflows } from '../engine/workflow.ts'
import type { IncidentStore } from './incident-store.ts'
import type { Rules } from './rules.ts'

/** An error for a document that this release cannot read. */
type ByDigest = ReadonlyMap<string, AnyWorkflow | LifeboatError>

export interface PinnedWorkflows {
  byDigest: ByDigest
  /** The row that pins the workflow of new incidents of hosts; none when it is on record already. */
  pin: NewEntry[]
}

/**
 * The workflows of new incidents, and those of open ones as the journal has them. Writes nothing. One that cannot be read any more stops
 * its own incidents only: an error here keeps the whole daemon from starting.
 */
export function pinnedWorkflows(
  journal: Pick<Journal, 'read'>,
  store: Pick<IncidentStore, 'openOfAnyKind'>,
  { workflows: { host, process, instance }, parsePinned }: Pick<Rules, 'workflows' | 'parsePinned'>,
): PinnedWorkflows {
  const byDigest = new Map<string, AnyWorkflow | LifeboatError>(
    [host, process, instance].map((workflow) => [workflow.digest, workflow]),
  )
  const needed = new Set(store.openOfAnyKind().map((incident) => incident.workflowDigest))
  for (const { digest, source } of pinnedIn(journal))
    if (needed.has(digest) && !byDigest.has(digest)) byDigest.set(digest, readable(source, parsePinned))
  return { byDigest, pin: pinOf(host, journal) }
}

/** The row that pins a workflow; none when it is on record already. */
export function pinOf({ name, revision, digest, source }: WorkflowRecord, journal: Pick<Journal, 'read'>): NewEntry[] {
  if (pinnedIn(journal).some((pinned) => pinned.digest === digest)) return []
  return [{ kind: 'workflow.pinned', data: { name, revision, digest, source } }]
}

function pinnedIn(journal: Pick<Journal, 'read'>): WorkflowRecord[] {
  return journal
    .read({ kinds: ['workflow.pinned'] })
    .flatMap((entry) => (entry.kind === 'workflow.pinned' ? [entry.data] : []))
}

/** The one with which an incident began. Throws WORKFLOW_INVALID where it is lost, cannot be read, or is of another kind of failure. */
export function pinnedWorkflow<F extends Failure>(byDigest: ByDigest, digest: string, failure: F): Workflows[F] {
  const workflow = byDigest.get(digest)
  const short = digest.slice(0, 12)
  if (workflow === undefined) throw new LifeboatError('WORKFLOW_INVALID', `the journal has no workflow ${short}`)
  if (workflow instanceof LifeboatError) {
    const message = `this release cannot read workflow ${short}, with which it began: ${problemsOf(workflow)[0] ?? workflow.message}`
    throw new LifeboatError('WORKFLOW_INVALID', message, { cause: workflow })
  }
  if (isOf(workflow, failure)) return workflow
  throw new LifeboatError('WORKFLOW_INVALID', `workflow ${short} is not for failure: ${failure}`)
}

function readable(source: string, parse: Rules['parsePinned']): AnyWorkflow | LifeboatError {
  try {
    return parse(source)
  } catch (thrown) {
    return ensureError(thrown)
  }
}
