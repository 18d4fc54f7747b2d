/** Row 8: the journal by itself: one append on this disk, and reading a long one: verify, fold, open. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock as clock } from '../../dist/system/system-clock.js'
import { foldIncidents } from '../../dist/domain/incident.js'
import { openJournal } from '../../dist/journal/journal.js'
import { percentile } from '../figures.mjs'
import { figure } from '../targets.mjs'

const entriesWanted = 100_000

/** Entries of one transaction while the journal is filled. The single appends are measured afterwards, one by one. */
const batch = 500

/** @param options { appends } */
export function journalRows({ appends }) {
  const directory = mkdtempSync(join(tmpdir(), 'lifeboat-bench-'))
  const path = join(directory, 'journal.db')
  try {
    let journal = openJournal(path, { clock })
    fill(journal)
    const single = Array.from({ length: appends }, (_, n) => timed(() => journal.append([step('alone', n)])).tookMs)
    const verified = timed(() => journal.verify())
    if (verified.result.broken !== null) throw new Error('the journal does not verify')
    const folded = timed(() => foldIncidents(journal.each()))
    journal.close()
    const opened = timed(() => openJournal(path, { clock }))
    journal = opened.result
    journal.close()
    const { entries } = verified.result
    const perSecond = ({ tookMs }) => `${Math.round(entries / tookMs)},000 entries/s`
    const base = { row: '8', where: 'this disk', unit: 'ms', digits: 2 }
    const note = `p50 ${percentile(single, 0.5).toFixed(2)} ms of ${appends}, each synced to disk before it returns`
    return [
      figure({ ...base, what: 'one journal append, p99', value: percentile(single, 0.99), note }),
      figure({
        ...base,
        what: 'verify 100,000 entries',
        value: verified.tookMs,
        digits: 0,
        note: `${perSecond(verified)}; ${(statSync(path).size / 2 ** 20).toFixed(0)} MiB on disk`,
      }),
      figure({ ...base, what: 'fold 100,000 entries', value: folded.tookMs, digits: 0, note: perSecond(folded) }),
      figure({ ...base, what: 'open a journal of 100,000 entries', value: opened.tookMs, digits: 0 }),
    ]
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Incidents of 100 instances, three rows a step and an outcome each, as a recovery writes them. */
function fill(journal) {
  const pending = []
  const write = (...entries) => {
    pending.push(...entries)
    if (pending.length >= batch) journal.append(pending.splice(0))
  }
  for (let written = 0, n = 0; written < entriesWanted; n++) {
    const incident = `20260101T000000Z-cmp${n}`
    const base = { incident, host: `cmp${n}` }
    write({ kind: 'incident.opened', ...base, data: { ...opened } })
    written++
    for (let i = 0; i < 100; i++, written += 5) {
      const at = { ...base, instance: randomUUID() }
      write(
        { kind: 'plan.made', ...at, data: plan(at.instance) },
        step(incident, 1, at),
        { kind: 'step.issued', ...at, step: '0.evacuate.evacuate.1', data: { requestId: `req-${randomUUID()}` } },
        { kind: 'step.confirmed', ...at, step: '0.evacuate.evacuate.1', data: { result: { host: 'cmp02' } } },
        {
          kind: 'outcome.recorded',
          ...at,
          data: { outcome: 'recovered', code: 'RUNNING', message: 'ok', after: null },
        },
      )
    }
  }
  if (pending.length > 0) journal.append(pending)
}

const opened = {
  verdict: null,
  segment: 'default',
  failure: 'host',
  mode: 'armed',
  openedBy: 'daemon',
  workflowDigest: '',
}

function step(incident, attempt, at = {}) {
  const before = { vmState: 'active', taskState: null, powerState: 1, host: 'cmp01', spentEvacuations: [] }
  const request = { landing: 'as-before', asProject: null, fencedBy: 'bmc' }
  const data = { kind: 'evacuate', attempt, before, request }
  return { kind: 'step.intended', incident, ...at, step: `0.evacuate.evacuate.${attempt}`, data }
}

/** About a kilobyte, as a plan has. */
function plan(instanceId) {
  const steps = [{ id: 'evacuate', do: 'evacuate', landing: 'as-before', deadlineMs: 600_000 }]
  const recipes = {
    evacuate: { name: 'evacuate', steps, finally: [] },
    again: { name: 'again', steps, finally: steps },
  }
  const original = {
    instance: { id: instanceId, name: 'app', metadata: {}, tags: [] },
    wanted: 'running',
    resize: null,
  }
  const decision = {
    decision: 'recover',
    reason: 'RUNNING',
    message: 'it ran',
    recipe: 'evacuate',
    expected: 'running',
  }
  const rest = { asProject: null, priority: 0, exclusive: null, debts: [], notes: [] }
  return { instanceId, name: 'app', projectId: randomUUID(), rule: 'running', original, recipes, ...decision, ...rest }
}

function timed(work) {
  const began = performance.now()
  const result = work()
  return { result, tookMs: performance.now() - began }
}
