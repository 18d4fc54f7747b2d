import { describe, expect, it } from 'vitest'
import { StoreTrouble } from '../../../src/journal/shared/store.ts'
import { isClosed, isDuplicate, troubleOf } from '../../../src/journal/shared/trouble.ts'

const node = { host: '192.0.2.1', port: 3306 }

/** As the driver gives it, with a text that says nothing. */
function failure(errno: number | undefined): Error {
  return Object.assign(new Error('failed'), { errno })
}

it.each([1044, 1045, 1049, 1142, 1143, 1146, 1406])('takes error %i for one that a person must mend', (errno) => {
  expect(troubleOf(failure(errno), node)).toMatchObject({ kind: 'refused', maybeDone: false })
})

it.each([1047, 1053, 1205, 1213, 1290, 1836])(
  'takes a statement with error %i for one that was not executed',
  (errno) => {
    expect(troubleOf(failure(errno), node)).toMatchObject({ kind: 'again', maybeDone: false })
  },
)

it.each([
  ['a commit that was under way as the node lost the others', 1180],
  ['a statement that was interrupted', 1317],
  ['an error that is not known', 9_999],
  ['a connection that was reset', -104],
  ['a failure of the driver', undefined],
])('takes a statement that ended with %s for one that may be done', (_what, errno) => {
  expect(troubleOf(failure(errno), node)).toMatchObject({ kind: 'again', maybeDone: true })
})

it('keeps what is known of trouble, and adds the node', () => {
  const known = new StoreTrouble('refused', 'no row', { maybeDone: false })
  const trouble = troubleOf(known, node)
  expect(trouble).toMatchObject({ kind: 'refused', maybeDone: false })
  expect(trouble.message).toContain(`${node.host}:${node.port}`)
})

it('knows a key that is there by its number alone', () => {
  expect([isDuplicate(failure(1062)), isDuplicate(failure(1213)), isDuplicate('1062')]).toEqual([true, false, false])
})

it.each([
  ['a server that does not serve', 1047, true],
  ['a server that refuses the account', 1045, true],
  ['a proxy that reaches no server', 9001, false],
  ['a connection that was refused', -111, false],
])('tells whether a server is there from what %s says', (_what, errno, answered) => {
  expect(troubleOf(troubleOf(failure(errno), node), node)).toMatchObject({ answered })
})

describe('a machine on which no server listens', () => {
  const failed = (code: string): Error => Object.assign(new Error('failed'), { code })

  it.each<[string, unknown, boolean]>([
    ['refuses the connection', failed('ECONNREFUSED'), true],
    ['refuses it at each of its addresses', new AggregateError([failed('ECONNREFUSED'), failed('ECONNREFUSED')]), true],
    ['is not known by one of two addresses', new AggregateError([failed('ECONNREFUSED'), failed('ETIMEDOUT')]), false],
    ['is not known by silence', failed('ETIMEDOUT'), false],
    ['is not known by a network that finds no way to it', failed('EHOSTUNREACH'), false],
    ['is not known where nothing went wrong', undefined, false],
  ])('%s', (_how, thrown, closed) => expect(isClosed(thrown)).toBe(closed))
})
