/** Whether Keystone's federation has what a login by single sign-on needs. Only `lifeboat check` asks. */
import { z } from 'zod'
import type { CallOptions } from '../domain/cloud.ts'
import { ensureError } from '../domain/errors.ts'
import type { SsoWay } from '../domain/token-holder.ts'
import { calls } from './call-table.ts'
import type { Session } from './session.ts'

const providersAnswer = z.object({ identity_providers: z.array(z.object({ id: z.string() })) })

/**
 * Whether the protocol belongs to the identity provider, or to any where none is named. Throws AUTH_FORBIDDEN where the policy
 * does not let us look.
 */
export async function knowsProtocol(
  session: Session,
  { protocol, identityProvider }: SsoWay,
  options?: CallOptions,
): Promise<boolean> {
  const providers = identityProvider === null ? await identityProviders(session, options) : [identityProvider]
  for (const provider of providers) if (await has(session, { provider, protocol }, options)) return true
  return false
}

async function identityProviders(session: Session, options?: CallOptions): Promise<string[]> {
  const { data } = await session.read({ call: calls.listIdentityProviders }, providersAnswer, options)
  return data.identity_providers.map(({ id }) => id)
}

async function has(
  session: Session,
  ids: { provider: string; protocol: string },
  options?: CallOptions,
): Promise<boolean> {
  try {
    await session.send({ call: calls.federationProtocol, ids }, options)
    return true
  } catch (thrown) {
    if (ensureError(thrown).code === 'NOT_FOUND') return false
    throw thrown
  }
}
