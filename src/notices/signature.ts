/**
 * Signed webhooks: HMAC-SHA256 over `TIMESTAMP.BODY` with a shared secret. The time is that of the try, so that a receiver
 * can refuse what someone recorded and plays back.
 */
import { createHmac } from 'node:crypto'

/** Value of Lifeboat-Signature. `seconds`: since the epoch, as in Lifeboat-Timestamp. */
export function signature(secret: string, seconds: number, body: string): string {
  return `v1=${createHmac('sha256', secret).update(`${seconds}.${body}`, 'utf8').digest('hex')}`
}
