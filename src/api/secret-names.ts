/** Random names that let their holder in: how they are made, and how what they stand for is looked up. */
import { createHash, randomBytes } from 'node:crypto'

export function secretName(): string {
  return randomBytes(32).toString('base64url')
}

/** Looked up by hash: how long a comparison takes tells nothing of a name. */
export function keyOf(name: string): string {
  return createHash('sha256').update(name).digest('hex')
}
