import { describe, expect, it } from 'vitest'
import { comparedText, differenceText } from '../../../src/domain/text/compared.ts'

describe('a fact of an incident', () => {
  it.each([
    ['ms', 4_200, '4.2 s'],
    ['count', 4_200, '4200'],
    ['text', 'armed', 'armed'],
    ['ms', null, '–'],
  ] as const)('in %s, %s, is said as %s', (unit, value, text) => {
    expect(comparedText({ unit }, value)).toBe(text)
  })
})

describe('how the second differs from the first', () => {
  it.each([
    ['ms', 1_000, 13_000, '12 s longer'],
    ['ms', 13_000, 1_000, '12 s shorter'],
    ['count', 0, 3, '3 more'],
    ['count', 3, 1, '2 fewer'],
  ] as const)('in %s, %d and %d: %s', (unit, first, second, text) => {
    expect(differenceText({ unit, first, second })).toBe(text)
  })

  it.each([
    ['the same', { unit: 'ms', first: 5, second: 5 }],
    ['one has none of it', { unit: 'count', first: null, second: 5 }],
    ['a text', { unit: 'text', first: 'armed', second: 'observe' }],
  ] as const)('%s: no number says it', (_name, fact) => {
    expect(differenceText(fact)).toBeNull()
  })
})
