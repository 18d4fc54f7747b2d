/** `lifeboat status`: how Nova answers, what holds, and each receiver of notices with what a failing one said. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { listenForOperators } from '../../src/api/index.ts'
import type { ReceiverHealth } from '../../src/domain/notice.ts'
import type { DaemonStatus } from '../../src/domain/operations.ts'
import { aStatus, fakeOperations } from '../api/fake-operations.ts'
import { fakeReview } from '../api/fake-review.ts'
import { run, standingClock } from './fake-commands.ts'

const fresh: ReceiverHealth = {
  ...{ receiver: 'room', waiting: 0, takenAt: null, failingSince: null, problem: null, dead: false },
}
const at = '2026-01-02T03:04:05.000Z'
const failing: ReceiverHealth = {
  ...{ ...fresh, receiver: 'pager', waiting: 5, failingSince: at, problem: 'HTTP 503', dead: true },
}

async function status(change: Partial<DaemonStatus>, ...words: string[]): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'lb-'))
  const { operations } = fakeOperations({ status: () => ({ ...aStatus, ...change }) })
  const about = { operations, review: fakeReview([]), clock: standingClock }
  const daemon = await listenForOperators(about, join(directory, 'lifeboat.sock'))
  try {
    return (await run(['status', ...words], {}, { config: `state_dir: ${directory}\n` })).out
  } finally {
    await daemon.close()
  }
}

it('says each receiver in words', async () => {
  const said = await status({ receivers: [failing, fresh, { ...fresh, receiver: 'mail', takenAt: at }] })
  expect(said).toMatch(/pager: takes nothing since .* \(HTTP 503\), 5 notices waiting/)
  expect(said).toMatch(/room: nothing sent yet/)
  expect(said).toMatch(/mail: last took one /)
})
it('gives machines each receiver as fields', async () => {
  expect(JSON.parse(await status({ receivers: [failing] }, '-f', 'json'))).toMatchObject({ Notices: [failing] })
})
it('says that there is no receiver', async () => {
  expect(await status({ receivers: [] })).toMatch(/Notices +\S? *no receivers/)
})

const frozen = { reason: 'API_FAILED', message: 'Nova did not answer: 503', since: at }

it.each([
  ['that no order is in force', {}, /In Force +\| none +\|/],
  [
    'that Nova did not answer',
    { lastPoll: { at, ok: false, tookMs: 1_100, error: '503' } },
    /Nova did not answer: 503 \(after 1\.1 s\)/,
  ],
  ['that it answered, and how fast', { lastPoll: { at, ok: true, tookMs: 1_100, error: null } }, /answered in 1\.1 s/],
  [
    'no time while Nova is away',
    { frozen: { ...frozen, thawsAt: null } },
    /API_FAILED since .*: Nova did not answer: 503 *\|/,
  ],
  [
    'from when on verdicts move',
    { frozen: { ...frozen, thawsAt: '2026-01-02T03:12:40.000Z' } },
    /503\. Nova answers again; verdicts move from 2026-01-02 03:12:40Z/,
  ],
  [
    'the same of any other fault',
    { frozen: { ...frozen, reason: 'MASS_SILENCE', thawsAt: '2026-01-02T03:12:40.000Z' } },
    /The fault is over; verdicts move from 2026-01-02 03:12:40Z/,
  ],
] satisfies [string, Partial<DaemonStatus>, RegExp][])('says %s', async (_what, change, words) =>
  expect(await status(change)).toMatch(words),
)
