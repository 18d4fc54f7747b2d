/** Colours: which words have one, that no table is drawn otherwise for it, and where there is none. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { listenForOperators } from '../../src/api/index.ts'
import { formats, plainShape, renderList, type Column } from '../../src/cli/output/formats.ts'
import { toned, type Paint } from '../../src/cli/output/words.ts'
import type { Entry } from '../../src/domain/entry.ts'
import type { HoldCode } from '../../src/domain/incident-phases.ts'
import type { IncidentDetail } from '../../src/domain/operations.ts'
import type { CheckLine } from '../../src/preflight/check-lines.ts'
import { aStatus, fakeOperations } from '../api/fake-operations.ts'
import { fakeReview } from '../api/fake-review.ts'
import { anEntry, anIncident, configFile, fakeJournal, run, standingClock } from './fake-commands.ts'
import { coloured } from './screens.ts'

interface Row {
  name: string
  state: string
}
const columns: Column<Row>[] = [
  { title: 'Name', type: 'string', means: 'n', value: (row) => row.name },
  {
    title: 'State',
    type: 'string',
    means: 's',
    value: (row) => row.state,
    text: (row) => [toned('bad', row.state), ' since then'],
  },
]
const rows: Row[] = [
  { name: 'web', state: 'failed' },
  { name: '计算', state: 'lost in the middle of a move' },
]

describe('a table', () => {
  it('has the colour on the word alone, not on what stands beside it', () => {
    const table = renderList(rows, columns, { ...plainShape, paint: coloured })
    expect(table).toContain('| \u001b[31mfailed\u001b[39m since then ')
  })

  it.each([null, 60, 40, 24])('folded to %s columns is the same with and without colours', (maxWidth) => {
    const [plain, inColours] = [undefined, coloured].map((paint) =>
      renderList(rows, columns, { ...plainShape, maxWidth, ...(paint && { paint }) }),
    )
    expect(stripVTControlCharacters(inColours ?? '')).toBe(plain)
  })

  it('no colour runs over the end of a folded line', () => {
    const lines = renderList(rows, columns, { ...plainShape, maxWidth: 24, paint: coloured }).split('\n')
    const [open, close] = ['\u001b[31m', '\u001b[39m'].map((code) => lines.map((line) => line.split(code).length - 1))
    expect(open?.filter((count) => count > 0).length).toBeGreaterThan(2)
    expect(close).toEqual(open)
  })

  it('names of tenants still cannot write to the terminal', () => {
    const evil = [{ name: 'web', state: '\u001b[2Jfine' }]
    expect(renderList(evil, columns, { ...plainShape, paint: coloured })).toContain('\u001b[31m\\x1b[2Jfine\u001b[39m')
  })

  it.each(formats.filter((format) => format !== 'table'))('%s has no colours', (format) => {
    expect(renderList(rows, columns, { ...plainShape, format, paint: coloured })).not.toContain('\u001b')
  })
})

describe('the words that say how something stands', () => {
  /** <bad failed>: what has which look. */
  const marked: Paint = (look, text) => `<${look} ${text}>`
  const held = (code: HoldCode): IncidentDetail => ({
    ...{ ...anIncident, phase: 'fencing', ended: null, outcomes: { open: 2 } },
    held: { code, message: 'why', since: anIncident.openedAt },
  })

  const of = async (words: string[], incident = anIncident): Promise<string[]> => {
    const openReader = () => fakeJournal({ incident: () => incident, incidents: () => [incident] })
    const { out } = await run(words, { openReader }, { terminal: { paint: marked } })
    return [...out.matchAll(/<(\w+ [^>]+)>/g)].map(([, found = '']) => found)
  }

  it('of a list of incidents', async () => {
    expect(await of(['incident', 'list'])).toEqual(['bad done', 'good 1 recovered', 'bad 1 stuck'])
  })
  it.each([
    ['needs a person', 'FENCE_FAILED', 'urgent held: FENCE_FAILED'],
    ['waits for something else', 'CLOUD_UNAVAILABLE', 'wait held: CLOUD_UNAVAILABLE'],
  ] as const)('of one that %s', async (_how, code, word) => {
    expect(await of(['incident', 'list'], held(code))).toEqual([word, 'live 2 open'])
  })
  it('of one incident', async () => {
    const found = await of(['incident', 'show', 'i-1'])
    expect(found).toEqual(['bad done', 'good 1 recovered', 'bad 1 stuck', 'bad stuck', 'good recovered'])
  })
  it('of the journal, as in the timeline of the pages', async () => {
    const read = () => [{ ...anEntry, kind: 'alarm.raised', data: {} } as Entry, anEntry]
    const { out } = await run(
      ['journal', 'list'],
      { openReader: () => fakeJournal({ read }) },
      { terminal: { paint: marked } },
    )
    expect([out.includes('<bad alarm.raised>'), out.includes('| incident.phase ')]).toEqual([true, true])
  })
  it('of a check', async () => {
    const check = async function* (): AsyncGenerator<CheckLine> {
      yield { what: 'fencing', result: 'fail', message: 'no answer', advice: null }
      yield { what: 'Nova', result: 'ok', message: '2.100', advice: null }
    }
    const { out } = await run(['check'], { check }, { terminal: { paint: marked } })
    expect(out).toMatch(/^<bad fail> {2}fencing: no answer\n<good ok {2}> {2}Nova: 2.100\n/)
  })
  it('of the status', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'lb-'))
    const status = { ...aStatus, incidents: { ...aStatus.incidents, held: 1 } }
    const { operations } = fakeOperations({ status: () => status })
    const about = { operations, review: fakeReview([]), clock: standingClock }
    const daemon = await listenForOperators(about, join(directory, 'lifeboat.sock'))
    try {
      const config = `state_dir: ${directory}\n`
      const { out } = await run(['status'], {}, { config, terminal: { paint: marked } })
      expect(out).toContain('<good 3 healthy>, <bad 1 host-down>')
      expect(out).toContain('<wait 1 of them held>')
    } finally {
      await daemon.close()
    }
  })
})

describe('as a process', () => {
  /** What is tested is built: `npm run build`, as `npm test` does. */
  const program = fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url))
  const green = '\u001b[32mok\u001b[39m'

  /** Its output on a terminal of its own, or in a pipe. */
  const output = (where: 'terminal' | 'pipe', env: Record<string, string>, more = ''): string => {
    const config = configFile('')
    const command = `${process.execPath} ${program} workflow check --config ${config} ${more}`
    const argv = where === 'terminal' ? ['script', '-qec', command, '/dev/null'] : ['sh', '-c', command]
    try {
      const { PATH = '' } = process.env
      const { status, stdout } = spawnSync('env', argv, {
        ...{ encoding: 'utf8', timeout: 120_000, env: { PATH, TERM: 'xterm-256color', ...env } },
      })
      expect(status).toBe(0)
      return stdout
    } finally {
      rmSync(dirname(config), { recursive: true })
    }
  }

  it.each([
    ['terminal', {}],
    ['pipe', { FORCE_COLOR: '1' }],
  ] as const)('has colours: %s with %j', (where, env) => {
    expect(output(where, env)).toContain(`| ${green} `)
  })
  it.each([
    ['pipe', {}, ''],
    ['terminal', { NO_COLOR: '1' }, ''],
    ['terminal', { TERM: 'dumb' }, ''],
    ['terminal', { FORCE_COLOR: '0' }, ''],
    ['terminal', {}, '-f json'],
  ] as const)('has none: %s with %j %s', (where, env, more) => {
    const found = output(where, env, more)
    expect(found).toMatch(/\bok\b/)
    expect(found).not.toContain('\u001b')
  })
})
