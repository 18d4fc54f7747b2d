/**
 * Calendar work (node-cron): checking the journal's chain, backing it up, a daily summary. Never liveness: polls follow each
 * other on the clock, not on the calendar.
 */
import { mkdirSync } from 'node:fs'
import { schedule, type ScheduledTask } from 'node-cron'
import { sleep, type Clock } from '../domain/clock.ts'
import { ensureError } from '../domain/errors.ts'
import type { Observer } from '../domain/observer.ts'
import { backupFile, pruneBackups } from '../journal/backup.ts'
import type { JournalWriter } from '../journal/journal.ts'
import type { IncidentStore } from '../control/incident-store.ts'
import { checkJournal } from '../control/journal-guard.ts'

/** Backups kept. Each holds the whole journal; fewer leave less time to notice that one is needed. */
const backupsKept = 7

export interface ScheduleParts {
  clock: Clock
  journal: JournalWriter
  store: IncidentStore
  observer: Observer
  backupDirectory: string
}

/** Starts the schedules; the returned function stops them. Times are the machine's local time. */
export function startSchedules(parts: ScheduleParts): () => Promise<void> {
  const tasks: ScheduledTask[] = [
    schedule(
      '17 3 * * *',
      () => guarded(parts, 'journal.check', () => checkJournal({ ...parts, pause: () => sleep(parts.clock, 1) })),
      { noOverlap: true },
    ),
    schedule('37 3 * * *', () => guarded(parts, 'journal.backup', () => backUp(parts)), { noOverlap: true }),
    schedule('0 7 * * *', () => guarded(parts, 'summary', () => summarise(parts)), { noOverlap: true }),
  ]
  return async () => {
    for (const task of tasks) await task.destroy()
  }
}

async function guarded({ observer }: ScheduleParts, event: string, work: () => Promise<void> | void): Promise<void> {
  try {
    await work()
  } catch (thrown) {
    observer.log?.('error', `${event}.failed`, {}, ensureError(thrown))
  }
}

async function backUp({ journal, clock, observer, backupDirectory }: ScheduleParts): Promise<void> {
  mkdirSync(backupDirectory, { recursive: true, mode: 0o700 })
  const file = backupFile(backupDirectory, clock.wall())
  await journal.backup(file)
  observer.log?.('info', 'journal.backed_up', { file, removed: pruneBackups(backupDirectory, backupsKept) })
}

function summarise({ store, observer, journal }: ScheduleParts): void {
  const open = store.openOfAnyKind()
  const held = open.filter((incident) => incident.held !== null)
  observer.log?.('info', 'summary', {
    message: `${open.length} ${open.length === 1 ? 'incident is' : 'incidents are'} open, ${held.length} of them held`,
    incidents: open.map(({ id, phase, held: hold }) => ({ id, phase, held: hold?.code ?? null })),
    entries: journal.head().seq,
  })
}
