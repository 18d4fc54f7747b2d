/** What is valid in a configuration and dangerous all the same, said to people by the checks, each reload and the log. */
import { resolve } from 'node:path'
import type { Config } from './config.ts'
import type { EffectiveOption } from './shown-options.ts'
import { unfenceableAdvice, unfenceableHosts, unfenceableText } from './fence-coverage.ts'
import { readableByOthers } from './files.ts'
import type { MergedSource } from './merged-source.ts'
import { sharedProbes } from './probe-targets.ts'
import type { Environment } from './secrets.ts'
import { problemText, type Place } from '../formats/yaml-source.ts'

export interface ConfigWarning {
  /** With its file, and the place in it where it has one. */
  message: string
  advice: string
}

export function warningsOf(
  config: Config,
  source: MergedSource,
  options: readonly EffectiveOption[],
  files: readonly string[],
  env: Environment,
): ConfigWarning[] {
  return [
    ...openSecrets(options, files),
    ...openKeys(config),
    ...beatenVariable(config, source, env),
    ...unfenceable(config, source),
    ...lookedAtTwice(config, source),
  ]
}

/** Who sets the variable expects the journal there. */
function beatenVariable({ stateDir }: Config, source: MergedSource, env: Environment): ConfigWarning[] {
  const wanted = env['LIFEBOAT_STATE_DIR'] ?? ''
  if (source.fileOf(['state_dir']) === null || wanted === '' || resolve(wanted) === stateDir) return []
  const message = `state_dir is ${stateDir}, so $LIFEBOAT_STATE_DIR (${wanted}) counts for nothing`
  return [
    {
      message: problemText({ ...source.valueAt(['state_dir']), message }),
      advice: 'What a file says beats the variable: drop one',
    },
  ]
}

function unfenceable(config: Config, source: MergedSource): ConfigWarning[] {
  return unfenceableHosts(config).map((found) => {
    const [host = ''] = found.hosts
    const place = Object.hasOwn(config.hosts, host) ? source.keyAt(['hosts', host]) : segmentPlace(config, source, host)
    return {
      message: problemText({ ...place, message: unfenceableText(found) }),
      advice: unfenceableAdvice(host, found.gaps),
    }
  })
}

function lookedAtTwice(config: Config, source: MergedSource): ConfigWarning[] {
  return sharedProbes(config).map(({ method, target, hosts }) => {
    const last = hosts.at(-1) ?? ''
    const place = Object.hasOwn(config.hosts, last) ? source.keyAt(['hosts', last]) : source.keyAt(['probes', method])
    return {
      message: problemText({
        ...place,
        message: `probes look at ${target} for ${hosts.join(' and ')}: what it says of one is taken for the other`,
      }),
      advice: 'Give each host the address that is its own',
    }
  })
}

/** Where a segment names the host itself. */
function segmentPlace({ segments }: Config, source: MergedSource, host: string): Place {
  const index = segments.findIndex(({ match }) => match.hosts.includes(host))
  return source.valueAt(['segments', index, 'match', 'hosts', segments[index]?.match.hosts.indexOf(host) ?? 0])
}

/** Files that everybody may read and that hold a secret themselves. */
function openSecrets(options: readonly EffectiveOption[], files: readonly string[]): ConfigWarning[] {
  return files.flatMap((file) => {
    const held = options.filter(({ secret, origin }) => secret && origin.startsWith(`${file}:`))
    if (held.length === 0 || !readableByOthers(file)) return []
    const names = held.map(({ name }) => name).join(', ')
    const message = `${file}: everybody may read it, and it holds ${names} (chmod o= ${file})`
    return { message, advice: 'Take it from others, or keep the secret in a file of its own (password_file)' }
  })
}

function openKeys({ web, notices }: Config): ConfigWarning[] {
  const ofReceivers = Object.entries(notices.receivers).flatMap(([name, settings]) => {
    const client = settings.kind === 'email' ? null : settings.client
    const option = `notices.receivers.${name}.key_file`
    return client === null
      ? []
      : [{ key: client.keyFile, what: `Lifeboat's private key for ${name}`, option, as: 'Lifeboat' }]
  })
  const ofPages = web?.tls?.key
  const keys = [
    ...(ofPages === undefined
      ? []
      : [{ key: ofPages, what: 'the private key of the pages', option: 'web.tls.key', as: 'the pages' }]),
    ...ofReceivers,
  ]
  return keys
    .filter(({ key }) => readableByOthers(key))
    .map(({ key, what, option, as }) => ({
      message: `${key}: everybody may read it, and it is ${what} (${option}; chmod o= ${key})`,
      advice: `Remove the others' access: anyone who has the key can pose as ${as}`,
    }))
}
