/** Small journals and logs for the tests of the laws: only what a law reads stands in them. */
import type { Entry } from '../../src/domain/entry.ts'
import type { Asked } from './timeline.ts'

/** Each written one second after the one before, unless it says when (`ms`). */
export function journal(...rows: object[]): Entry[] {
  const plain = { host: 'cmp01', incident: 'inc-1', instance: null, step: null }
  return (rows as { ms?: number }[]).map(({ ms, ...row }, nth) => ({
    ...plain,
    seq: nth + 1,
    at: new Date(ms ?? (nth + 1) * 1_000).toISOString(),
    ...row,
  })) as unknown as Entry[]
}

/** Requests of ours that Nova answered with 200, unless they say otherwise. */
export function asked(...rows: object[]): Asked[] {
  const plain = { at: 0, method: 'GET', status: 200, fault: null, user: 'lifeboat', action: null, body: undefined }
  return rows.map((row) => ({ ...plain, ...row })) as unknown as Asked[]
}

export const poll = (at: number): object => ({ at, path: 'compute/v2.1/os-services' })
