/**
 * What a release wrote, every later one reads, proves, reports and finishes. `npm run journals:record` makes the folder of the
 * release that package.json names, once; it is never made anew.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openJournal } from '../../src/journal/journal.ts'
import { openJournalReader } from '../../src/journal/reader.ts'
import { temporaryDirectory, testClock } from './fixtures.ts'
import { incident, record, recorded, releases, restored, resume } from './release-journals.ts'
import { reports } from './release-reports.ts'
import { copyFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}
if (process.env['RECORD_JOURNALS'] === '1') await record(version)

test('this release has its journals', () => {
  expect(existsSync(join(releases, version)), 'npm run journals:record').toBe(true)
  expect(recorded().filter(([release]) => release === version).length).toBeGreaterThanOrEqual(12)
})

/** What is told otherwise since: an instance that an attempt of ours left in ERROR was touched, and is not called left. */
function asTold<T extends object>(moment: string, ends: Record<string, T>): Record<string, T> {
  if (moment !== 'cancelled') return ends
  return Object.fromEntries(Object.entries(ends).map(([name, end]) => [name, { ...end, outcome: 'stuck' }]))
}

describe.each(recorded())('%s, %s', (release, moment) => {
  const copy = (): string => {
    const path = join(temporaryDirectory(), 'journal.db')
    copyFileSync(join(releases, release, `${moment}.db`), path)
    return path
  }

  test('is read, verifies, and is reported word by word as before', () => {
    const path = copy()
    const reader = openJournalReader(path)
    expect(reader.verify()).toMatchObject({ broken: null })
    const { now, known } = reports(release, moment, new Map([[incident, reader.read({ incident })]]))
    expect(now).toBe(known)
    reader.close()
    const journal = openJournal(path, { clock: testClock() })
    const listed = journal.incidents({})
    expect(listed.map(({ id }) => id)).toEqual([incident])
    journal.rebuild()
    expect(journal.incidents({})).toEqual(listed)
    journal.close()
  })

  test('is finished, and ends as its own release ended it, but for what is told otherwise since', async () => {
    const scene = await restored(release, moment)
    try {
      expect(await resume(scene)).toEqual(asTold(moment, scene.ends))
      expect(scene.simulator.truth().doubles).toEqual([])
      const journal = openJournal(scene.path, { clock: scene.clock })
      expect(journal.verify().broken).toBeNull()
      journal.close()
    } finally {
      await scene.close()
    }
  })
})
