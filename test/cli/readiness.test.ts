/** `lifeboat plan --all`: whether each host could fail safely now. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { listenForOperators } from '../../src/api/index.ts'
import { aHostReadiness, aReadiness } from '../api/a-readiness.ts'
import { fakeOperations } from '../api/fake-operations.ts'
import { fakeReview } from '../api/fake-review.ts'
import { run, standingClock } from './fake-commands.ts'

const hosts = ['cmp10', 'cmp2'].map((host) => ({ ...aHostReadiness, host }))

async function asked(words: string[]): Promise<{ exit: number; out: string; err: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'lb-'))
  const review = fakeReview([], { readiness: () => Promise.resolve({ ...aReadiness, hosts }) })
  const { operations } = fakeOperations()
  const daemon = await listenForOperators(
    { operations, review, clock: standingClock },
    join(directory, 'lifeboat.sock'),
  )
  try {
    return await run(words, {}, { config: `state_dir: ${directory}\n` })
  } finally {
    await daemon.close()
  }
}

it('says what holds for the cloud, then each host on a line that fits a terminal, then what its codes mean', async () => {
  const { exit, out } = await asked(['plan', '--all'])
  expect(exit).toBe(0)
  expect(out.split('\n')[0]).toBe(aReadiness.sentences[0])
  expect(out).toMatch(/cmp2 [^]*cmp10 .*3 +\| +2 .*silent .*unknown .*PAUSED .*FENCING_SILENT/)
  expect(Math.max(...out.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(110)
  expect(out).toContain('FENCING_SILENT: A fencing device does not answer\n')
})

it('to a program it is the hosts alone, with everything that is known of them', async () => {
  const { out } = await asked(['plan', '--all', '-f', 'json'])
  expect(JSON.parse(out)).toMatchObject([
    { Host: 'cmp2', Left: [{ reason: 'LOCAL_DISK', names: ['web'] }], Methods: [{ method: 'bmc' }] },
    { Host: 'cmp10' },
  ])
})

it.each([[['plan']], [['plan', 'cmp01', '--all']]])(
  '%j names neither one host nor all: nothing is asked',
  async (words) => {
    expect(await asked(words)).toMatchObject({
      exit: 2,
      out: '',
      err: expect.stringContaining('name one host, or say --all'),
    })
  },
)

it('without a daemon it says so', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'lb-'))
  const { exit, err } = await run(['plan', '--all'], {}, { config: `state_dir: ${directory}\n` })
  expect([exit, err]).toEqual([69, expect.stringContaining('no daemon answers')])
})
