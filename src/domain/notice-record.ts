/** How far each notice has come at each of its receivers, folded from the journal: what people list. Pure. */
import type { Entry } from './entry.ts'
import type { DeadLetterCode, Notice } from './notice.ts'

/** Each with what it means. */
export const noticeStates = {
  waiting: 'It was not tried yet',
  retrying: 'It was tried in vain, and is tried again',
  sent: 'The receiver took it',
  dead: 'It was given up: a dead letter',
} as const
export type NoticeState = keyof typeof noticeStates

/** One notice at one receiver. */
export interface NoticeRecord {
  notice: Notice
  receiver: string
  state: NoticeState
  attempts: number
  queuedAt: string
  /** When it was sent or given up; null while it waits. */
  endedAt: string | null
  /** What the receiver said, or what went wrong last. */
  detail: string | null
  /** Why it was given up. */
  code: DeadLetterCode | null
}

/** The kinds that `noticeRecords` folds. */
export const noticeEntryKinds = ['notice.queued', 'notice.sent', 'notice.failed', 'notice.dead-lettered'] as const

/** All notices of the entries (oldest first), in the order in which they were queued. */
export function noticeRecords(entries: Iterable<Entry>): NoticeRecord[] {
  const records = new Map<string, NoticeRecord>()
  for (const entry of entries) {
    if (entry.kind === 'notice.queued') {
      for (const receiver of entry.data.receivers)
        records.set(keyOf(entry.data.id, receiver), {
          ...{ notice: entry.data, receiver, state: 'waiting', attempts: 0, queuedAt: entry.at },
          ...{ endedAt: null, detail: null, code: null },
        })
    } else if (
      entry.kind === 'notice.sent' ||
      entry.kind === 'notice.failed' ||
      entry.kind === 'notice.dead-lettered'
    ) {
      const record = records.get(keyOf(entry.data.notice, entry.data.receiver))
      if (record !== undefined) follow(record, entry)
    }
  }
  return [...records.values()]
}

function follow(
  record: NoticeRecord,
  entry: Extract<Entry, { kind: 'notice.sent' | 'notice.failed' | 'notice.dead-lettered' }>,
): void {
  switch (entry.kind) {
    case 'notice.failed':
      Object.assign(record, { state: 'retrying', attempts: entry.data.attempt, detail: entry.data.problem })
      break
    case 'notice.sent': {
      const { attempt, result } = entry.data
      Object.assign(record, { state: 'sent', attempts: attempt, detail: result, endedAt: entry.at })
      break
    }
    case 'notice.dead-lettered': {
      const { attempts, message, code } = entry.data
      Object.assign(record, { state: 'dead', attempts, detail: message, code, endedAt: entry.at })
      break
    }
  }
}

function keyOf(notice: string, receiver: string): string {
  return `${notice} ${receiver}`
}

/** The records of one receiver. */
export interface OfReceiver {
  receiver: string
  /** The oldest first. */
  records: NoticeRecord[]
  /** Older ones that are left out. */
  more: number
}

/** By receiver first: what waits for one that takes nothing must not push out the others. The newest of each, up to `limit`. */
export function byReceiver(records: readonly NoticeRecord[], limit: number): OfReceiver[] {
  return [...new Set(records.map(({ receiver }) => receiver))].map((receiver) => {
    const own = records.filter((record) => record.receiver === receiver)
    return { receiver, records: own.slice(-limit), more: Math.max(0, own.length - limit) }
  })
}
