/**
 * Who this daemon is among others: its name, its copy, and a number that is new in each process. So a process never takes what an earlier one
 * held for its own, and the next process on the same copy knows that the earlier one cannot be alive: it holds the copy's lock.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { failureCode, journalFailure } from '../failure.ts'

/** The store's column is as wide. */
const longestName = 40

export interface Identity {
  /** What stands in the tenure. */
  holder: string
  /** Whether `holder` is an earlier process with this very copy. */
  wasUs(holder: string): boolean
}

/** Reads and counts up `<journal>.identity`, under the copy's lock. Throws JOURNAL_UNAVAILABLE. */
export function identityOf(name: string, journalPath: string): Identity {
  const path = `${journalPath}.identity`
  const { copy, process: last } = read(path)
  const number = last + 1
  try {
    writeFileSync(`${path}.new`, `${JSON.stringify({ copy, process: number })}\n`, { mode: 0o600, flush: true })
    renameSync(`${path}.new`, path)
  } catch (thrown) {
    throw journalFailure(thrown, path, "write the journal's identity to")
  }
  const stem = `${name.slice(0, longestName)}/${copy}#`
  return { holder: `${stem}${number}`, wasUs: (holder) => holder.startsWith(stem) && holder !== `${stem}${number}` }
}

/** Whether `holder` is a process with the copy at this path, whatever its name was. Throws JOURNAL_UNAVAILABLE. */
export function isOfCopy(holder: string, journalPath: string): boolean {
  return holder.includes(`/${read(`${journalPath}.identity`).copy}#`)
}

/** The name within an identity, for people. */
export function nameIn(holder: string): string {
  return holder.split('/')[0] ?? holder
}

function read(path: string): { copy: string; process: number } {
  const fresh = { copy: randomBytes(4).toString('hex'), process: 0 }
  try {
    const [, copy, number] = /^\{"copy":"([0-9a-f]{8})","process":(\d{1,9})\}\n$/.exec(readFileSync(path, 'utf8')) ?? []
    // Unreadable: a new identity only means that an earlier process of ours is waited for like any other.
    return copy === undefined ? fresh : { copy, process: Number(number) }
  } catch (thrown) {
    if (failureCode(thrown) === 'ENOENT') return fresh
    throw journalFailure(thrown, path, "read the journal's identity from")
  }
}
