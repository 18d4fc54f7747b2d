/** Look-ups of names that hang take no more than their share. */
import type { LookupFunction } from 'node:net'
import { expect, test } from 'vitest'
import { sharedLookups } from '../../src/system/name-lookups.ts'

class Names {
  readonly asked: string[] = []
  readonly #open = new Map<string, Parameters<LookupFunction>[2]>()

  look: LookupFunction = (name, _options, found) => {
    this.asked.push(name)
    this.#open.set(name, found)
  }

  answer(name: string, address: string | Error): void {
    const found = this.#open.get(name)
    this.#open.delete(name)
    if (typeof address === 'string') found?.(null, address, 4)
    else found?.(address, '', 4)
  }
}

const told = (lookup: LookupFunction, name: string, into: string[]): void =>
  lookup(name, {}, (error, address) => into.push(error?.message ?? (typeof address === 'string' ? address : '')))

test('a name is looked up once for all who ask for it meanwhile, and anew after that', () => {
  const names = new Names()
  const lookup = sharedLookups(names.look, 4)
  const into: string[] = []
  told(lookup, 'cmp01', into)
  told(lookup, 'cmp01', into)
  expect(names.asked).toEqual(['cmp01'])
  names.answer('cmp01', '192.0.2.1')
  expect(into).toEqual(['192.0.2.1', '192.0.2.1'])
  told(lookup, 'cmp01', into)
  expect(names.asked).toEqual(['cmp01', 'cmp01'])
})

test('so many names are looked up at once and no more, in the order in which they were asked for', () => {
  const names = new Names()
  const lookup = sharedLookups(names.look, 2)
  const into: string[] = []
  for (const name of ['a', 'b', 'c', 'd']) told(lookup, name, into)
  expect(names.asked).toEqual(['a', 'b'])
  names.answer('b', new Error('ENOTFOUND'))
  expect([names.asked, into]).toEqual([['a', 'b', 'c'], ['ENOTFOUND']])
  names.answer('a', '192.0.2.1')
  names.answer('c', '192.0.2.3')
  names.answer('d', '192.0.2.4')
  expect(into).toEqual(['ENOTFOUND', '192.0.2.1', '192.0.2.3', '192.0.2.4'])
})
