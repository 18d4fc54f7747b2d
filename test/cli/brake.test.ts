/** `lifeboat brake`: what it holds is asked first, and only that is ordered. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { listenForOperators } from '../../src/api/index.ts'
import type { CountedGroup, GroupOverride } from '../../src/domain/brake.ts'
import { fakeOperations } from '../api/fake-operations.ts'
import { fakeReview } from '../api/fake-review.ts'
import { run, standingClock } from './fake-commands.ts'

const since = '2026-01-02T03:04:05.000Z'
const member = (host: string) => ({ host, segment: 'ceph', incident: `i-${host}`, since })
const group: CountedGroup = {
  ...{ scope: 'domain:a', kind: 'domain', title: 'rack a', message: 'full', also: [], trippedSince: since },
  ...{ down: 2, allowed: 1, fleet: 6, instances: 9, running: 8, uncounted: 1 },
  members: ['cmp01', 'cmp02'].map((host) => ({ ...member(host), count: null })),
}

const all: GroupOverride = { overridden: [member('cmp01'), member('cmp02')], skipped: [] }

async function asked(
  words: string[],
  answer = all,
): Promise<{ exit: number; out: string; err: string; orders: unknown[] }> {
  const directory = mkdtempSync(join(tmpdir(), 'lb-'))
  const orders: unknown[] = []
  const { operations } = fakeOperations({
    overrideGroup: async (order) => {
      orders.push(order)
      return answer
    },
  })
  const review = fakeReview([], { counted: () => [group] })
  const daemon = await listenForOperators(
    { operations, review, clock: standingClock },
    join(directory, 'lifeboat.sock'),
  )
  try {
    return { ...(await run(words, {}, { config: `state_dir: ${directory}\n` })), orders }
  } finally {
    await daemon.close()
  }
}

it('lists each failure with what is behind it', async () => {
  const { exit, out } = await asked(['brake', 'list'])
  expect([exit, out]).toEqual([0, expect.stringMatching(/domain:a .*cmp01 .*9, 1 host not counted yet .*\n.*cmp02/)])
})
it('lets past the hosts that the scope holds, and names them', async () => {
  const { exit, out, orders } = await asked(['brake', 'override', 'domain:a', '--reason', 'the PDU burnt'])
  expect([exit, out]).toEqual([0, '2 hosts of rack a are past the brake\nPast it now: cmp01, cmp02\n'])
  expect(orders).toMatchObject([{ scope: 'domain:a', reason: 'the PDU burnt', incidents: ['i-cmp01', 'i-cmp02'] }])
})
it('says whom it did not let past, because the scope does not hold them any more', async () => {
  const { out } = await asked(['brake', 'override', 'domain:a', '--reason', 'the PDU burnt'], {
    overridden: [member('cmp01')],
    skipped: ['i-cmp02'],
  })
  expect(out).toContain('1 of 2 hosts of rack a is past the brake. Not let past')
  expect(out).toMatch(/did not hold them any more: cmp02\nPast it now: cmp01\n$/)
})
it.each([
  ['a scope that holds nothing, or no longer', ['domain:b', '--reason', 'x'], 3],
  ['no reason', ['domain:a'], 2],
])('%s orders nothing', async (_what, words, code) => {
  const { exit, orders } = await asked(['brake', 'override', ...words])
  expect([exit, orders]).toEqual([code, []])
})
