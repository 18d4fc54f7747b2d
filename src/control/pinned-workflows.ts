/** The workflow documents that the journal has pinned: those of open incidents, and the one of new incidents. */
import type { NewEntry } from '../domain/entry.ts'
import { ensureError, type LifeboatError } from '../domain/errors.ts'
import type { Journal } from '../domain/journal.ts'
import type { Workflow } from '../domain/plan.ts'
import type { IncidentStore } from './incident-store.ts'
import type { Rules } from './rules.ts'

export interface PinnedWorkflows {
  /** An error for a document that this release cannot read. */
  byDigest: ReadonlyMap<string, Workflow | LifeboatError>
  /** The row that pins the workflow of new incidents; none when it is on record already. */
  pin: NewEntry[]
}

/**
 * The document of new incidents goes into the journal once; those of open incidents come from there. Writes nothing. One that
 * cannot be read any more stops its own incidents only: an error here keeps the whole daemon from starting.
 */
export function pinnedWorkflows(
  journal: Pick<Journal, 'read'>,
  store: Pick<IncidentStore, 'open'>,
  { workflow, parsePinned }: Pick<Rules, 'workflow' | 'parsePinned'>,
): PinnedWorkflows {
  const byDigest = new Map<string, Workflow | LifeboatError>([[workflow.digest, workflow]])
  const pinned = journal
    .read({ kinds: ['workflow.pinned'] })
    .flatMap((entry) => (entry.kind === 'workflow.pinned' ? [entry.data] : []))
  const needed = new Set(store.open().map((incident) => incident.workflowDigest))
  for (const { digest, source } of pinned)
    if (needed.has(digest) && !byDigest.has(digest)) byDigest.set(digest, readable(source, parsePinned))
  if (pinned.some(({ digest }) => digest === workflow.digest)) return { byDigest, pin: [] }
  const { name, revision, digest, source } = workflow
  return { byDigest, pin: [{ kind: 'workflow.pinned', data: { name, revision, digest, source } }] }
}

function readable(source: string, parse: Rules['parsePinned']): Workflow | LifeboatError {
  try {
    return parse(source)
  } catch (thrown) {
    return ensureError(thrown)
  }
}
