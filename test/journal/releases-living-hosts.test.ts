/**
 * Journals of incidents of hosts that live, as earlier code wrote them: of nova-compute, and of what monitors reported. They are opened,
 * proven, listed and reported as they were, whatever their kinds of entries have come to mean since.
 */
import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { failureOf, foldIncidents } from '../../src/domain/incident.ts'
import { openJournal } from '../../src/journal/journal.ts'
import { openJournalReader } from '../../src/journal/reader.ts'
import { incidentReport } from '../../src/review/report.ts'
import { temporaryDirectory, testClock } from './fixtures.ts'

const folder = fileURLToPath(new URL('./releases-living-hosts/', import.meta.url))

interface Told {
  /** How each incident of a process ended, in the order in which they were opened. */
  processes: (string | undefined)[]
  /** How each report was settled, likewise. */
  reports: string[]
}

const told: Record<string, Told> = {
  'a-reported-nova-compute-is-disabled-at-once': { processes: ['returned'], reports: ['finished'] },
  'more-nova-computes-are-reported-than-the-brake-allows': {
    processes: ['returned', 'returned', 'returned', 'returned', 'returned'],
    reports: ['finished', 'finished', 'finished', 'finished', 'finished'],
  },
}

const recorded = readdirSync(folder).flatMap((release) =>
  readdirSync(join(folder, release)).map((file) => [release, file.slice(0, -'.db'.length)] as const),
)

describe.each(recorded)('%s, %s', (release, name) => {
  const copy = (): string => {
    const path = join(temporaryDirectory(), 'journal.db')
    copyFileSync(join(folder, release, `${name}.db`), path)
    return path
  }

  test('verifies, and tells how each incident and each report ended', () => {
    const reader = openJournalReader(copy())
    expect(reader.verify()).toMatchObject({ broken: null })
    const entries = reader.read()
    const incidents = [...foldIncidents(entries).values()]
    const processes = incidents.filter((incident) => failureOf(incident) === 'process')
    const reports = entries.flatMap((entry) => (entry.kind === 'report.settled' ? [entry.data.status] : []))
    expect({ processes: processes.map(({ closed }) => closed?.outcome), reports }).toEqual(told[name])
    for (const { id, host } of incidents) expect(incidentReport(id, reader.read({ incident: id }))).toContain(host)
    reader.close()
  })

  test('is listed alike before and after its tables are made again', () => {
    const journal = openJournal(copy(), { clock: testClock() })
    const listed = journal.incidents({})
    expect(listed.filter(({ process }) => process === 'nova-compute')).toHaveLength(told[name]?.processes.length ?? -1)
    expect(listed.every(({ crashed }) => crashed === null)).toBe(true)
    journal.rebuild()
    expect(journal.incidents({})).toEqual(listed)
    journal.close()
  })
})
