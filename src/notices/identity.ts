/** The names of notices: made of what they tell of, so that the same news always has the same one. */
import { createHash } from 'node:crypto'

/**
 * Of one notice: `causeHash` is that of the journal entry, which no other journal has. 128 bits.
 *
 * @param of the project or the scope, where one entry is told of several
 */
export function noticeId(causeHash: string, topic: string, of: string | null): string {
  return digest(['notice', causeHash, topic, of ?? ''])
}

/** Ties a project's notices of one failure together. Says nothing of the host, and differs from project to project. */
export function referenceOf(causeHash: string, project: string): string {
  return digest(['reference', causeHash, project]).slice(0, 12)
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}
