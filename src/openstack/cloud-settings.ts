/**
 * Understands one cloud's raw values: openstacksdk's aliases, defaults and domain rules, then our own validation.
 *
 * Must not read files or the environment (clouds-file.ts did) and must not quote a value in an error.
 */
import { isAbsolute, join, resolve } from 'node:path'
import { LifeboatError } from '../domain/errors.ts'
import type { CloudConfig, EndpointChoice, OptionalService, ServiceKind, TlsChoice } from './cloud-config.ts'
import type { CloudChoice, RawCloud, Table } from './raw-cloud.ts'
import { identityRoot } from './catalogue.ts'
import { readCredential } from './credential-settings.ts'
import { SettingsReader } from './settings-reader.ts'

/** The prefixes of per-service keys such as `compute_endpoint_override`, openstacksdk's official name first. */
const prefixes: Record<ServiceKind | OptionalService, string[]> = {
  compute: ['compute'],
  volume: ['block_storage', 'volumev3', 'volume'],
  placement: ['placement'],
  'instance-ha': ['instance_ha', 'ha'],
}
const interfaceNames = ['public', 'internal', 'admin']

/** @throws LifeboatError CONFIG_INVALID */
export function settingsOf(raw: RawCloud, choice: CloudChoice): CloudConfig {
  const read = SettingsReader.of(raw)
  const region = chooseRegion(read, choice.region)
  const settings = region.values === null ? read : read.with(region.values)
  const timeout = settings.number('api_timeout')
  return {
    name: raw.name,
    source: raw.source,
    authUrl: authUrl(settings),
    credential: readCredential(settings),
    endpoints: {
      compute: endpointChoice(settings, 'compute', region.name),
      volume: endpointChoice(settings, 'volume', region.name),
      placement: endpointChoice(settings, 'placement', region.name),
      'instance-ha': endpointChoice(settings, 'instance-ha', region.name),
    },
    tls: tlsChoice(settings, choice),
    apiTimeoutMs: timeout === null || timeout <= 0 ? null : timeout * 1000,
  }
}

function chooseRegion(read: SettingsReader, wanted?: string): { name: string | null; values: Table | null } {
  const known = read.regions()
  const first = known[0]
  if (wanted === undefined || wanted === '') return first ?? { name: null, values: null }
  if (first === undefined) return { name: wanted, values: null }
  const found = known.find((region) => region.name === wanted)
  if (found === undefined) {
    const names = known.map((region) => region.name).join(', ')
    throw new LifeboatError('CONFIG_INVALID', `${read.where('region_name')}: region "${wanted}" is not one of ${names}`)
  }
  return found
}

function authUrl(read: SettingsReader): string {
  const text = read.auth('auth_url')
  if (text === null)
    throw read.invalid('auth_url', 'auth_url is missing: the address of Keystone, such as https://keystone:5000/v3')
  if (!/^https?:$/.test(URL.parse(text)?.protocol ?? ''))
    throw read.invalid('auth_url', 'auth_url must be an http or https address')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '')
    throw read.invalid('auth_url', 'auth_url must not hold a user or password')
  return identityRoot(url)
}

function endpointChoice(
  read: SettingsReader,
  kind: ServiceKind | OptionalService,
  region: string | null,
): EndpointChoice {
  const own = (key: string): string | null => {
    for (const prefix of prefixes[kind]) {
      const value = read.text(`${prefix}_${key}`)
      if (value !== null) return value
    }
    return null
  }
  const override = own('endpoint_override') ?? own('endpoint')
  if (override !== null && !/^https?:\/\//.test(override)) {
    throw read.invalid(
      `${prefixes[kind][0] ?? kind}_endpoint_override`,
      'an endpoint override must be an http or https address',
    )
  }
  return {
    interfaces: interfaces(read, own('interface')),
    region: own('region_name') ?? region,
    override: override?.replace(/\/+$/, '') ?? null,
  }
}

function interfaces(read: SettingsReader, own: string | null): string[] {
  const given = own === null ? read.list('interface') : own.split(',')
  const names = (given.length === 0 ? ['public'] : given).map((name) => name.trim().replace(/URL$/, ''))
  const wrong = names.find((name) => !interfaceNames.includes(name))
  if (wrong !== undefined) throw read.invalid('interface', `interface must be one of ${interfaceNames.join(', ')}`)
  return names
}

function tlsChoice(read: SettingsReader, choice: CloudChoice): TlsChoice {
  const path = (key: string): string | null => {
    const value = read.text(key)
    if (value === null) return null
    const home = choice.env['HOME']
    if (value.startsWith('~/') && home !== undefined) return join(home, value.slice(2))
    return isAbsolute(value) ? value : resolve(choice.workDir, value)
  }
  const verify = read.flag('verify', true) && !read.flag('insecure', false)
  const tls = { verify, cacert: path('cacert'), cert: path('cert'), key: path('key') }
  if (tls.key !== null && tls.cert === null)
    throw read.invalid('key', 'key needs cert: the client certificate it belongs to')
  return tls
}
