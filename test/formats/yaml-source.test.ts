/** Where everything of a YAML text stands, and what is wrong with the YAML itself. */
import { describe, expect, it } from 'vitest'
import { placeText, problemText, readYaml, type Path } from '../../src/formats/yaml-source.ts'

const text = `# a comment
plain: one
list:
  - first
  - { inner: x, "quoted key": y }
nested:
  deep:
    - a: 1
      b: "two words"
      c: 'single'
      d: >-
        folded
        text
7: number
base: &base { shared: value }
alias: *base
same: [1, 2]
empty:
`

const source = readYaml(text, 'x')
const at = (path: Path, offset?: number): string => placeText(source.valueAt(path, offset)).slice('x:'.length)

describe('a value stands', () => {
  it.each([
    ['where it begins', ['plain'], '2:8'],
    ['in a list by its number', ['list', 0], '4:5'],
    ['in a map on one line', ['list', 1, 'inner'], '5:14'],
    ['under a quoted key', ['list', 1, 'quoted key'], '5:31'],
    ['at its key, when it is a list of maps below it', ['nested', 'deep'], '7:3'],
    ['at its key, when it is a list below it', ['list'], '3:1'],
    ['at its key, when it is a map below it', ['nested'], '6:1'],
    ['where it begins, when it is a list beside its key', ['same'], '17:7'],
    ['where it begins, when it is a map in a list', ['nested', 'deep', 0], '8:7'],
    ['under a number', [7], '14:4'],
    ['through an alias, where it was written', ['alias', 'shared'], '15:23'],
    ['at the alias itself', ['alias'], '16:8'],
    ['behind its key, when it is empty', ['empty'], '18:7'],
  ] as [string, Path, string][])('%s', (_what, path, expected) => {
    expect(at(path)).toBe(expected)
    expect(source.has(path)).toBe(true)
  })

  it.each([
    ['when it is not there', ['nested', 'deep', 5, 'x'], '7:3'],
    ['when its parent is no map', ['plain', 'x'], '2:8'],
    ['when a text is asked by number', ['plain', 0], '2:8'],
    ['for a list that is asked by name', ['same', 'x'], '17:7'],
    ['which is the whole, when nothing of it is there', ['nothing'], '2:1'],
  ] as [string, Path, string][])('at the nearest thing around it, %s', (_what, path, expected) => {
    expect(at(path)).toBe(expected)
    expect(source.has(path)).toBe(false)
  })

  it('at the beginning, for the whole', () => {
    expect(at([])).toBe('2:1')
  })

  it('at the one place that an empty document has', () => {
    const empty = readYaml('', 'x')
    expect(empty.data).toBeNull()
    expect(empty.valueAt(['a'])).toEqual({ file: 'x', line: 1, col: 1 })
    expect(empty.keyAt(['a'])).toEqual({ file: 'x', line: 1, col: 1 })
  })
})

describe('a character of a value stands', () => {
  it.each([
    ['in a plain text', ['plain'], 2, '2:10'],
    ['in a double quoted one, after the quote', ['nested', 'deep', 0, 'b'], 4, '9:15'],
    ['in a single quoted one, after the quote', ['nested', 'deep', 0, 'c'], 1, '10:12'],
    ['nowhere better than the beginning of a folded one', ['nested', 'deep', 0, 'd'], 3, '11:10'],
    ['nowhere in a list', ['same'], 3, '17:7'],
    ['nowhere in a number', ['nested', 'deep', 0, 'a'], 1, '8:10'],
    ['at its first character', ['plain'], 0, '2:8'],
    ['at its first character, quoted', ['nested', 'deep', 0, 'c'], 0, '10:11'],
  ] as [string, Path, number, string][])('%s', (_what, path, offset, expected) => {
    expect(at(path, offset)).toBe(expected)
  })

  it('nowhere better than the beginning of a text that its file writes otherwise', () => {
    const escaped = readYaml('a: "x\\ty z"\nb: one\n  two\n', 'x')
    expect(escaped.valueAt(['a'], 2)).toMatchObject({ line: 1, col: 4 })
    expect(escaped.valueAt(['b'], 2)).toMatchObject({ line: 2, col: 4 })
  })
})

describe('a key stands', () => {
  it.each([
    [['nested'], '6:1'],
    [['nested', 'deep'], '7:3'],
    [['list', 1, 'quoted key'], '5:17'],
    [['7'], '14:1'],
    [['alias', 'shared'], '15:15'],
    [['nested', 'deep', 0, 'b'], '9:7'],
    [['empty'], '18:1'],
    // Not there: the nearest thing around it, by its own key where it has one.
    [['nested', 'deep', 0, 'x'], '8:7'],
    [['plain', 'x'], '2:1'],
    [['list', '0'], '3:1'],
    [['x'], '2:1'],
  ] as [Path, string][])('%j at %s', (path, expected) => {
    expect(placeText(source.keyAt(path))).toBe(`x:${expected}`)
  })
})

describe('what a text says', () => {
  it('is plain data, with aliases and merges resolved', () => {
    expect(readYaml('a: &a { x: 1 }\nb: *a\nc: { <<: *a, y: 2 }\n', 'x').data).toEqual({
      a: { x: 1 },
      b: { x: 1 },
      c: { x: 1, y: 2 },
    })
  })

  it('of passwords stays as it is written', () => {
    const written = 'a: 0123\nb: 1e5\nc: true\nd: "7"\n'
    expect(readYaml(written, 'x', { credentials: true }).data).toEqual({ a: '0123', b: '1e5', c: true, d: '7' })
    expect(readYaml(written, 'x').data).toMatchObject({ a: 123, b: 100_000 })
  })
})

describe('a text that is no good YAML', () => {
  const said = (broken: string, reading = {}): string[] => readYaml(broken, 'x', reading).problems.map(problemText)
  const bomb = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
  for (let level = 1; level < 8; level += 1)
    bomb.push(
      `a${level}: &a${level} [${Array(10)
        .fill(`*a${level - 1}`)
        .join(', ')}]`,
    )

  it.each([
    [
      'an open quote',
      'a: 1\nb: "hush\n',
      /^x:3:1: is not valid YAML: Missing closing "quote/,
      'x:3:1: is not valid YAML (MISSING_CHAR)',
    ],
    ['a tab', 'a:\n\tb: 1\n', /^x:2:1: a tab indents here/, 'x:2:1: a tab indents here (YAML takes only spaces)'],
    [
      'a second document',
      'a: 1\n---\nb: 1\n',
      /^x:2:1: a second/,
      'x:2:1: a second document begins here (one document in a file)',
    ],
    ['a key twice', 'a: 1\nb: 1\na: 2\n', /^x:3:1: this key/, 'x:3:1: this key is here twice (each key once)'],
    [
      'too many aliases',
      bomb.join('\n'),
      /^x:1:1: is not valid YAML: Excessive alias/,
      'x:1:1: is not valid YAML: an alias has no anchor, or there are too many',
    ],
  ])('is told where and why, and never quoted where it holds passwords: %s', (_what, broken, open, closed) => {
    expect(said(broken)[0]).toMatch(open)
    expect(said(broken, { credentials: true })[0]).toBe(closed)
    expect(readYaml(broken, 'x').data).toBeNull()
  })

  it('but only odd is refused where the file is ours alone', () => {
    expect(said('a: !odd 1\n')).toEqual([expect.stringMatching(/^x:1:4: is not valid YAML: Unresolved tag/)])
    expect(said('a: !odd 1\n', { credentials: true })).toEqual([])
  })
})
