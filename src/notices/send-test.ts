/** Sends a test to one receiver, beside a running daemon or in it. Nothing of it is on record. */
import { randomUUID } from 'node:crypto'
import { LifeboatError } from '../domain/errors.ts'
import type { Notice, NoticeTest, NoticeTestResult } from '../domain/notice.ts'
import type { Deliver } from './delivery.ts'
import type { NoticeRules } from './rules.ts'
import { testNotice } from './test-notice.ts'

interface TestParts {
  receivers: NoticeRules['receivers']
  /** Of a receiver that is configured. */
  deliver: (name: string) => Deliver | undefined
  mode: Notice['mode']
  wallMs: number
  signal: AbortSignal
}

/** Throws NOT_FOUND, and USAGE for a project of which this receiver is not told. */
export async function sendTest(
  { receiver: name, by, project: asked }: NoticeTest,
  { receivers, deliver, mode, wallMs, signal }: TestParts,
): Promise<NoticeTestResult> {
  const rule = receivers.get(name)
  const send = rule === undefined ? undefined : deliver(name)
  if (rule === undefined || send === undefined) {
    const there = [...receivers.keys()].join(', ') || 'none'
    throw new LifeboatError('NOT_FOUND', `No receiver "${name}" is configured (configured: ${there})`)
  }
  const { audience, projects } = rule
  if (audience === 'operator' && asked !== null)
    throw new LifeboatError('USAGE', `${name} is a receiver for operators: it has no project`)
  const project = audience === 'tenant' ? (asked ?? projects?.[0] ?? 'test') : null
  if (project !== null && asked !== null && projects?.includes(asked) === false)
    throw new LifeboatError('USAGE', `${name} gets no notices of project ${asked} (only of: ${projects.join(', ')})`)
  const notice = testNotice({ receiver: name, mode, audience, project, by, wallMs, nonce: randomUUID() })
  const ended = await send({ notice, attempt: 1, signal })
  return { ok: ended.ok, detail: ended.ok ? ended.result : ended.problem }
}
