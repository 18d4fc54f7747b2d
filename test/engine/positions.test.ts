/** Where a path of a YAML document stands in its text. */
import { describe, expect, it } from 'vitest'
import { LineCounter, parseDocument } from 'yaml'
import { Positions, type Path } from '../../src/engine/positions.ts'

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

function positions(source = text): Positions {
  const lines = new LineCounter()
  return new Positions(parseDocument(source, { lineCounter: lines }), lines)
}

const at = (path: Path, offset?: number): string => {
  const { line, col } = positions().value(path, offset)
  return `${line}:${col}`
}

describe('a value stands', () => {
  it.each([
    ['where it begins', ['plain'], '2:8'],
    ['in a list by its number', ['list', 0], '4:5'],
    ['in a map on one line', ['list', 1, 'inner'], '5:14'],
    ['under a quoted key', ['list', 1, 'quoted key'], '5:31'],
    ['at its key, when it is a map or a list below it', ['nested', 'deep'], '7:3'],
    ['at its key, when it is a list below it', ['list'], '3:1'],
    ['where it begins, when it is a list beside its key', ['same'], '17:7'],
    ['under a number', [7], '14:4'],
    ['through an alias, where it was written', ['alias', 'shared'], '15:23'],
    ['at the alias itself', ['alias'], '16:8'],
    ['at the nearest thing around it, when it is not there', ['nested', 'deep', 5, 'x'], '7:3'],
    ['at the nearest thing around it, when its parent is no map', ['plain', 'x'], '2:8'],
    ['at the nearest thing around it, when a text is asked by number', ['plain', 0], '2:8'],
    ['at the nearest thing around it, for a list that is asked by name', ['same', 'x'], '17:7'],
    ['at the beginning, when nothing of it is there', ['nothing'], '2:1'],
    ['at the beginning for the whole', [], '2:1'],
  ] as [string, Path, string][])('%s', (_what, path, expected) => {
    expect(at(path)).toBe(expected)
  })

  it('an empty document has one place', () => {
    expect(positions('').value(['a'])).toEqual({ line: 1, col: 1 })
    expect(positions('').key([], 'a')).toEqual({ line: 1, col: 1 })
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
    const escaped = positions('a: "x\\ty z"\nb: one\n  two\n')
    expect(escaped.value(['a'], 2)).toEqual({ line: 1, col: 4 })
    expect(escaped.value(['b'], 2)).toEqual({ line: 2, col: 4 })
  })
})

describe('a key stands', () => {
  it.each([
    [[], 'nested', '6:1'],
    [['nested'], 'deep', '7:3'],
    [['list', 1], 'quoted key', '5:17'],
    [[], '7', '14:1'],
    [['alias'], 'shared', '15:15'],
    [['nested', 'deep', 0], 'b', '9:7'],
    // Not there: the value around it.
    [['nested', 'deep', 0], 'x', '8:7'],
    [['plain'], 'x', '2:8'],
    [['list'], '0', '3:1'],
  ] as [Path, string, string][])('of %j, %s', (path, key, expected) => {
    const { line, col } = positions().key(path, key)
    expect(`${line}:${col}`).toBe(expected)
  })
})
