/** What scripts rely on: no field disappears or changes its type, and each is what the reference says. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliPage } from '../../src/reference/cli-reference.ts'
import type { RehearsalLine } from '../../src/rehearsal/performance.ts'
import { printedBy } from '../../src/cli/described.ts'
import { exitCodes } from '../../src/cli/exit-codes.ts'
import { bareTree, fieldContract, leaves } from '../../src/reference/cli-reference.ts'
import { anEntry, anIncident, fakeJournal, run, standingClock } from './fake-commands.ts'
import { listenForOperators } from '../../src/api/index.ts'
import type { Entry } from '../../src/domain/entry.ts'
import type { Order } from '../../src/domain/order.ts'
import { aHost, aMaintenance, aStatus, fakeOperations } from '../api/fake-operations.ts'
import { fakeReview } from '../api/fake-review.ts'
import { aSegmentStatus } from './segments.ts'

const recordFile = 'test/cli/fields.json'
type Contract = Record<string, Record<string, string>>
const recorded = JSON.parse(readFileSync(recordFile, 'utf8')) as Contract
const contract = fieldContract()

describe('fields', () => {
  it('none that was ever recorded is gone or has another type', () => {
    expect(contract).toMatchObject(recorded)
  })

  it('every one is recorded (RECORD_FIELDS=1 adds the new ones; it cannot take any away)', () => {
    if (process.env['RECORD_FIELDS'] === '1') {
      const merged = Object.fromEntries(
        Object.keys({ ...recorded, ...contract }).map((path) => [path, { ...contract[path], ...recorded[path] }]),
      )
      writeFileSync(recordFile, `${JSON.stringify(merged, null, 2)}\n`)
      return
    }
    expect(recorded).toMatchObject(contract)
  })

  it('exit codes never change', () => {
    expect(Object.fromEntries(Object.entries(exitCodes).map(([name, { code }]) => [name, code]))).toEqual({
      ok: 0,
      failed: 1,
      usage: 2,
      conflict: 3,
      daemonDown: 69,
      journal: 74,
      notActive: 75,
      noPermission: 77,
      config: 78,
      interrupted: 130,
    })
  })
})

describe('the reference page', () => {
  const page = cliPage()
  it.each(leaves(bareTree()))('has %s with its options', (path, command) => {
    const section = page.split(`\n## ${path}\n`)[1]?.split('\n## ')[0] ?? ''
    for (const { flags } of command.options) expect(section).toContain(flags.replaceAll('|', '\\|'))
    for (const { title } of printedBy(command)?.fields ?? []) expect(section).toContain(`\`${title}\``)
  })
})

const aGroup = {
  ...{ scope: 'domain:a', kind: 'domain' as const, title: 'rack a', message: 'full', also: [] },
  ...{ down: 3, allowed: 2, fleet: 6, trippedSince: '2026-01-02T03:04:05.000Z' },
  ...{ instances: 10, running: 8, uncounted: 1 },
  members: [{ host: 'cmp01', segment: 'ceph', incident: 'i-1', since: '2026-01-02T03:04:05.000Z', count: null }],
}

const aRecord = {
  id: 'u-1',
  name: 'web-7',
  projectId: 'p1',
  headline: 'It was there.',
  now: { host: null, state: null, at: '2026-01-02T03:04:19.000Z', outcome: 'left' as const, code: 'X', message: 'so' },
  stays: [],
}

describe('JSON has exactly the fields that are promised, with their types', () => {
  let daemon: { close(): Promise<void> }
  let directory = ''
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'lb-'))
    const { operations } = fakeOperations({
      heldGroups: () => [],
      status: () => ({ ...aStatus, standingOrders: [order] }),
      hosts: () => [aHost],
      maintenance: () => ({ ...aMaintenance, inForce: [order] }),
      host: () => ({
        ...aHost,
        updatedAt: null,
        disabledReason: null,
        mark: null,
        return: null,
        returnRules: aSegmentStatus.rules.return,
        incidents: [anIncident],
      }),
    })
    const review = fakeReview([], { segments: () => [aSegmentStatus], counted: () => [aGroup] })
    const socket = join(directory, 'lifeboat.sock')
    daemon = await listenForOperators({ operations, review, clock: standingClock }, socket)
  })
  afterAll(() => daemon.close())

  const commands = {
    openReader: () =>
      fakeJournal({
        read: () => [anEntry],
        instances: () => [
          {
            ...aRecord,
            ...anIncident,
            id: aRecord.id,
            incident: anIncident.id,
            outcome: 'left',
            landedOn: null,
            incidents: 1,
          },
        ],
        instance: () => aRecord,
        each: ({ kinds } = {}) => (kinds?.includes('notice.queued') === true ? told : [anEntry]),
      }),
    checkWorkflows: () =>
      Promise.resolve([{ file: 'a.yaml', name: 'a', revision: 1, digest: 'd', problems: ['a.yaml:1:1: no'] }]),
    testWorkflows: () => Promise.resolve([{ file: 'a.yaml', line: 3, name: 'n', differences: [] }]),
    rehearse: (tell: (line: RehearsalLine) => void) => {
      tell({
        ...{ since: '00:00:01.000', seq: 1, actor: 'daemon', host: 'cmp01', instance: null, text: null },
        ...{ kind: 'incident.opened', message: 'opened' },
      })
      return Promise.resolve()
    },
    importMasakari: () =>
      Promise.resolve({ from: 'lab', segments: 1, hosts: 2, yaml: 'segments: []\n', maintenance: [], notes: ['n'] }),
  }
  const argv: Record<string, string[]> = {
    check: ['check'],
    'workflow check': ['workflow', 'check'],
    'workflow test': ['workflow', 'test'],
    rehearse: ['rehearse'],
    'rehearse (document)': ['rehearse', 'host-crashes'],
    'plan (document)': ['plan', '--all'],
    'plan (document 2)': ['plan', 'cmp01', '--process'],
    status: ['status'],
    whoami: ['whoami'],
    'host list': ['host', 'list'],
    'host show': ['host', 'show', 'cmp01'],
    'segment list': ['segment', 'list'],
    'segment show': ['segment', 'show', 'ceph'],
    'incident list': ['incident', 'list'],
    'incident show (document)': ['incident', 'show', 'i-1'],
    'incident diff': ['incident', 'diff', 'i-1', 'i-2'],
    'instance show': ['instance', 'show', aRecord.name],
    'maintenance list': ['maintenance', 'list'],
    'journal list': ['journal', 'list'],
    'journal verify': ['journal', 'verify'],
    'journal move': ['journal', 'move', '--to', 'own', '--reason', 'x'],
    'brake list': ['brake', 'list'],
    'import-masakari': ['import-masakari'],
    'config show': ['config', 'show', '--origins'],
    reload: ['reload'],
    'log-level': ['log-level'],
    report: ['report'],
    'notice list': ['notice', 'list'],
  }

  it('every command that prints fields is tried here', () => {
    // plan: no instance to list here; incident show: its document is what JSON has.
    expect(Object.keys(contract).filter((path) => !(path in argv))).toEqual(['plan', 'incident show'])
  })

  it.each(Object.entries(argv))('%s', async (path, words) => {
    const config = `state_dir: ${directory}\n`
    const { out, err } = await run([...words, '-f', 'json'], commands, { config })
    expect(err).toBe('')
    const parsed = JSON.parse(out) as unknown
    const rows = (Array.isArray(parsed) ? parsed : [parsed]) as Record<string, unknown>[]
    expect(rows.length).toBeGreaterThan(0)
    for (const row of rows) {
      expect(Object.keys(row).sort()).toEqual(Object.keys(contract[path] ?? {}).sort())
      for (const [title, type] of Object.entries(contract[path] ?? {}))
        expect(`${title}: ${fits(row[title], type) ? type : JSON.stringify(row[title])}`).toBe(`${title}: ${type}`)
    }
  })
})

const told = [
  {
    ...anEntry,
    kind: 'notice.queued',
    data: {
      ...{ id: 'n1', topic: 'host-down', audience: 'operator', severity: 'critical', mode: 'armed', at: anEntry.at },
      ...{ host: 'cmp01', incident: null, segment: 'ceph', project: null, reference: null, code: 'PROVEN' },
      ...{ subject: 's', text: 't', instances: [], instanceCount: 0, receivers: ['pager'] },
    },
  } as unknown as Entry,
]

const order: Order = {
  kind: 'maintenance',
  scope: { kind: 'host', name: 'cmp01' },
  by: 'ann',
  reason: 'firmware',
  since: '2026-01-02T03:00:00.000Z',
  until: null,
  source: null,
}

function fits(value: unknown, type: string): boolean {
  if (value === null) return type.endsWith('?')
  if (type === 'any' || type === 'any?') return true
  switch (type.replace(/\?$/, '')) {
    case 'integer':
      return Number.isInteger(value)
    case 'time':
      return typeof value === 'string' && /^\d{4}-\d\d-\d\dT.*Z$/.test(value)
    case 'list of strings':
      return Array.isArray(value) && value.every((one) => typeof one === 'string')
    case 'list of objects':
      return Array.isArray(value) && value.every((one) => typeof one === 'object' && one !== null)
    case 'object':
      return typeof value === 'object' && !Array.isArray(value)
    default:
      return typeof value === type.replace(/\?$/, '')
  }
}
