/** Keystone's token: what is asked, what comes back, how long it lives. Pure: keystone.ts sends, keeps and renews. */
import { z } from 'zod'
import { cloudTimeMs } from '../domain/cloud-time.ts'
import type { Credential, Named } from './cloud-config.ts'

const named = z.object({ id: z.string(), name: z.string() })

export const tokenAnswer = z.object({
  token: z.object({
    issued_at: z.string(),
    expires_at: z.string(),
    user: named.extend({ password_expires_at: z.string().nullish() }),
    application_credential: z.object({ id: z.string() }).nullish(),
    project: named.optional(),
    roles: z.array(z.object({ name: z.string() })).default([]),
    catalog: z
      .array(
        z.object({
          type: z.string(),
          endpoints: z.array(
            z.object({
              interface: z.string(),
              url: z.string(),
              region: z.string().nullish(),
              region_id: z.string().nullish(),
            }),
          ),
        }),
      )
      .default([]),
  }),
})

export type TokenBody = z.infer<typeof tokenAnswer>['token']
export type Catalogue = TokenBody['catalog']

export interface Token {
  /** X-Auth-Token. A secret. */
  value: string
  project: { id: string; name: string }
  user: { id: string; name: string }
  roles: string[]
  catalogue: Catalogue
  /** When the user's password ends, by the cloud's clock; null when it does not. */
  passwordExpiresAt: string | null
  /** By the cloud's clock. */
  expiresAt: string
  /** Id of the application credential that it was taken with. */
  applicationCredential: string | null
  /** On our monotonic clock. */
  renewAtMs: number
  endsAtMs: number
}

/** The destination still uses an evacuation's token minutes later (docs/nova.md §5): one about to end fails there. */
const leastLifeLeftMs = 5 * 60_000
const leastShareLeft = 0.1

/**
 * When a token is renewed and when it is over. Only the difference of Keystone's two stamps counts, laid onto our own clock
 * from the moment before we asked: no wall clock, ours or the cloud's, has to be right.
 */
export function lifeOf(body: TokenBody, askedAtMs: number): { renewAtMs: number; endsAtMs: number } | null {
  const lifeMs = cloudTimeMs(body.expires_at) - cloudTimeMs(body.issued_at)
  if (!(lifeMs > 0)) return null
  // Half at the most: a token shorter than the margin must not be renewed on every call.
  const marginMs = Math.min(Math.max(leastLifeLeftMs, lifeMs * leastShareLeft), lifeMs / 2)
  return { renewAtMs: askedAtMs + lifeMs - marginMs, endsAtMs: askedAtMs + lifeMs }
}

/** The body of POST /v3/auth/tokens; `projectId` asks for a scope other than the credential's own. */
export function loginBody(credential: Credential, projectId?: string): unknown {
  const scope = (project: Named | null): object =>
    projectId === undefined
      ? project === null
        ? {}
        : { scope: { project } }
      : { scope: { project: { id: projectId } } }
  switch (credential.kind) {
    case 'password': {
      const { user, password, project } = credential
      return {
        auth: { identity: { methods: ['password'], password: { user: { ...user, password } } }, ...scope(project) },
      }
    }
    case 'token': {
      return {
        auth: { identity: { methods: ['token'], token: { id: credential.token } }, ...scope(credential.project) },
      }
    }
    case 'application-credential': {
      const { secret } = credential
      const key =
        'id' in credential ? { id: credential.id, secret } : { name: credential.name, user: credential.user, secret }
      return { auth: { identity: { methods: ['application_credential'], application_credential: key } } }
    }
  }
}
