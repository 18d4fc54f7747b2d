/** Turns the text of an answer into checked data: what does not fit is API_MALFORMED, naming the path and the expectation. */
import type { ZodType } from 'zod'
import { LifeboatError } from '../domain/errors.ts'
import type { ApiCall } from './call-table.ts'
import type { HttpAnswer } from './http-exchange.ts'

/** @throws LifeboatError API_MALFORMED; on a write its effect is unknown (anyone who answered was not the service we know) */
export function readAnswer<T>(call: ApiCall, answer: HttpAnswer, schema: ZodType<T>): T {
  let data: unknown
  try {
    data = JSON.parse(answer.text)
  } catch {
    throw malformed(call, answer, 'the answer is not JSON')
  }
  const parsed = schema.safeParse(data)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const path = issue === undefined || issue.path.length === 0 ? 'the answer' : issue.path.map(String).join('.')
  throw malformed(call, answer, `${path}: ${issue?.message ?? 'not as documented'}`)
}

export function malformed(call: ApiCall, answer: HttpAnswer, why: string): LifeboatError {
  return new LifeboatError('API_MALFORMED', `${call.method} ${call.route}: ${why}`, {
    certainty: call.write ? 'unknown' : 'not-applied',
    details: { service: call.service, status: answer.status, requestId: answer.requestId },
  })
}
