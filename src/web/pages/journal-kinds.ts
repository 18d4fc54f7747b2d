/** Kinds of entries by what somebody looks for. Every kind is found somewhere: the type checker asks for each new one. */
import type { EntryKind } from '../../domain/entry.ts'

const groups = [
  'what people did',
  'verdicts',
  'brake and freeze',
  'incidents',
  'fencing',
  'plans',
  'steps',
  'outcomes',
  'returns',
  'notices',
  'daemon',
] as const

const groupsOfKind: Record<EntryKind, readonly (typeof groups)[number][]> = {
  'daemon.started': ['daemon'],
  'daemon.stopped': ['daemon'],
  'config.reloaded': ['what people did', 'daemon'],
  'config.refused': ['what people did', 'daemon'],
  'mode.changed': ['what people did', 'daemon'],
  'workflow.pinned': ['daemon'],
  'monitor.frozen': ['verdicts', 'brake and freeze'],
  'monitor.thawed': ['verdicts', 'brake and freeze'],
  'brake.tripped': ['brake and freeze'],
  'brake.released': ['brake and freeze'],
  'verdict.changed': ['verdicts'],
  'alarm.raised': ['verdicts'],
  'incident.opened': ['incidents'],
  'incident.segment-changed': ['incidents'],
  'incident.phase': ['incidents'],
  'incident.held': ['incidents'],
  'incident.continued': ['incidents'],
  'incident.closed': ['incidents'],
  'fence.attempt': ['fencing'],
  'proof.recorded': ['fencing'],
  'service.marked': ['fencing'],
  'proof.voided': ['fencing'],
  'return.changed': ['returns'],
  'service.restored': ['returns'],
  'instances.watched': ['returns', 'outcomes'],
  'plan.made': ['plans'],
  'step.intended': ['steps'],
  'step.issued': ['steps'],
  'step.waiting': ['steps'],
  'step.confirmed': ['steps'],
  'step.failed': ['steps'],
  'recipe.entered': ['plans'],
  'outcome.recorded': ['outcomes'],
  'debt.recorded': ['outcomes'],
  'debt.settled': ['outcomes'],
  'review.noted': ['what people did'],
  'review.signed-off': ['what people did'],
  'operator.statement': ['what people did', 'fencing'],
  'operator.log-level': ['what people did', 'daemon'],
  'operator.override': ['what people did', 'brake and freeze'],
  'operator.cancelled': ['what people did'],
  'operator.again': ['what people did'],
  'operator.start': ['what people did', 'returns'],
  'operator.return': ['what people did', 'returns'],
  'operator.paused': ['what people did'],
  'operator.resumed': ['what people did'],
  'operator.maintenance': ['what people did'],
  'operator.maintenance-ended': ['what people did'],
  'notice.queued': ['notices'],
  'notice.sent': ['notices'],
  'notice.failed': ['notices'],
  'notice.dead-lettered': ['notices'],
}

export const kindGroups: Partial<Record<string, readonly EntryKind[]>> = Object.fromEntries(
  groups.map((group) => [group, kindsOf(group)]),
)

function kindsOf(group: (typeof groups)[number]): EntryKind[] {
  return (Object.keys(groupsOfKind) as EntryKind[]).filter((kind) => groupsOfKind[kind].includes(group))
}
