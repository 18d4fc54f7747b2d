/** An open incident whose workflow is lost, or can no longer be read, keeps nobody else from being recovered. */
import { expect, it } from 'vitest'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import type { NewEntry } from '../../src/domain/entry.ts'
import { openJournal } from '../../src/journal/journal.ts'
import { Fleet } from '../daemon/fleet.ts'

const pinned: NewEntry = {
  kind: 'workflow.pinned',
  data: { name: 'old', revision: 1, digest: 'unreadable', source: 'kind: SomethingElse' },
}

it.concurrent.each([
  ['was never pinned', 'lost', [], 'the journal has no workflow lost'],
  ['cannot be read by this release', 'unreadable', [pinned], 'this release cannot read workflow unreadable'],
])('a workflow that %s holds its own incident, and the others are recovered', (_how, workflowDigest, pins, message) =>
  Fleet.run({}, async (fleet) => {
    const opened: NewEntry = {
      kind: 'incident.opened',
      incident: 'old',
      host: 'cmp01',
      data: { verdict: null, segment: 'az1', failure: 'host', mode: 'armed', openedBy: 'daemon', workflowDigest },
    }
    await fleet.restart({}, () => {
      const journal = openJournal(fleet.journalPath, { clock })
      journal.append([...pins, opened])
      journal.close()
    })
    await fleet.healthy()
    expect((await fleet.held('cmp01', 'WORKFLOW_UNREADABLE')).held?.message).toContain(message)
    fleet.simulator.addInstance({ name: 'web', host: 'cmp02' })
    fleet.simulator.crash('cmp02')
    expect((await fleet.ended('cmp02')).ended?.outcome).toBe('done')
    expect(fleet.powerOffs()).toBe(1)
  })(),
)
