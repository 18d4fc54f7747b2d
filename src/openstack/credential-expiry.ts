/**
 * Until when our credential is good, as far as Keystone tells: the end of a user's password comes with every token, that of
 * an application credential has to be asked for, and a token that was given to us cannot outlive itself.
 */
import { z } from 'zod'
import type { CallOptions } from '../domain/cloud.ts'
import { cloudTimeMs } from '../domain/cloud-time.ts'
import { ensureError } from '../domain/errors.ts'
import type { CredentialKind } from '../domain/observer.ts'
import { calls } from './call-table.ts'
import type { Credential } from './cloud-config.ts'
import type { Session } from './session.ts'

export interface CredentialExpiry {
  kind: CredentialKind
  /** Epoch ms, by the cloud's clock. */
  expiresAt: number
}

const applicationCredential = z.object({ application_credential: z.object({ expires_at: z.string().nullish() }) })

export type AskExpiry = (options?: CallOptions) => Promise<CredentialExpiry | null>

/** Gives null when it has no end, or when the cloud keeps it to itself. */
export function credentialExpiry(session: Session, { kind }: Credential): AskExpiry {
  let refused = false
  return async (options) => {
    const token = await session.token(undefined, options)
    if (kind === 'password') return ending('password', token.passwordExpiresAt)
    if (kind === 'token') return ending('token', token.expiresAt)
    if (token.applicationCredential === null || refused) return null
    const ids = { user: token.user.id, id: token.applicationCredential }
    try {
      const { data } = await session.read({ call: calls.applicationCredential, ids }, applicationCredential, options)
      return ending('application-credential', data.application_credential.expires_at ?? null)
    } catch (thrown) {
      const error = ensureError(thrown)
      // Access rules without this call, answered with 401: asked again each time, it would cost a good token each time.
      refused = error.code === 'AUTH_FORBIDDEN' || error.code === 'NOT_FOUND' || error.code === 'AUTH_FAILED'
      if (refused) return null
      throw error
    }
  }
}

function ending(kind: CredentialKind, at: string | null): CredentialExpiry | null {
  const expiresAt = at === null ? NaN : cloudTimeMs(at)
  return Number.isNaN(expiresAt) ? null : { kind, expiresAt }
}
