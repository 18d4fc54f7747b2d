/** When a person may have another daemon take over. Real daemons: test/galera/hand-over.test.ts. */
import { describe, expect, it } from 'vitest'
import { ensureError } from '../../src/domain/errors.ts'
import type { KnownDaemon, TenureView } from '../../src/domain/tenure.ts'
import { handingOver } from '../../src/operations/hand-over.ts'

const order = { by: 'ann', reason: 'new kernel' }
const daemon = (name: string, present: boolean): KnownDaemon => ({
  ...{ name, present, address: `https://${name}`, version: '1', mode: 'armed', configDigest: 'd' },
  ...{ copiedSeq: 7, goodPollAgeMs: 500, at: '2026-01-02T03:04:05.000Z' },
})
const active: TenureView = {
  ...{ state: 'active', name: 'ctl1', epoch: 3, active: { name: 'ctl1', address: 'https://ctl1' }, waits: null },
  ...{ leaseLeftMs: 5_000, staged: 0, behind: 0, daemons: [daemon('ctl1', true), daemon('ctl2', true)] },
  namesake: null,
}

const refused = (tenure: TenureView | null): { code: string; message: string } => {
  try {
    handingOver(tenure, order)
  } catch (thrown) {
    return ensureError(thrown)
  }
  throw new Error('it was not refused')
}

describe('a hand-over', () => {
  it('names those that may take over, and is on record under the name of who ordered it', () => {
    const daemons = [...active.daemons, daemon('ctl3', false), daemon('ctl4', true)]
    expect(handingOver({ ...active, daemons }, { ...order, via: { by: 'token', userId: 'u', scope: 's' } })).toEqual({
      answer: { standbys: ['ctl2', 'ctl4'] },
      entry: {
        kind: 'operator.hand-over',
        actor: 'operator:ann',
        data: { ...order, via: { by: 'token', userId: 'u', scope: 's' } },
      },
      why: expect.stringContaining('ann') as string,
    })
  })

  it('can be ordered while the lease has run out: then it waits until it is on record', () => {
    expect(handingOver({ ...active, state: 'suspended', leaseLeftMs: 0 }, order).answer.standbys).toEqual(['ctl2'])
  })

  it('can be ordered where the one that stands by has the same name', () => {
    const tenure = { ...active, daemons: [daemon('ctl1', true)], namesake: daemon('ctl1', true) }
    expect(handingOver(tenure, order).answer.standbys).toEqual(['ctl1'])
  })

  it('is refused where the journal is its own', () => expect(refused(null).code).toBe('USAGE'))

  it.each(['following', 'standby', 'taking', 'ended'] as const)(
    'is refused by one that is %s, with who is active',
    (state) => {
      const other = { name: 'ctl2', address: 'https://ctl2' }
      const { code, message } = refused({ ...active, state, leaseLeftMs: null, active: other })
      expect([code, message]).toEqual(['NOT_ACTIVE', expect.stringMatching(/ctl2 is active.*https:\/\/ctl2/)])
    },
  )

  it.each([
    ['none was ever seen', [daemon('ctl1', true)], /has never seen another/],
    ['none is heard of any more', [daemon('ctl1', true), daemon('ctl2', false)], /ctl2: not heard from lately/],
  ])('is refused when %s', (_why, daemons, words) => {
    const { code, message } = refused({ ...active, daemons })
    expect([code, message]).toEqual(['CONFLICT', expect.stringMatching(words)])
  })
})
