/** `lifeboat status` names each receiver of notices, and what a failing one said. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { listenForOperators } from '../../src/api/index.ts'
import type { ReceiverHealth } from '../../src/domain/notice.ts'
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

async function status(receivers: ReceiverHealth[], ...words: string[]): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'lb-'))
  const { operations } = fakeOperations({ status: () => ({ ...aStatus, receivers }) })
  const about = { operations, review: fakeReview([]), clock: standingClock }
  const daemon = await listenForOperators(about, join(directory, 'lifeboat.sock'))
  try {
    return (await run(['status', ...words], {}, { config: `state_dir: ${directory}\n` })).out
  } finally {
    await daemon.close()
  }
}

it('in words', async () => {
  const said = await status([failing, fresh, { ...fresh, receiver: 'mail', takenAt: at }])
  expect(said).toMatch(/pager: takes nothing since .* \(HTTP 503\), 5 notices waiting/)
  expect(said).toMatch(/room: nothing sent yet/)
  expect(said).toMatch(/mail: last took one /)
})
it('as fields for machines', async () => {
  expect(JSON.parse(await status([failing], '-f', 'json'))).toMatchObject({ Notices: [failing] })
})
it('without any says so', async () => {
  expect(await status([])).toMatch(/Notices +\S? *no receivers/)
})
