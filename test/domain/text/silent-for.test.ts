/** "silent 2 min 40 s" is since the last beat until now, and not until the last verdict or since a freeze. */
import { expect, it } from 'vitest'
import { silentFor } from '../../../src/domain/text/silent-for.ts'

const at = '2026-01-02T03:00:00.000Z'
const now = Date.parse(at) + 60_000

it.each([
  ['goes on while no verdict is made', { silentMs: 20_000 }, '1 min 20 s'],
  [
    'counts from the last beat where a freeze began the silence again',
    { silentMs: 12_000, sinceBeatMs: 100_000 },
    '2 min 40 s',
  ],
])('%s', (_what, seen, text) => {
  expect(silentFor({ ...seen, at }, now)).toBe(text)
})

it('takes nothing off for a clock that is behind', () => {
  expect(silentFor({ silentMs: 20_000, at }, now - 3_600_000)).toBe('20 s')
})
