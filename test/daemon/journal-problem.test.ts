/** What `lifeboat check` knows of the entries in a daemon's file: whether the daemon would go on with them when it starts. */
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { parseConfig, type Config } from '../../src/config/index.ts'
import { journalProblem } from '../../src/daemon/shared-journal-acts.ts'
import type { NewEntry } from '../../src/domain/entry.ts'
import { openJournal } from '../../src/journal/journal.ts'
import { sharedRow } from '../../src/journal/shared/rows.ts'
import type { EntryRow } from '../../src/journal/chain.ts'
import { VirtualClock } from '../../src/simulator/virtual-clock.ts'
import { temporaryDirectory } from '../journal/fixtures.ts'
import { MemoryCluster, type MemoryClient } from '../journal/shared/memory.ts'

const alarm: NewEntry = { kind: 'alarm.raised', data: { code: 'N', message: 'm' } }
const moved = (to: 'shared' | 'own'): NewEntry => ({
  kind: 'journal.moved',
  data: { to, holder: 'ctl9/00000000#1', by: 'ann', reason: 'so' },
})
const began: NewEntry = {
  kind: 'tenure.began',
  data: {
    ...{ epoch: 1, holder: 'ctl9/00000000#1', from: '', why: 'nobody was active', silentMs: 0, leaseMs: 6_000 },
    ...{ version: '1', format: 1, config: 'd' },
  },
}

let clock: VirtualClock
let cluster: MemoryCluster
let client: MemoryClient
let directory: string
beforeEach(() => {
  clock = new VirtualClock()
  cluster = new MemoryCluster(clock, 'blue')
  client = cluster.client()
  directory = temporaryDirectory()
})

const configured = (shared: boolean): Config =>
  parseConfig(
    `state_dir: ${directory}\n${shared ? "shared_journal: { nodes: ['192.0.2.1:3306'], password: x }" : ''}`,
    join(directory, 'lifeboat.yaml'),
    {},
  )

/** Gives the rows. */
function record(...entries: NewEntry[]): EntryRow[] {
  const journal = openJournal(configured(false).journal, { clock })
  journal.append(entries)
  const rows = journal.rows(0, 100)
  journal.close()
  return rows
}

async function problem(shared = true): Promise<string> {
  const found = await clock.run(journalProblem(configured(shared), clock, () => Promise.resolve(client)))
  return found === null ? 'none' : found === 'unknown' ? found : `${found.code}: ${found.message}`
}

describe('where a journal is shared', () => {
  it('there is none with a machine that has no file yet', async () => expect(await problem()).toBe('none'))

  it("a history of the daemon's own that was never moved keeps it from starting", async () => {
    record(alarm, alarm)
    expect(await problem()).toMatch(/^JOURNAL_UNAVAILABLE: .* 2 entries .*lifeboat journal move --to shared/)
  })

  it('so it does beside a shared journal of others', async () => {
    cluster.entries = record(alarm).map(sharedRow)
    record(alarm)
    cluster.entries = [...cluster.entries, { seq: 2, hash: 'f'.repeat(64), body: 'x' }]
    expect(await problem()).toMatch(/^JOURNAL_UNAVAILABLE: .* 2 entries/)
  })

  it.each([
    ['was moved', [alarm, moved('shared')]],
    ['began as a shared one', [began, alarm]],
  ])('a file that %s is a copy, whatever the nodes say', async (_what, entries) => {
    record(...entries)
    client.cut()
    expect(await problem()).toBe('none')
  })

  it('a copy of a journal that is being moved, which another machine has, is one', async () => {
    cluster.entries = record(alarm, alarm).map(sharedRow)
    expect(await problem()).toBe('none')
  })

  it("one that a person made another daemon's own is told as that", async () => {
    cluster.entries = record(alarm, began, moved('own')).map(sharedRow)
    expect(await problem()).toMatch(/^CONFIG_INVALID: A person ended the shared journal .*ctl9's own/)
  })

  it('nothing is known of what may be its own while no node answers', async () => {
    record(alarm)
    client.cut()
    expect(await problem()).toBe('unknown')
  })
})

describe('where none is', () => {
  it('its own history is well', async () => {
    record(alarm)
    expect(await problem(false)).toBe('none')
  })

  it('a copy of a shared journal is not to be gone on with', async () => {
    record(alarm, moved('shared'))
    expect(await problem(false)).toMatch(
      /^CONFIG_INVALID: .* is the copy of a shared journal, but shared_journal is not/,
    )
  })
})
