/**
 * A person's own login, for the command line that asks a daemon on another machine: openstacksdk's variables and files, as `openstack` reads them.
 * A token that they have is shown as it is.
 */
import { resolve } from 'node:path'
import type { Clock } from '../domain/clock.ts'
import { LifeboatError } from '../domain/errors.ts'
import type { PersonLogin, PersonLoginOrder } from '../domain/token-holder.ts'
import { loadCloudConfig } from './clouds-file.ts'
import { openSession } from './cloud-client.ts'
import type { Token } from './token.ts'

/** With one of these there is more to a login than a token. */
const others = ['OS_CLOUD', 'OS_PASSWORD', 'OS_APPLICATION_CREDENTIAL_SECRET', 'OS_AUTH_URL']

/** Throws CONFIG_INVALID when neither the variables nor a file say how to log in, or a file cannot be read. */
export function personLogin({ env, cacert, limitMs }: PersonLoginOrder, clock: Clock): PersonLogin {
  const lone = env['OS_TOKEN'] ?? ''
  if (lone !== '' && others.every((name) => (env[name] ?? '') === ''))
    return shown(lone, cacert ?? fileOf(env['OS_CACERT']))
  const config = loadCloudConfig({ env, workDir: process.cwd() })
  const trusted = cacert ?? config.tls.cacert
  if (config.credential.kind === 'token') return shown(config.credential.token, trusted)
  const tls = cacert === null ? config.tls : { ...config.tls, cacert, verify: true }
  const { keystone } = openSession({ config: { ...config, tls }, clock, observer: {}, readTimeoutMs: limitMs })
  let last: Token | null = null
  return {
    cacert: trusted,
    token: async () => (last = await keystone.token()).value,
    refused: () => {
      if (last !== null) keystone.refused(last)
      return last !== null
    },
  }
}

function shown(token: string, cacert: string | null): PersonLogin {
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new LifeboatError(
      'CONFIG_INVALID',
      'OS_TOKEN is no token: there are spaces, line breaks or foreign characters in it',
    )
  return { cacert, token: () => Promise.resolve(token), refused: () => false }
}

function fileOf(given: string | undefined): string | null {
  return given === undefined || given === '' ? null : resolve(given)
}
