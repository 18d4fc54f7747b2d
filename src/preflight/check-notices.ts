/** What `lifeboat check` says of the receivers of notices: looked at, never written to. */
import { accessSync, constants } from 'node:fs'
import type { CheckLine } from './check-lines.ts'
import type { Clock } from '../domain/clock.ts'
import { ensureError } from '../domain/errors.ts'
import { reach, type ReceiverSettings } from '../notices/index.ts'
import type { Config } from '../config/index.ts'

export async function* noticeLines({ notices, path }: Config, clock: Clock): AsyncGenerator<CheckLine> {
  const receivers = Object.entries(notices.receivers)
  if (receivers.length === 0) {
    const advice = 'Name receivers under notices: who must wake up, and who owns the instances'
    yield { what: 'notices', result: 'warn', message: 'no receivers: nobody gets any notice', advice }
  }
  for (const [name, settings] of receivers) {
    const what = `notices to ${name}`
    const where = `Check notices.receivers.${name} in ${path ?? 'the configuration'}`
    try {
      const found = await look(settings, clock)
      const weak = weakness(settings)
      yield weak === null
        ? { what, result: 'ok', message: found, advice: null }
        : { what, result: 'warn', message: `${found}; ${weak.message}`, advice: weak.advice }
    } catch (thrown) {
      yield { what, result: 'fail', message: ensureError(thrown).message, advice: where }
    }
  }
}

async function look(settings: ReceiverSettings, clock: Clock): Promise<string> {
  const { audience } = settings
  if (settings.kind !== 'email') return `${settings.kind} at ${await reach(settings, clock)}, for ${audience}s`
  const [program = ''] = settings.sendmail
  // A bare name is looked for in PATH when it is run.
  if (program.includes('/')) accessSync(program, constants.X_OK)
  const to = settings.to.length > 0 ? settings.to.join(', ') : `${Object.keys(settings.toByProject).length} projects`
  return `mail by ${program} to ${to}, for ${audience}s`
}

function weakness(settings: ReceiverSettings): { message: string; advice: string } | null {
  if (settings.kind === 'email') return null
  const { protocol, hostname } = new URL(settings.url)
  const local = /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
  if (protocol === 'http:' && !local)
    return {
      message: 'not encrypted',
      advice: 'Anyone on the network path can read what is sent, a login too: use https',
    }
  if (protocol === 'https:' && !settings.verify)
    return { message: 'its certificate is not checked', advice: 'Set its CA in ca_file and remove verify: false' }
  if (settings.kind === 'webhook' && settings.secret === null)
    return { message: 'not signed', advice: 'Set a secret, so that nobody else can pose as Lifeboat' }
  return null
}
