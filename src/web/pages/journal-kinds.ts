/** Kinds of entries by what somebody looks for. */
import type { EntryKind } from '../../domain/entry.ts'

export const kindGroups: Partial<Record<string, readonly EntryKind[]>> = {
  'what people did': [
    'operator.statement',
    'operator.override',
    'operator.cancelled',
    'operator.return',
    'operator.paused',
    'operator.resumed',
    'operator.maintenance',
    'operator.maintenance-ended',
    'review.noted',
    'review.signed-off',
  ],
  verdicts: ['verdict.changed', 'monitor.frozen', 'monitor.thawed', 'alarm.raised'],
  'brake and freeze': ['brake.tripped', 'brake.released', 'monitor.frozen', 'monitor.thawed'],
  incidents: ['incident.opened', 'incident.phase', 'incident.held', 'incident.continued', 'incident.closed'],
  fencing: ['fence.attempt', 'proof.recorded', 'proof.voided', 'service.marked', 'operator.statement'],
  plans: ['plan.made', 'recipe.entered'],
  steps: ['step.intended', 'step.issued', 'step.confirmed', 'step.failed'],
  outcomes: ['outcome.recorded', 'debt.recorded'],
  returns: ['return.changed', 'service.restored', 'operator.return'],
  daemon: ['daemon.started', 'daemon.stopped', 'workflow.pinned'],
}
