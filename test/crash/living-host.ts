/** What the tests share that kill a daemon while it deals with a failure on a host that lives: the cloud, the deaths, and what is left on record. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Entry } from '../../src/domain/entry.ts'
import { defaultOwnerPolicy } from '../../src/engine/owner-policy.ts'
import { openJournal } from '../../src/journal/journal.ts'
import { shippedWorkflows } from '../../src/rehearsal/shipped-workflows.ts'
import { startSimulator, VirtualClock, type Simulator } from '../../src/simulator/index.ts'
import type { Death } from './mortal-daemon.ts'

export const { host: workflow } = shippedWorkflows(defaultOwnerPolicy)
export const beatMs = 10_000

/** Where a daemon lives and dies. */
export interface Place {
  clock: VirtualClock
  simulator: Simulator
  /** Of the journal. */
  path: string
}

/** Plays in a simulated cloud with a journal of its own, and cleans up. */
export async function inACloud<T>(
  options: Pick<Parameters<typeof startSimulator>[0], 'hosts' | 'timings'>,
  play: (place: Place) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'lifeboat-living-host-'))
  const clock = new VirtualClock()
  const simulator = await startSimulator({ clock, port: null, reportIntervalMs: beatMs, ...options })
  try {
    return await play({ clock, simulator, path: join(directory, 'journal.db') })
  } finally {
    await simulator.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Before each of these commits, and after it. */
export function deathsAt({ first, last }: { first: number; last: number }): Death[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index).flatMap((nth) => [
    { before: nth },
    { after: nth },
  ])
}

export interface LeftBehind {
  entries: Entry[]
  /** How each report was settled. */
  reports: string[]
  /** Where the chain breaks; null: nowhere. */
  broken: unknown
}

/** What the daemons left in the journal. */
export function onRecord({ path, clock }: Place): LeftBehind {
  const journal = openJournal(path, { clock })
  const entries = journal.read()
  const reports = entries.flatMap((entry) => (entry.kind === 'report.settled' ? [entry.data.status] : []))
  const { broken } = journal.verify()
  journal.close()
  return { entries, reports, broken }
}
