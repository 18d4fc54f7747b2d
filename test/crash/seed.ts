/** The journal that crash tests begin with. */
import type { Workflow } from '../../src/domain/plan.ts'
import type { JournalWriter } from '../../src/journal/journal.ts'

/** As a daemon leaves it that has confirmed the death of the host and is about to fence it. */
export function seedJournal(journal: JournalWriter, workflow: Workflow, incident: string, host: string): void {
  const { name, revision, digest, source } = workflow
  const base = { incident, host }
  const opened = { verdict: null, segment: 'simulated', failure: 'host', mode: 'armed', openedBy: 'daemon' } as const
  journal.append([
    { kind: 'workflow.pinned', data: { name, revision, digest, source } },
    { kind: 'incident.opened', ...base, data: { ...opened, workflowDigest: digest } },
    { kind: 'incident.phase', ...base, data: { from: 'confirming', to: 'fencing' } },
  ])
}
