/** How Keystone says no. */
import type { Answer } from './exchange.ts'

export function failure(code: number, title: string, message: string): Answer {
  return { status: code, body: { error: { code, title, message } } }
}
