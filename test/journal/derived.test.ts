import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NewEntry } from '../../src/domain/entry.ts'
import { foldIncidents } from '../../src/domain/incident.ts'
import { backupFile, pruneBackups } from '../../src/journal/backup.ts'
import { exportLines } from '../../src/journal/export.ts'
import type { JournalWriter } from '../../src/journal/journal.ts'
import { openJournalReader } from '../../src/journal/reader.ts'
import { oneLine } from '../../src/review/markdown.ts'
import { incidentReport } from '../../src/review/report.ts'
import { incidentEntries, newJournal, plan, rawDatabase, started, temporaryDirectory } from './fixtures.ts'

function tables(journal: JournalWriter): unknown[] {
  const db = rawDatabase(journal.path)
  return ['incidents', 'instances', 'steps'].map((table) => db.prepare(`SELECT * FROM ${table}`).all())
}

test('rebuilding gives the same rows as keeping up did', () => {
  const journal = newJournal()
  journal.append([
    started,
    ...incidentEntries(),
    ...incidentEntries()
      .slice(0, 20)
      .map((entry) => ({ ...entry, incident: 'i2' })),
  ])
  const kept = tables(journal)
  expect(kept.map((rows) => (rows as unknown[]).length)).toEqual([2, 6, 6])
  rawDatabase(journal.path).exec(
    "DELETE FROM steps; UPDATE incidents SET phase = 'wrong'; DELETE FROM instances WHERE instance = 'a'",
  )
  expect(journal.rebuild()).toBe(52)
  expect(tables(journal)).toEqual(kept)
})

test('the tables say what folding the entries says, after any history', () => {
  const pool: NewEntry[] = [
    ...incidentEntries(),
    ...incidentEntries().map((entry) => ({ ...entry, incident: 'i2' })),
    { kind: 'plan.made', incident: 'i1', instance: 'd', data: plan('d') },
    { kind: 'incident.segment-changed', incident: 'i1', host: 'c1', data: { from: 'az1', to: 'az1-local' } },
  ]
  // Steps keep to their own table of changes, so the histories are the pool with parts left out, not shuffled steps.
  fc.assert(
    fc.property(fc.subarray(pool), (history) => {
      const steps = new Map<string, string>()
      const legal = history.filter((entry) => {
        const key = `${entry.incident} ${entry.instance} ${entry.step}`
        if (entry.kind === 'step.intended') steps.set(key, 'open')
        if (entry.kind === 'step.confirmed' || entry.kind === 'step.failed')
          return steps.get(key) === 'open' && steps.set(key, 'ended')
        return entry.kind !== 'step.issued' || steps.get(key) === 'open'
      })
      const journal = newJournal()
      journal.append(legal)
      const db = rawDatabase(journal.path)
      const found = db
        .prepare('SELECT id, segment, phase, held_code AS held, outcome, last_seq AS seq FROM incidents ORDER BY id')
        .all()
      const folded = [...foldIncidents(journal.read()).values()]
      expect(found).toEqual(
        folded
          .map((i) => ({
            id: i.id,
            segment: i.segment,
            phase: i.phase,
            held: i.held?.code ?? null,
            outcome: i.closed?.outcome ?? null,
            seq: i.lastSeq,
          }))
          .sort((a, b) => (a.id < b.id ? -1 : 1)),
      )
      const instances = db
        .prepare('SELECT incident, instance, recipe, round, debts, outcome FROM instances ORDER BY 1, 2')
        .all()
      expect(instances).toEqual(
        folded
          .flatMap((i) =>
            [...i.instances].map(([id, r]) => ({
              incident: i.id,
              instance: id,
              recipe: r.recipe,
              round: r.round,
              debts: r.leftovers.length,
              outcome: r.outcome?.outcome ?? null,
            })),
          )
          .sort((a, b) => (a.incident + a.instance < b.incident + b.instance ? -1 : 1)),
      )
      const stepRows = db
        .prepare(
          "SELECT incident || ' ' || instance || ' ' || step AS key, status, request_id AS request FROM steps ORDER BY 1",
        )
        .all()
      const foldedSteps = folded.flatMap((i) =>
        [...i.hostSteps.values()]
          .map((s) => ({ key: `${i.id}  ${s.key}`, status: s.status, request: s.requestId }))
          .concat(
            [...i.instances].flatMap(([id, r]) =>
              [...r.steps.values()].map((s) => ({
                key: `${i.id} ${id} ${s.key}`,
                status: s.status,
                request: s.requestId,
              })),
            ),
          ),
      )
      expect(stepRows).toEqual(foldedSteps.sort((a, b) => (a.key < b.key ? -1 : 1)))
      journal.close()
      db.close()
    }),
    { numRuns: 40 },
  )
})

test('the list counts the instances of each incident by how they ended', () => {
  const journal = newJournal()
  journal.append([
    ...incidentEntries(),
    ...incidentEntries()
      .slice(0, 18)
      .map((entry) => ({ ...entry, incident: 'i2', host: 'c2' })),
  ])
  expect(journal.incidents().map(({ id, phase, instances }) => ({ id, phase, ...instances }))).toEqual([
    { id: 'i2', phase: 'recovering', recovered: 0, left: 1, failed: 0, stuck: 0, open: 2 },
    { id: 'i1', phase: 'closed', recovered: 1, left: 1, failed: 1, stuck: 0, open: 0 },
  ])
  expect(journal.incidents({ openOnly: true }).map(({ id }) => id)).toEqual(['i2'])
  expect(journal.incidents({ host: 'c1' }).map(({ id }) => id)).toEqual(['i1'])
})

test('each exported line holds its columns and hash, and the lines of one incident only that', () => {
  const journal = newJournal()
  journal.append([started, ...incidentEntries()])
  const lines = [...exportLines(journal, { incident: 'i1' })]
  expect(lines).toHaveLength(31)
  expect(JSON.parse(lines[0]!)).toMatchObject({
    seq: 2,
    incident: 'i1',
    kind: 'incident.opened',
    prev_hash: journal.read()[0]?.hash,
  })
  expect(lines.every((line) => line.endsWith('\n') && line.indexOf('\n') === line.length - 1)).toBe(true)
})

test('the report tells the whole incident', () => {
  const journal = newJournal()
  journal.append(incidentEntries())
  const report = incidentReport('i1', journal.read({ incident: 'i1' }))
  for (const fact of [
    '# Incident i1: host c1',
    'Verdict **host-down** (SILENT_AND_PROBES_DEAD)',
    'no answer \\| in 1 s',
    'Proof: **power-off** by bmc',
    'Read: PowerState: Off',
    '| 0 s | BRAKE | Two of three hosts failed at once | ada let it past the brake |',
    'Rack power is known to be lost',
    '| vm-a | a | active, power running, wanted running | as-before on c2, active | **recovered** | RUNNING |',
    '| vm-b | b | active, power running, wanted running | not sent | **left** | LOCAL\\_DISK |',
    '| evacuate | 2 | confirmed | req-a2 |',
    'NO\\_VALID\\_HOST (applied): No valid host was found &lt; HTTP 400',
    '## Leftovers',
    'Migration 17 holds an allocation',
    'Note: Its memory was lost.',
    'Recipe: after-failure (planned: evacuate-running).',
    journal.head().hash,
  ])
    expect(report).toContain(fact)
  // What needs a person stands first.
  expect(report.indexOf('### db\\|1 (c)')).toBeLessThan(report.indexOf('### vm-a (a)'))
})

test('a name that a tenant chose cannot break the report', () => {
  const journal = newJournal()
  const [opened] = incidentEntries()
  const name = '| x | \n# Owned <script>alert(1)</script> [a](http://e) `**bold**`'
  journal.append([opened!, { kind: 'plan.made', incident: 'i1', instance: 'a', data: plan('a', { name }) }])
  const report = incidentReport('i1', journal.read())
  expect(report).not.toMatch(/<script|^# Owned|\[a\]\(|http:\/\/e/m)
  const row = report.split('\n').find((line) => line.includes('Owned') && line.startsWith('|'))!
  expect(row.replace(/\\\|/g, '').split('|')).toHaveLength(8)
})

test.each(['method', 'statedBy', 'evidence', 'statement', 'by', 'disabledReason'])(
  'what people and programs say of the fencing cannot break the report: %s',
  (field) => {
    const journal = newJournal()
    const hostile = 'x\n# Owned <b>[a](http://e) `c` **d**'
    const said = (name: string, plain: string): string => (name === field ? hostile : plain)
    const of = { incident: 'i1', host: 'c1' }
    journal.append([
      incidentEntries()[0]!,
      { kind: 'operator.statement', ...of, data: { by: said('by', 'ada'), statement: said('statement', 'I saw it') } },
      {
        kind: 'proof.recorded',
        ...of,
        data: {
          proof: {
            host: 'c1',
            method: said('method', 'operator'),
            strength: 'statement',
            provenAt: '2026-01-02T03:04:09.000Z',
            statedBy: said('statedBy', 'ada'),
            evidence: [said('evidence', 'I saw it')],
          },
        },
      },
      {
        kind: 'service.marked',
        ...of,
        data: {
          serviceId: 's1',
          before: { forcedDown: false, status: 'disabled', disabledReason: said('disabledReason', 'rack work') },
          reason: 'lifeboat i1',
          updatedAt: null,
        },
      },
    ])
    const fencing = incidentReport('i1', journal.read()).split('## Fencing')[1]!.split('\n## ')[0]!
    expect(fencing).toContain('x \\# Owned &lt;b&gt;')
    expect(fencing).not.toMatch(/<b>|^# Owned|\[a\]\(|http:\/\/e|`c`|\*\*d/m)
  },
)

test.each([
  ['2026-01-02 03:04:05.678 UTC, +4.2 s (done)', '2026-01-02 03:04:05.678 UTC, +4.2 s (done)'],
  ['  see www.evil.example ', 'see www&#46;evil.example'],
  ['it is at ftp://evil', 'it is at ftp:&#47;&#47;evil'],
])('text that nothing acts on stays as it is, and addresses become no links: %s', (text, line) => {
  expect(oneLine(text)).toBe(line)
})

test('a report of an unknown incident is refused', () => {
  expect(() => incidentReport('i9', [])).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }))
})

test('a backup is a whole journal, private, and replaces nothing', async () => {
  const journal = newJournal()
  journal.append(incidentEntries())
  const file = backupFile(join(temporaryDirectory(), 'backups'), Date.UTC(2026, 0, 2, 3, 4, 5))
  await journal.backup(file)
  expect(file).toMatch(/journal-20260102T030405Z\.db$/)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const reader = openJournalReader(file)
  expect(reader.verify()).toEqual({ ...journal.verify(), keptHead: 'missing' })
  reader.close()
  await expect(journal.backup(file)).rejects.toThrow(/replaces nothing/)
})

test('pruning keeps the newest backups and touches no other file', () => {
  const directory = temporaryDirectory()
  const names = [1, 2, 3].map((day) => backupFile(directory, Date.UTC(2026, 0, day)))
  for (const name of [...names, join(directory, 'notes.txt')]) writeFileSync(name, '')
  expect(pruneBackups(directory, 2)).toEqual(['journal-20260101T000000Z.db'])
  expect(readdirSync(directory)).toHaveLength(3)
  expect(() => pruneBackups(directory, 0)).toThrow(/At least one/)
})

test('a checkpoint empties the log, and says so when a reader stands in the way', () => {
  const journal = newJournal()
  journal.append(incidentEntries())
  expect(existsSync(`${journal.path}-wal`)).toBe(true)
  expect(journal.checkpoint()).toBe(true)
  expect(statSync(`${journal.path}-wal`).size).toBe(0)
  const other = rawDatabase(journal.path)
  other.exec('BEGIN')
  other.prepare('SELECT count(*) FROM entries').get()
  journal.append([started])
  expect(journal.checkpoint()).toBe(false)
})

test('a listing counts again after each entry of an incident, and not what it gave away before', () => {
  const journal = newJournal()
  const entries = incidentEntries()
  const outcome = entries.findIndex(({ kind }) => kind === 'outcome.recorded')
  journal.append([started, ...entries.slice(0, outcome)])
  const [before] = journal.incidents()
  before!.instances.open = 77
  expect(journal.incidents()[0]!.instances).toMatchObject({ recovered: 0, open: 3 })
  journal.append(entries.slice(outcome, outcome + 1))
  const [after] = journal.incidents()
  const outcomes = Object.values(after!.instances)
  expect([after!.instances.open, outcomes.reduce((sum, count) => sum + count, 0)]).toEqual([2, 3])
  expect(after!.lastLineAt).toBe(journal.read({ kinds: ['outcome.recorded'] })[0]!.at)
})
