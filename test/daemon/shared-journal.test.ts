/** What a daemon that shares its journal logs of the others and of the database. */
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { joinShared, tellOfCluster } from '../../src/daemon/shared-journal.ts'
import type { Observer } from '../../src/domain/observer.ts'
import { openJournal } from '../../src/journal/journal.ts'
import type { SharedJournal } from '../../src/journal/shared/journal.ts'
import { parse } from '../config/configurations.ts'
import { Site } from '../journal/shared/controllers.ts'
import type { MemoryClient } from '../journal/shared/memory.ts'

let site: Site
let joined: SharedJournal | null
let lines: string[]
beforeEach(() => {
  site = new Site()
  joined = null
  lines = []
})
afterEach(() => {
  joined?.journal.close()
  site.close()
})

/** A daemon beside ctl1, which is active. Gives its way to the database. */
async function standby(name: string): Promise<MemoryClient> {
  await site.untilActive(site.start('ctl1'))
  const { clock } = site
  const client = site.cluster.client()
  const text = `shared_journal: { nodes: ['192.0.2.1:3306'], password: x, name: ${name} }`
  const { sharedJournal } = parse(text)
  if (sharedJournal === null) throw new Error('no journal is shared')
  joined = joinShared(sharedJournal, 'blue', {
    ...{ clock, store: client, version: '1', mode: () => 'armed', goodPollAgeMs: () => 1_000 },
    copy: openJournal(join(site.elsewhere(), 'journal.db'), { clock }),
    observer: { log: (level, event, { message }) => lines.push(`${level} ${event}: ${String(message)}`) },
    configDigest: () => 'd'.repeat(64),
    ...{ onListenerError: () => undefined, shouldHandOver: () => undefined },
    ...{ unwritable: () => undefined, putBack: () => undefined },
  })
  void joined.tenure.untilActive(new AbortController().signal)
  await clock.advance(10_000)
  return client
}

it('an outage of a hundred seconds is three lines, of which the last one ends it', async () => {
  const client = await standby('ctl2')
  lines = []
  client.cut()
  await site.clock.advance(100_000)
  client.join()
  await site.clock.advance(1_000)
  expect(lines).toEqual([
    'warn shared_journal.unavailable: The shared journal cannot be reached or does not commit: cut off',
    expect.stringMatching(/^warn shared_journal.unavailable: .*cut off \(it failed 1\d\d times in 1 min\)$/),
    expect.stringMatching(/^info shared_journal.available: .* after 1 min 40 s$/),
  ])
})

it('another daemon of its name is an error, with its address and what to do', async () => {
  await standby('ctl1')
  expect(lines.slice(-1)).toEqual([
    'error shared_journal.name_taken: Another daemon is called ctl1 too (https://ctl1): give each its own shared_journal.name, and restart it',
  ])
})

it('a node that is not used is an error, which ends with a word; another cluster is a warning', () => {
  const node = { host: '192.0.2.1', port: 3306 }
  const observer: Observer = { log: (level, event, { message }) => lines.push(`${level} ${event}: ${String(message)}`) }
  tellOfCluster(observer, { kind: 'node', node, why: 'it stands alone' })
  tellOfCluster(observer, { kind: 'node', node, why: null })
  tellOfCluster(observer, { kind: 'moved', from: 'blue', to: 'green' })
  expect(lines).toEqual([
    'error shared_journal.node_refused: 192.0.2.1:3306 is not used: it stands alone',
    'info shared_journal.node_used: 192.0.2.1:3306 may be used again',
    expect.stringMatching(/^warn shared_journal.cluster_moved: .* green; no node of blue answers/),
  ])
})
