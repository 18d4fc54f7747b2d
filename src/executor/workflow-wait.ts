/**
 * Everything is done by the workflow that an incident began with. Without it nothing is, not even fencing, until a person decides.
 */
import { ensureError, type LifeboatError } from '../domain/errors.ts'
import type { Run } from './context.ts'
import { rarestLookMs, type Holding } from './holding.ts'

type Asked = Pick<Run, 'permissions' | 'id'>

/** Whether its workflow cannot be read, or it is held for that. */
export function lacksWorkflow(run: Asked): boolean {
  return workflowError(run) !== null || run.permissions.incident(run.id).held?.code === 'WORKFLOW_UNREADABLE'
}

/** Holds the incident until its workflow can be read. Throws SHUTDOWN and CANCELLED. */
export async function waitForWorkflow(run: Asked, holding: Holding): Promise<void> {
  for (let error = workflowError(run); error !== null; error = workflowError(run)) {
    holding.hold('WORKFLOW_UNREADABLE', error.message, error)
    await holding.wait(rarestLookMs)
  }
  if (holding.incident.held?.code === 'WORKFLOW_UNREADABLE') holding.goOn('its workflow can be read again')
}

function workflowError({ permissions, id }: Asked): LifeboatError | null {
  try {
    permissions.workflow(permissions.incident(id).workflowDigest)
    return null
  } catch (thrown) {
    const error = ensureError(thrown)
    if (error.code !== 'WORKFLOW_INVALID') throw error
    return error
  }
}
