/**
 * The writer's lease: one daemon per journal. Owns `<journal>.lock`, an SQLite file that stays locked exclusively for as long
 * as the writer lives, and `<journal>.owner`, which only tells people who that is.
 *
 * The lock is the operating system's (fcntl): it goes with the process, however that ends, so a killed daemon's successor
 * starts at once and nobody ever judges by age or by pid whether a lease is stale. Nothing else in this process may open the
 * lock file: closing any descriptor of it would drop the lock. It needs a file system with working locks: no NFS.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import process from 'node:process'
import type Database from 'better-sqlite3'
import { LifeboatError } from '../domain/errors.ts'
import { openDatabase } from './database.ts'
import { failureCode, journalFailure } from './failure.ts'
import { createPrivately } from './place.ts'

export interface Lease {
  release(): void
}

interface Owner {
  pid: number
  machine: string
  since: string
}

/** Takes the lease or throws JOURNAL_UNAVAILABLE naming the process that holds it. `at`: ISO, for people. */
export function takeLease(journalPath: string, at: string): Lease {
  const lockPath = `${journalPath}.lock`
  const ownerPath = `${journalPath}.owner`
  const lock = lockExclusively(lockPath, ownerPath)
  const owner: Owner = { pid: process.pid, machine: hostname(), since: at }
  try {
    writeFileSync(`${ownerPath}.new`, `${JSON.stringify(owner)}\n`, { mode: 0o600 })
    renameSync(`${ownerPath}.new`, ownerPath)
  } catch (thrown) {
    lock.close()
    throw journalFailure(thrown, ownerPath, "write the journal owner's name to")
  }
  return {
    release: () => {
      if (!lock.open) return
      rmSync(ownerPath, { force: true })
      lock.close()
    },
  }
}

function lockExclusively(lockPath: string, ownerPath: string): Database.Database {
  let lock: Database.Database | null = null
  try {
    createPrivately(lockPath)
    // No waiting: a running daemon does not end because we wait, and a killed one holds no lock.
    lock = openDatabase(lockPath, { timeout: 0 })
    lock.pragma('journal_mode = MEMORY')
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (thrown) {
    lock?.close()
    if (failureCode(thrown) !== 'SQLITE_BUSY') throw journalFailure(thrown, lockPath, "lock the journal's")
    const owner = readOwner(ownerPath)
    const who = owner === null ? 'another process' : `process ${owner.pid} on ${owner.machine} (since ${owner.since})`
    throw new LifeboatError('JOURNAL_UNAVAILABLE', `${who} is writing this journal already: only one daemon may`, {
      cause: thrown,
      details: { path: lockPath, pid: owner?.pid ?? null, since: owner?.since ?? null },
    })
  }
}

/** Who wrote the owner file last. Null when there is none or it cannot be read: it is for people only. */
function readOwner(ownerPath: string): Owner | null {
  try {
    return JSON.parse(readFileSync(ownerPath, 'utf8')) as Owner
  } catch {
    return null
  }
}
