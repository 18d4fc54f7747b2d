/** The overview's one sentence: who must get up. */
import { expect, it } from 'vitest'
import type { HoldCode } from '../../src/domain/incident-phases.ts'
import type { DaemonStatus } from '../../src/domain/operations.ts'
import type { TenureView } from '../../src/domain/tenure.ts'
import { openCounts, overviewSentence } from '../../src/web/words/overview-sentence.ts'
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
  const status = { ...well, ...over }
  expect(overviewSentence(status, openCounts(status, null), []).title).toBe(title)
})

/** Open incidents, each with its hold; null: it goes on. */
function open(...codes: (HoldCode | null)[]) {
  const since = '2026-01-02T03:04:05.000Z'
  return codes.map((code) => ({ held: code === null ? null : { code, message: 'it waits', since } }))
}

it.each([
  ['PAUSED', open('PAUSED'), '1 incident on hold', 'wait'],
  ['FROZEN beside one that goes on', open('FROZEN', null), '1 recovery under way', 'live'],
  ['BRAKE beside MAINTENANCE', open('BRAKE', 'MAINTENANCE'), '1 incident held: a person must decide', 'bad'],
])('only a hold that needs a person calls one: %s', (_what, listed, title, tone) => {
  expect(overviewSentence(well, openCounts(well, listed), [])).toEqual({ title, tone })
})
