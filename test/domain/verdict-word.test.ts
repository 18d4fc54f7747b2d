/** One host has one word on every page. */
import { expect, it } from 'vitest'
import { awayAfterIncident, beatingUnderOurFlags, verdictWord } from '../../src/domain/verdict.ts'
import { hostTone } from '../../src/domain/text/tone.ts'

it.each([
  ['away', { kind: 'returning', reason: awayAfterIncident, returning: 'away' }],
  ['away', { kind: 'returning', reason: 'WATCHED_TOO_SHORTLY' as never, returning: 'away' }],
  ['returning', { kind: 'returning', reason: beatingUnderOurFlags, returning: 'settling' }],
  ['returning', { kind: 'healthy', returning: 'proving' }],
  ['kept out', { kind: 'healthy', returning: 'kept-out' }],
  ['healthy', { kind: 'healthy', returning: null }],
  ['away or returning', { kind: 'returning' }],
] as const)('%s', (word, host) => {
  expect(verdictWord(host)).toBe(word)
})

it('a host that beats and is not back yet is not as green as a healthy one', () => {
  expect([hostTone({ verdict: 'healthy', returning: 'proving' }), hostTone({ verdict: 'healthy' })]).toEqual([
    'wait',
    'good',
  ])
})
