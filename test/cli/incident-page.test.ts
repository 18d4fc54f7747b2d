import { expect, it } from 'vitest'
import { incidentPage } from '../../src/cli/incident-page.ts'
import type { InstanceSummary } from '../../src/domain/operations.ts'
import { anIncident } from './fake-commands.ts'

it('an evacuation that may still be served says what is waited for, and until when at most', () => {
  const [known] = anIncident.instanceList as [InstanceSummary]
  const step: InstanceSummary['steps'][number] = {
    key: 's',
    kind: 'evacuate',
    attempt: 1,
    status: 'intended',
    requestId: null,
    intendedAt: '2026-01-02T03:00:26.000Z',
    endedAt: null,
    waitsUntil: '2026-01-02T03:10:36.000Z',
    error: null,
  }
  const instanceList = [{ ...known, outcome: null, endedAt: null, steps: [step] }]
  const page = incidentPage({ ...anIncident, instanceList, advice: [], notes: [], signOff: null })
  // Cells are wrapped, with other columns in between.
  for (const part of ['carry out the evacuation sent', '03:00:26', '03:10:36', 'at the latest'])
    expect(page).toContain(part)
})
