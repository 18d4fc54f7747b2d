/** Which daemon wrote when it was deposed, from looks at who acted and how much each had sent. */
import { expect, it } from 'vitest'
import { writesOfTheDeposed } from './counted-writes.ts'

/** A look: who acted, and how many writes a and b had sent by then. */
const look = (acting: string[], a: number, b: number) => ({
  acting: new Set(acting),
  sent: new Map([
    ['a', a],
    ['b', b],
  ]),
})

it('what an active daemon writes is its to write, up to its end and from its beginning', () => {
  expect(writesOfTheDeposed([look(['a'], 0, 0), look(['a'], 5, 0), look([], 7, 0), look(['b'], 7, 3)])).toEqual([])
})

it('a write of a daemon while another one is active is told', () => {
  expect(writesOfTheDeposed([look(['b'], 5, 0), look(['b'], 6, 4), look(['b'], 6, 8)])).toEqual([
    'a sent a write while b was active',
  ])
})

it('one that takes over right after a look may have written before the next', () => {
  expect(writesOfTheDeposed([look(['a'], 5, 0), look([], 5, 2), look(['b'], 5, 4)])).toEqual([])
})
