/** What the table of hosts says of one that has failed already. */
import { expect, it } from 'vitest'
import type { HostReadiness } from '../../src/domain/readiness.ts'
import { backText, estimateText } from '../../src/web/words/readiness.ts'

const plan = { at: '', instances: 12, back: 11, left: [], onLocalDisks: 0 }
const counted = { plan, estimateMs: 90_000, incident: null, verdict: 'healthy' } as unknown as HostReadiness

it.each([
  ['in service: what was counted', {}, ['11 of 12', '1 min 30 s']],
  [
    'down: see its incident, and no count from before',
    { verdict: 'host-down', incident: 'i' },
    ['has failed: see its incident', '–'],
  ],
  ['emptied and away: no count from before', { verdict: 'returning' }, ['out of service', '–']],
] as const)('%s', (_what, over, said) => {
  const host = { ...counted, ...over }
  expect([backText(host), estimateText(host)]).toEqual(said)
})
