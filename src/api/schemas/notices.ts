/** Answers about notices: what was sent to whom, and how each receiver stands. */
import { z } from 'zod'
import type { NoticeTestResult } from '../../domain/notice.ts'
import type { NoticeLine, ReceiverNotices } from '../../domain/notice-listing.ts'
import { noticeStates, type NoticeState } from '../../domain/notice-record.ts'
import { noticeSeverities, noticeTopics } from '../../domain/notice.ts'
import { receiverHealth } from './cloud.ts'
import { count, counts, namesOf, time } from './shared.ts'

const state = namesOf(noticeStates)

const noticeLine: z.ZodType<NoticeLine> = z
  .object({
    id: z.string().describe('The same at every try and every receiver'),
    topic: namesOf(noticeTopics),
    severity: z.enum(noticeSeverities),
    code: z.string(),
    message: z.string().describe('Empty for tenants, whose words are made of their instances'),
    host: z.string().nullable(),
    incident: z.string().nullable(),
    project: z.string().nullable(),
    state,
    attempts: count,
    queuedAt: time,
    endedAt: z.string().nullable().describe('When it was sent or given up; null while it waits'),
    detail: z.string().nullable().describe('What the receiver answered, or why it failed'),
  })
  .meta({ id: 'NoticeLine', description: 'A notice at one receiver' })

export const receiverNotices: z.ZodType<ReceiverNotices[]> = z.array(
  z
    .object({
      receiver: z.string(),
      health: receiverHealth.nullable().describe('Null: the configuration does not have it any more'),
      counts: counts(Object.keys(noticeStates) as NoticeState[]).describe('All that the filter finds among the newest'),
      notices: z.array(noticeLine).describe('The newest first'),
      more: count.describe('Older ones that are left out'),
    })
    .meta({ id: 'ReceiverNotices' }),
)

export const noticeTestResult: z.ZodType<NoticeTestResult> = z
  .object({ ok: z.boolean(), detail: z.string().describe('What the receiver answered, or why it failed') })
  .meta({ id: 'NoticeTestResult' })
