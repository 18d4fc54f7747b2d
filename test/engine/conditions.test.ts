/** CEL as the workflows use it: checked when it is compiled, whole numbers as whole numbers. */
import { describe, expect, it } from 'vitest'
import { Conditions } from '../../src/engine/conditions.ts'

const conditions = new Conditions(
  {
    host: {
      name: 'string',
      disks: 'int',
      share: 'double',
      tags: 'list<string>',
      sizes: 'list<int>',
      words: 'map<string, string>',
    },
  },
  { wanted: 'string' },
)
const facts = { host: { name: 'a', disks: 2, share: 0.5, tags: ['x'], sizes: [1, 2], words: { k: 'v' } }, wanted: 'w' }

function value(expression: string, given: object = { ...facts }): unknown {
  const checked = conditions.compile(expression, ['bool', 'int', 'string', 'double'])
  if ('mistake' in checked) throw new Error(checked.mistake.message)
  return checked.evaluate(given)
}

describe('a condition', () => {
  it.each([
    ['host.disks == 2', true],
    ['host.disks / 2 == 1', true],
    ['host.disks', 2n],
    ['host.share == 0.5', true],
    ['host.sizes[1] == 2', true],
    ['"x" in host.tags', true],
    ['host.tags.exists(tag, tag == "x")', true],
    ['host.words["k"]', 'v'],
    ['wanted == "w"', true],
    ['wanted == "v"', false],
  ])('%s gives %s', (expression, result) => {
    expect(value(expression)).toBe(result)
  })

  it('is asked of the facts that it is given, however often', () => {
    const other = { ...facts, host: { ...facts.host, disks: 3 } }
    expect([value('host.disks'), value('host.disks', other), value('host.disks')]).toEqual([2n, 3n, 2n])
  })

  it('does not stumble over a fact that is nothing', () => {
    expect(value('host.disks', { ...facts, other: null })).toBe(2n)
  })

  it('throws for a key that is not there', () => {
    expect(() => value('host.words["none"] == "v"')).toThrow(/none/)
  })
})

describe('a mistake', () => {
  const mistake = (expression: string, wanted = ['bool']) => {
    const checked = conditions.compile(expression, wanted)
    return 'mistake' in checked ? checked.mistake : null
  }

  it.each([
    ['host.nme == ""', /nme/, 5],
    ['nobody == ""', /nobody/, 0],
    ['host.disks ==', /EOF/, 13],
    ['host.disks == "2"', /int|string/, 0],
  ])('%s is found when it is compiled, at its place', (expression, message, offset) => {
    expect(mistake(expression)).toEqual({ message: expect.stringMatching(message), offset })
  })

  it('is also a result of another type, which has no place', () => {
    expect(mistake('host.disks')).toEqual({ message: 'it gives int, but must give bool', offset: null })
    expect(mistake('host.tags', ['int', 'string'])?.message).toBe('it gives list<string>, but must give int or string')
    expect(mistake('host.disks', ['bool', 'int'])).toBeNull()
  })

  it('is said in one line, without the expression drawn again', () => {
    expect(mistake('host.nme == ""')?.message).not.toContain('\n')
  })
})
