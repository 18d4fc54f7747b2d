/**
 * A person's own login, for the command line that asks a daemon on another machine: openstacksdk's variables and files, as `openstack` reads them.
 * A token that they have is shown as it is.
 */
import { resolve } from 'node:path'
import type { Clock } from '../domain/clock.ts'
import type { PersonLogin } from '../domain/token-holder.ts'
import { loadCloudConfig, type Environment } from './clouds-file.ts'
import { openSession } from './cloud-client.ts'
import type { Token } from './token.ts'

interface Asked {
  env: Environment
  /** A file of CAs that beats the one of the variables, for Keystone and the daemon. */
  cacert: string | null
  clock: Clock
}

/** A person waits. Shorter: a busy Keystone refuses everyone; longer: it is taken for hanging. */
const answerLimitMs = 15_000

/** With one of these there is more to a login than a token. */
const others = ['OS_CLOUD', 'OS_PASSWORD', 'OS_APPLICATION_CREDENTIAL_SECRET', 'OS_AUTH_URL']

/** Throws CONFIG_INVALID when neither the variables nor a file say how to log in, or a file cannot be read. */
export function personLogin({ env, cacert, clock }: Asked): PersonLogin {
  const lone = env['OS_TOKEN'] ?? ''
  if (lone !== '' && others.every((name) => (env[name] ?? '') === ''))
    return shown(lone, cacert ?? fileOf(env['OS_CACERT']))
  const config = loadCloudConfig({ env, workDir: process.cwd() })
  const trusted = cacert ?? config.tls.cacert
  if (config.credential.kind === 'token') return shown(config.credential.token, trusted)
  const tls = cacert === null ? config.tls : { ...config.tls, cacert, verify: true }
  const { keystone } = openSession({ config: { ...config, tls }, clock, observer: {}, readTimeoutMs: answerLimitMs })
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
  return { cacert, token: () => Promise.resolve(token), refused: () => false }
}

function fileOf(given: string | undefined): string | null {
  return given === undefined || given === '' ? null : resolve(given)
}
