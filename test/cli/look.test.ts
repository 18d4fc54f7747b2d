/** The options that openstackclient's users know. */
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { plainShape, renderList, renderOne, type Column, type Shape } from '../../src/cli/output/formats.ts'
import { grid } from '../../src/cli/output/table.ts'
import { cutLine, wrapLine } from '../../src/cli/output/wrap.ts'
import { anIncident, fakeJournal, run } from './fake-commands.ts'
import { FakeScreen } from './screens.ts'

interface Row {
  name: string
  count: number
  zone: string | null
}
const columns: Column<Row>[] = [
  { title: 'Name', type: 'string', means: 'n', value: (row) => row.name },
  { title: 'Count', type: 'integer', means: 'c', value: (row) => row.count },
  { title: 'Zone', type: 'string?', means: 'z', value: (row) => row.zone },
]
const rows: Row[] = [
  { name: 'cmp10', count: 9, zone: null },
  { name: 'cmp2', count: 10, zone: 'b' },
  { name: 'cmp1', count: 9, zone: 'a' },
]
const names = (shape: Partial<Shape>): string[] =>
  renderList(rows, columns, { ...plainShape, format: 'value', columns: ['Name'], ...shape })
    .trim()
    .split('\n')

describe('--sort-column', () => {
  it('sorts numbers as numbers, and names as people count', () => {
    expect(names({ sort: ['count', 'name'] })).toEqual(['cmp1', 'cmp10', 'cmp2'])
    expect(names({ sort: ['Name'] })).toEqual(['cmp1', 'cmp2', 'cmp10'])
  })
  it('descending; what has no value stays last', () => {
    expect(names({ sort: ['Zone'], descending: true })).toEqual(['cmp2', 'cmp1', 'cmp10'])
    expect(names({ sort: ['Zone'] })).toEqual(['cmp1', 'cmp2', 'cmp10'])
  })
  it('an unknown one is a slip that names those there are', () => {
    expect(() => names({ sort: ['Nmae'] })).toThrow(expect.objectContaining({ exit: 'usage' }))
  })
  it('both directions at once are a slip', async () => {
    expect((await run(['incident', 'list', '--sort-ascending', '--sort-descending'])).exit).toBe(2)
  })
  it('on the command line, by a column that is not shown', async () => {
    const incidents = () => [anIncident, { ...anIncident, id: 'i-2', instances: 1 }]
    const { out } = await run(['incident', 'list', '-f', 'value', '-c', 'ID', '--sort-column', 'Instances'], {
      openReader: () => fakeJournal({ incidents }),
    })
    expect(out).toBe('i-2\ni-1\n')
  })
})

describe('--long', () => {
  const sentence: Column<Row> = { title: 'Why', type: 'string', means: 'w', whenNamed: true, value: () => 'a sentence' }
  const shown = (shape: Partial<Shape>): string => renderList(rows, [...columns, sentence], { ...plainShape, ...shape })
  it.each<[string, Partial<Shape>, boolean]>([
    ['a table has a sentence only with it', {}, false],
    ['with it', { long: true }, true],
    ['or when the column is named', { columns: ['Why'] }, true],
    ['other formats have it anyway', { format: 'json' }, true],
  ])('%s', (_what, shape, has) => expect(shown(shape).includes('a sentence')).toBe(has))
  it('on the command line', async () => {
    const plain = await run(['incident', 'list'])
    expect(plain.out).not.toContain('Mode')
    expect((await run(['incident', 'list', '--long'])).out).toContain('Mode')
  })
})

describe('--max-width', () => {
  const wide = [['cmp01', 'a sentence that is much longer than a narrow terminal has room for', 'ok']]
  it.each([40, 50, 60, 79])('no line is wider than %i, and no word is lost', (width) => {
    const text = grid(['Host', 'Message', 'State'], wide, { maxWidth: width })
    expect(
      Math.max(
        ...text
          .trimEnd()
          .split('\n')
          .map((line) => stringWidth(line)),
      ),
    ).toBeLessThanOrEqual(width)
    const second = text
      .split('\n')
      .slice(3, -2)
      .map((line) => line.split('|')[2]?.trim())
    expect(second.filter((part) => part !== '').join(' ')).toBe(wide[0]?.[1])
  })
  it('only the widest columns shrink', () => {
    expect(grid(['Host', 'Message', 'State'], wide, { maxWidth: 50 })).toContain(
      '| cmp01 | a sentence that is much longer | ok    |',
    )
  })
  it('changes nothing where there is room', () => {
    expect(grid(['Host'], [['cmp01']], { maxWidth: 200 })).toBe(grid(['Host'], [['cmp01']]))
  })
  it('columns are never narrower than can be read', () => {
    expect(grid(['Message'], [['abcdefghijkl']], { maxWidth: 3 })).toContain('| abcdefgh |\n| ijkl     |')
  })
  it('wide characters count as two', () => {
    expect(wrapLine('计算计算', 4)).toEqual(['计算', '计算'])
    expect([cutLine('计算计算', 5), cutLine('abc', 3), cutLine('abcd', 3)]).toEqual(['计算…', 'abc', 'ab…'])
  })
  it('applies to pages too', async () => {
    const { out } = await run(['incident', 'show', 'i-1', '--max-width', '60'])
    const tables = out.split('\n').filter((line) => /^[|+]/.test(line))
    expect(Math.max(...tables.map((line) => stringWidth(line)))).toBeLessThanOrEqual(60)
  })
  const widest = async (words: string[], env: Record<string, string>, screen?: FakeScreen): Promise<number> => {
    const terminal = { screen: screen?.terminal().screen ?? null }
    const { out } = await run(['incident', 'list', ...words], {}, { env, terminal })
    return Math.max(...out.split('\n').map((line) => stringWidth(line)))
  }
  it.each<[string[], Record<string, string>]>([
    [[], {}],
    [['--fit-width'], { CLIFF_FIT_WIDTH: '0' }],
    [[], { CLIFF_FIT_WIDTH: '1' }],
    [[], { CLIFF_MAX_TERM_WIDTH: '' }],
    [['--max-width', '80'], { CLIFF_FIT_WIDTH: '0' }],
  ])('%j with %j is no wider than the terminal', async (words, env) => {
    expect(await widest(words, env, new FakeScreen(80))).toBeLessThanOrEqual(80)
  })
  it.each<[string[], Record<string, string>]>([
    [['--max-width', '0'], {}],
    [[], { CLIFF_FIT_WIDTH: '0' }],
    [[], { CLIFF_MAX_TERM_WIDTH: '0' }],
  ])('%j with %j is as wide as it takes, also on a terminal', async (words, env) => {
    expect(await widest(words, env, new FakeScreen(80))).toBeGreaterThan(85)
  })
  it('in a pipe nothing is folded unless a width is named', async () => {
    expect(await widest(['--fit-width'], {})).toBeGreaterThan(85)
    expect(await widest([], { CLIFF_MAX_TERM_WIDTH: '82' })).toBeLessThanOrEqual(82)
  })
  it('what is copied is never folded', async () => {
    const id = '20261122T092824Z-a-host-of-a-long-name'
    const openReader = () => fakeJournal({ incidents: () => [{ ...anIncident, id }] })
    const { out } = await run(['incident', 'list', '--max-width', '60'], { openReader })
    expect(out).toContain(` ${id} `)
  })
})

describe('--noindent and --quote', () => {
  const one = { name: 'a "b", c', count: 2, zone: null }
  const shaped = (shape: Partial<Shape>): string => renderOne(one, columns, { ...plainShape, ...shape })
  it('JSON on one line', () => {
    expect(shaped({ format: 'json', indent: false })).toBe('{"Name":"a \\"b\\", c","Count":2,"Zone":null}\n')
  })
  it.each([
    ['all', '"a ""b"", c","2",""'],
    ['nonnumeric', '"a ""b"", c",2,""'],
    ['minimal', '"a ""b"", c",2,'],
  ] as const)('CSV quotes %s', (quote, line) => {
    expect(shaped({ format: 'csv', quote }).split('\r\n')[1]).toBe(line)
  })
  it('what cannot be written without quotes is refused, not broken', () => {
    expect(() => shaped({ format: 'csv', quote: 'none' })).toThrow(/--quote none cannot write/)
    expect(shaped({ format: 'csv', quote: 'none', columns: ['Count'] })).toBe('Count\r\n2\r\n')
  })
  it('another mode is a slip', async () => {
    expect((await run(['incident', 'list', '--quote', 'some'])).exit).toBe(2)
  })
})
