import { expect, it } from 'vitest'
import { fenceProgress, fenceSentence, type FenceProgress } from '../../src/domain/fence-progress.ts'
import type { FenceAttempt } from '../../src/domain/fencing.ts'
import { isPerson } from '../../src/domain/person.ts'

const bmc = { method: 'bmc', position: 1, of: 3, attempts: 2 }
const ceph = { method: 'ceph', position: 2, of: 3, attempt: 1, attempts: 1 }

/** The sentence after all of these. */
function told(...attempts: FenceAttempt[]): string {
  const folded = attempts.reduce<FenceProgress | null>(fenceProgress, null)
  return folded === null ? '' : fenceSentence(folded)
}
const trying = { ...bmc, attempt: 1, phase: 'trying', message: 'Fencing' } as const
const failed = { ...bmc, attempt: 1, phase: 'failed', message: 'no answer' } as const

it.each<[string, FenceAttempt[]]>([
  ['trying bmc (1 of 3)', [trying]],
  ['fencing by bmc failed (no answer); trying bmc (1 of 3), try 2 of 2', [trying, failed, { ...trying, attempt: 2 }]],
  [
    'fencing by bmc failed (still none); trying ceph (2 of 3)',
    [failed, { ...failed, attempt: 2, message: 'still none' }, { ...ceph, phase: 'trying', message: '' }],
  ],
  ['fencing by bmc failed (no answer)', [failed]],
  [
    'fencing by bmc failed (no answer); fenced by ceph (2 of 3)',
    [failed, { ...ceph, phase: 'succeeded', message: '' }],
  ],
  ['trying old', [{ method: 'old', phase: 'trying', message: 'of an earlier release' }]],
])('says: %s', (sentence, attempts) => {
  expect(told(...attempts)).toBe(sentence)
})

it('a chain that begins again forgets what failed before, a second try of its first method does not', () => {
  expect(told(failed, trying)).toBe('trying bmc (1 of 3)')
  expect(told(failed, { ...trying, attempt: 2 })).toContain('failed')
})

it.each(['ann', 'Ann Smith', 'Łukasz', 'o', 'rooted'])('%s can be a person', (name) =>
  expect(isPerson(name)).toBe(true),
)
it.each(['', ' ', 'root', ' Root ', 'ADMIN', 'operator', 'lifeboat', 'nobody', '1000', '--'])(
  '%j is nobody who can be asked',
  (name) => expect(isPerson(name)).toBe(false),
)
