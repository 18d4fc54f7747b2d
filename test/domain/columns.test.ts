/** Lists by columns: whatever is in them, they are read back as they were. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { piece, withLists } from '../../src/domain/columns.ts'

/** As it comes over the wire. */
function sent<T>(value: T): T {
  return JSON.parse(JSON.stringify(value))
}

const value = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom('[]', [], {}, '{}', 'null', null, 0, '0', -0, false, Number.NaN, undefined),
)
const alike = fc.record({ id: fc.nat(), state: fc.constantFrom('active', 'stopped'), any: value })

it('a list is read back as it was written, whether its elements are alike or not', () => {
  const list = fc.array(fc.oneof({ weight: 9, arbitrary: alike }, value), { maxLength: 40 })
  fc.assert(
    fc.property(fc.array(alike, { maxLength: 40 }), list, (lines, others) => {
      const answer = { lines: { byColumns: [piece(lines), piece(lines)] }, others: { byColumns: [piece(others)] } }
      expect(withLists(sent(answer))).toEqual(sent({ lines: [...lines, ...lines], others }))
    }),
  )
})

it('the name of a field and a value that repeats are written once', () => {
  const lines = Array.from({ length: 100 }, (_, nth) => ({ id: nth, state: 'active', notes: [] }))
  expect(piece(lines)).toEqual({
    length: 100,
    fields: {
      id: { values: Array.from({ length: 100 }, (_, nth) => nth) },
      state: { values: ['active'], at: Array(100).fill(0) },
      notes: { values: [[]], at: Array(100).fill(0) },
    },
  })
})

it('what is no list by columns is left alone', () => {
  const answer = { id: 'i-1', lines: [{ id: 1 }], held: null, verdict: { fields: {} } }
  expect(withLists(answer)).toEqual(answer)
})
