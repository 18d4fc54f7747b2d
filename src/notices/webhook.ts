/** Webhooks: the notice as JSON, signed, with the id by which a receiver tells a second delivery. */
import type { Clock } from '../domain/clock.ts'
import type { Deliver } from './delivery.ts'
import { payload } from './payload.ts'
import type { Post } from './post.ts'
import { signature } from './signature.ts'
import type { Setting, Texts } from './texts.ts'

export function webhook(options: {
  post: Post
  clock: Clock
  /** Null: not signed. */
  secret: string | null
  texts: Texts
  setting: Setting
}): Deliver {
  const { post, clock, secret, texts, setting } = options
  return ({ notice, attempt, signal }) => {
    const body = payload(notice, texts, setting)
    const seconds = Math.floor(clock.wall() / 1000)
    const headers = {
      'idempotency-key': notice.id,
      'lifeboat-attempt': String(attempt),
      'lifeboat-timestamp': String(seconds),
      ...(secret !== null && { 'lifeboat-signature': signature(secret, seconds, body) }),
    }
    return post(body, headers, signal)
  }
}
