/** Between a row of the copy and a row of the shared store: the same text is hashed in both, so nothing is lost and nothing can differ. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { LifeboatError } from '../../domain/errors.ts'
import { entryText, type EntryRow } from '../chain.ts'
import type { SharedRow } from './store.ts'

const optional = z.string().nullable()

/** The array that chain.ts hashes, column by column. */
const columns = z.tuple([
  z.literal('lifeboat/1'),
  z.number().int().positive(),
  z.string(),
  z.string(),
  optional,
  optional,
  optional,
  optional,
  z.string(),
  z.string(),
  z.string(),
])

export function sharedRow(row: EntryRow): SharedRow {
  return { seq: row.seq, hash: row.hash, body: entryText(row) }
}

/** Throws JOURNAL_CORRUPT when the body is not what was hashed, or no entry of ours. */
export function entryRow({ seq, hash, body }: SharedRow): EntryRow {
  if (createHash('sha256').update(body, 'utf8').digest('hex') !== hash)
    throw damaged(seq, 'its content is not what was hashed')
  const read = columns.safeParse(asJson(body, seq))
  if (!read.success || read.data[1] !== seq) throw damaged(seq, 'it is no entry of a Lifeboat journal')
  const [, , at, actor, incident, host, instance, step, kind, data, prev_hash] = read.data
  return { seq, at, actor, incident, host, instance, step, kind, data, prev_hash, hash }
}

function asJson(body: string, seq: number): unknown {
  try {
    return JSON.parse(body)
  } catch (thrown) {
    throw damaged(seq, 'its text is not JSON', thrown)
  }
}

function damaged(seq: number, why: string, cause?: unknown): LifeboatError {
  return new LifeboatError('JOURNAL_CORRUPT', `Entry ${seq} of the shared journal is damaged: ${why}`, { cause })
}
