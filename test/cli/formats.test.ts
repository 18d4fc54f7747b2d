import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { renderList, renderOne, formats, plainShape, type Column, type Shape } from '../../src/cli/output/formats.ts'

interface Row {
  name: string
  count: number
  inner: { a: number } | null
}
const columns: Column<Row>[] = [
  { title: 'Name', type: 'string', means: 'n', value: (row) => row.name },
  { title: 'Count', type: 'integer', means: 'c', value: (row) => row.count, text: (row) => `${row.count} of them` },
  { title: 'Inner', type: 'object?', means: 'i', value: (row) => row.inner },
]
const rows: Row[] = [
  { name: 'web', count: 2, inner: { a: 1 } },
  { name: 'say "hi", 计算', count: 0, inner: null },
]
const show = (format: (typeof formats)[number], chosen: string[] = [], more: Partial<Shape> = {}) =>
  renderList(rows, columns, { ...plainShape, format, columns: chosen, ...more })

describe('lists', () => {
  it('table looks as openstackclient, wide characters counted as two', () => {
    expect(show('table')).toBe(
      [
        '+----------------+-----------+---------+',
        '| Name           | Count     | Inner   |',
        '+----------------+-----------+---------+',
        '| web            | 2 of them | {"a":1} |',
        '| say "hi", 计算 | 0 of them |         |',
        '+----------------+-----------+---------+',
        '',
      ].join('\n'),
    )
  })
  it('an empty table is its heading', () => {
    expect(renderList([], columns, { ...plainShape, columns: ['Name'] })).toBe('+------+\n| Name |\n+------+\n')
  })
  it('json has plain data under the titles', () => {
    expect(JSON.parse(show('json'))).toEqual([
      { Name: 'web', Count: 2, Inner: { a: 1 } },
      { Name: 'say "hi", 计算', Count: 0, Inner: null },
    ])
  })
  it('yaml', () =>
    expect(show('yaml', ['Name', 'Inner'])).toBe(
      '- Name: web\n  Inner:\n    a: 1\n- Name: say "hi", 计算\n  Inner: null\n',
    ))
  it('csv is quoted and doubled', () => {
    expect(show('csv')).toBe('"Name","Count","Inner"\r\n"web",2,"{""a"":1}"\r\n"say ""hi"", 计算",0,""\r\n')
  })
  it('value is one line each, without a heading', () =>
    expect(show('value', ['Name', 'Count'])).toBe('web 2\nsay "hi", 计算 0\n'))
  it('columns come in the order asked for, any case', () =>
    expect(show('value', ['count', 'NAME'])).toBe('2 web\n0 say "hi", 计算\n'))
  it('an unknown column is a usage error that lists them', () => {
    expect(() => show('json', ['Nmae'])).toThrow(
      expect.objectContaining({ exit: 'usage', hints: ['columns: Name, Count, Inner'] }),
    )
  })
})

describe('one thing', () => {
  const one = (format: (typeof formats)[number]) =>
    renderOne(rows[0]!, columns, { ...plainShape, format, columns: ['Name', 'Count'] })
  it.each([
    [
      'table',
      '+-------+-----------+\n| Field | Value     |\n+-------+-----------+\n| Name  | web       |\n| Count | 2 of them |\n+-------+-----------+\n',
    ],
    ['json', '{\n  "Name": "web",\n  "Count": 2\n}\n'],
    ['yaml', 'Name: web\nCount: 2\n'],
    ['csv', '"Name","Count"\r\n"web",2\r\n'],
    ['value', 'web\n2\n'],
  ] as const)('%s', (format, expected) => expect(one(format)).toBe(expected))
})

describe('names that tenants choose', () => {
  const named = (name: string, format: (typeof formats)[number]) =>
    renderList([{ name, count: 1, inner: null }], columns, { ...plainShape, format, columns: ['Name'] })

  it.each(formats)('never reach the terminal as control characters: %s', (format) => {
    expect(named('a\u001b[2J\u009b\u0007\u202eb', format)).not.toMatch(
      /[\u0000-\u0009\u000b\u000c\u000e-\u001f\u009b\u202e]/,
    )
  })
  it('cannot add a row to value output', () => expect(named('a\nb', 'value')).toBe('a\\x0ab\n'))
  it.each(['=cmd()', '  =cmd()', '\n=cmd()', '＝cmd()', '@SUM(1)'])('are no formulas for a spreadsheet: %j', (name) =>
    expect(named(name, 'csv')).toContain(`"'${name}"`),
  )
  it('combining marks take no room', () =>
    expect([stringWidth('e\u0301'), stringWidth('表'), stringWidth('🚒')]).toEqual([1, 2, 2]))
})
