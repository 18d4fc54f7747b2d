/** What people read once they ordered a group of hosts past the brake: what the answer says, not what they hoped for. */
import { expect, it } from 'vitest'
import { groupOverrideText } from '../../src/domain/text/group-override.ts'

const asked = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'h7'].map((host) => ({
  ...{ host, segment: 'az1', incident: `i-${host}`, since: '2026-01-02T03:04:05.000Z' },
}))
const ids = asked.map(({ incident }) => incident)

it.each([
  [2, 2, '2 hosts of rack a are past the brake'],
  [1, 1, '1 host of rack a is past the brake'],
  [1, 2, '1 of 2 hosts of rack a is past the brake. Not let past, because rack a did not hold them any more: h2'],
  [
    1,
    7,
    '1 of 7 hosts of rack a is past the brake. Not let past, because rack a did not hold them any more: h2, h3, h4, h5, h6 and 1 more',
  ],
])('%i let past of %i', (past, of, text) => {
  const answer = { overridden: asked.slice(0, past), skipped: ids.slice(past, of) }
  expect(groupOverrideText(answer, asked.slice(0, of), 'rack a')).toBe(text)
})
