/** What the notices page shows: each receiver with how it stands, and what it was sent. Words only. */
import type { Notice, ReceiverHealth } from './notice.ts'
import type { NoticeRecord, NoticeState } from './notice-record.ts'

/** One notice at one receiver. */
export interface NoticeLine
  extends
    Pick<NoticeRecord, 'state' | 'attempts' | 'queuedAt' | 'endedAt' | 'detail'>,
    Pick<Notice, 'id' | 'topic' | 'severity' | 'code' | 'message' | 'host' | 'incident' | 'project'> {}

export interface ReceiverNotices {
  receiver: string
  /** Null: the configuration does not have it any more. */
  health: ReceiverHealth | null
  /** All that the filter finds, by state. */
  counts: Partial<Record<NoticeState, number>>
  /** The newest first. */
  notices: NoticeLine[]
  /** Older ones that are left out. */
  more: number
}

export interface NoticeFilter {
  receiver?: string
  state?: NoticeState
  incident?: string
  /** Of each receiver; default 20. */
  limit?: number
}
