/** What `lifeboat notice test` sends: as real as can be, and marked as a test wherever people or machines look. */
import type { Notice, NoticeAudience } from '../domain/notice.ts'
import { noticeId } from './identity.ts'

/** @param about.nonce makes the id its own, so that a receiver that drops repetitions shows each test */
export function testNotice(about: {
  receiver: string
  mode: Notice['mode']
  audience: NoticeAudience
  project: string | null
  by: string
  wallMs: number
  nonce: string
}): Notice {
  const { receiver, mode, audience, project, by, wallMs, nonce } = about
  return {
    id: noticeId(nonce, 'test', project),
    topic: 'test',
    audience,
    severity: 'info',
    receivers: [receiver],
    mode,
    cause: 0,
    at: new Date(wallMs).toISOString(),
    code: 'TEST',
    message: `This is a test of receiver ${receiver}, sent by ${by}. No host failed.`,
    ...{ host: null, segment: null, incident: null, project, reference: null },
    ...(audience === 'tenant' && { instances: [], instanceCount: 0, notBack: 0 }),
  }
}
