/**
 * Where a copy of a shared journal goes that holds other entries than that journal: into a directory of its own under its own name, so that
 * whatever reads a journal reads it there. Nothing is deleted here; a person does that.
 */
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { failureCode, journalFailure } from './failure.ts'
import { headPath } from './kept-head.ts'

const asideDirectory = (journalPath: string): string => join(dirname(journalPath), 'aside')

/**
 * Moves a closed journal under its lease. Gives its new path. Throws JOURNAL_UNAVAILABLE: then it stands where it was.
 *
 * @param at ISO, names the directory
 */
export function moveAside(journalPath: string, at: string): string {
  const place = join(asideDirectory(journalPath), at.replaceAll(':', '-'))
  try {
    mkdirSync(place, { recursive: true, mode: 0o700 })
    // The head first: without it a journal opens, and without its journal a head is taken for one that lost its end.
    for (const file of [headPath(journalPath), journalPath, `${journalPath}-wal`, `${journalPath}-shm`])
      if (existsSync(file)) renameSync(file, join(place, basename(file)))
  } catch (thrown) {
    throw journalFailure(thrown, journalPath, 'put aside')
  }
  return join(place, basename(journalPath))
}

/** How many copies stand aside; undefined: that cannot be read. */
export function countAside(journalPath: string): number | undefined {
  const directory = asideDirectory(journalPath)
  try {
    return readdirSync(directory).filter((name) => existsSync(join(directory, name, basename(journalPath)))).length
  } catch (thrown) {
    return failureCode(thrown) === 'ENOENT' ? 0 : undefined
  }
}
