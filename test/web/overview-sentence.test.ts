/** The overview's one sentence: who must get up. */
import { expect, it } from 'vitest'
import type { DaemonStatus } from '../../src/domain/operations.ts'
import type { TenureView } from '../../src/domain/tenure.ts'
import { overviewSentence } from '../../src/web/words/overview-sentence.ts'
import { aStatus } from '../api/fake-operations.ts'

const well: DaemonStatus = {
  ...{ ...aStatus, hosts: { healthy: 4 } },
  incidents: { open: 0, held: 0, unsettled: { incidents: 0, left: 0, lost: 0 } },
}
const nobody: TenureView = {
  ...{ state: 'standby', name: 'ctl2', epoch: 3, active: null, waits: 'its copy is behind', leaseLeftMs: null },
  ...{ staged: 0, behind: 0, daemons: [], namesake: null },
}
const itself = { name: 'ctl2', address: '' }

it.each<[string, Partial<DaemonStatus>, string]>([
  ['nothing is wrong', {}, 'All is well'],
  ['another daemon is active', { tenure: { ...nobody, active: { name: 'ctl1', address: '' } } }, 'All is well'],
  ['no daemon is active', { tenure: nobody }, 'No daemon is active'],
  ['no daemon is active, and Nova was not read', { tenure: nobody, lastPoll: null }, 'No daemon is active'],
  ['its own lease is over', { tenure: { ...nobody, state: 'suspended', active: itself } }, 'No daemon is active'],
  ['the daemon dies again and again', { restartLoop: { died: 4, message: 'died 4 times' } }, 'The daemon keeps dying'],
])('%s', (_what, over, title) => {
  expect(overviewSentence({ ...well, ...over }, []).title).toBe(title)
})
