/**
 * The reports of recorded journals, word by word: what an upgrade must go on telling of an incident that is long over. `RECORD_REPORTS=1
 * npx vitest run test/journal/releases` writes them again, after a change of words; read the diff like code.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Entry } from '../../src/domain/entry.ts'
import { incidentReport } from '../../src/review/report.ts'

/** The reports of a journal's incidents now, and as they are on record. @param name of the journal's file, without its ending */
export function reports(
  release: string,
  name: string,
  incidents: Map<string, Entry[]>,
): { now: string; known: string } {
  const now = [...incidents].map(([id, entries]) => incidentReport(id, entries)).join('\n')
  const file = fileURLToPath(new URL(`release-reports/${release}/${name}.txt`, import.meta.url))
  if (process.env['RECORD_REPORTS'] === '1') {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, now)
  }
  return { now, known: readFileSync(file, 'utf8') }
}
