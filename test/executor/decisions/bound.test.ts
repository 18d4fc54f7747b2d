/** Which instances elsewhere a move binds to the dead host: each of them has a line, and nothing that is long over has one. */
import { expect, it } from 'vitest'
import type { Migration } from '../../../src/domain/instance.ts'
import { findBound, type BoundRules } from '../../../src/executor/bound.ts'
import { evacuation, Stage } from './stage.ts'

const incoming = (changes: Partial<Migration>): Migration =>
  evacuation(1, { type: 'live-migration', status: 'running', sourceHost: 'other', destHost: 'dead', ...changes })

async function found(record: Migration, changes: object = {}, rules: Partial<BoundRules> = {}): Promise<number> {
  const stage = new Stage()
  stage.shows({ host: 'other', taskState: 'migrating', ...changes })
  const all: BoundRules = { since: null, isFenced: () => false, isPlanned: () => false, ...rules }
  return (await findBound(stage.run.cloud, 'dead', [record], new Set(), all, { signal: stage.run.signal })).length
}

it.each([
  { type: 'live-migration', status: 'running' },
  { type: 'migration', status: 'post-migrating' },
  { type: 'resize', status: 'migrating' },
  { type: 'evacuation', status: 'pre-migrating' },
] as const)('a move into it that has not ended: $type, $status', async (move) => {
  expect(await found(incoming(move))).toBe(1)
})

it('a record whose instance has no task is left over from a move of long ago', async () => {
  expect(await found(incoming({}), { taskState: null })).toBe(0)
})

it('a move that has ended binds nothing', async () => {
  expect(await found(incoming({ status: 'completed' }))).toBe(0)
})

it('an evacuation into it from a host that is fenced is that incident’s affair; another move is not', async () => {
  const isFenced = (host: string): boolean => host === 'other'
  expect(await found(incoming({ type: 'evacuation', status: 'pre-migrating' }), {}, { isFenced })).toBe(0)
  expect(await found(incoming({}), {}, { isFenced })).toBe(1)
})

it('what someone evacuated from it since the incident began is told of, also once it has arrived', async () => {
  const left = evacuation(1, {
    status: 'done',
    sourceHost: 'dead',
    destHost: 'other',
    createdAt: '2030-01-01T12:00:00',
  })
  const arrived = { taskState: null }
  expect(await found(left, arrived, { since: '2030-01-01T11:59:59Z' })).toBe(1)
  expect(await found(left, arrived, { since: '2030-01-01T12:00:01Z' })).toBe(0)
  expect(await found(left, arrived, { since: '2030-01-01T11:59:59Z', isPlanned: () => true })).toBe(0)
})
