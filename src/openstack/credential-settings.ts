/**
 * Which credential a cloud's settings describe: password, application credential or token, and the project it acts in.
 *
 * Nova's administrative calls want a project-scoped token (docs/nova.md §1.1), so a password without a project is refused
 * here, at load time, and not by Nova at night.
 */
import type { Credential, Named } from './cloud-config.ts'
import type { SettingsReader } from './settings-reader.ts'

const allowed = ['password', 'v3password', 'v3applicationcredential', 'token', 'v3token']

/** @throws LifeboatError CONFIG_INVALID */
export function readCredential(read: SettingsReader): Credential {
  const type = read.text('auth_type') ?? inferred(read)
  switch (type) {
    case 'password':
    case 'v3password':
      return {
        kind: 'password',
        user: required(read, 'user'),
        password: secret(read, 'password'),
        project: required(read, 'project'),
      }
    case 'v3applicationcredential':
      return applicationCredential(read)
    case 'token':
    case 'v3token':
      return { kind: 'token', token: secret(read, 'token'), project: named(read, 'project') }
    default:
      throw read.invalid('auth_type', `auth_type must be one of ${allowed.join(', ')}`)
  }
}

/** openstacksdk's default is password; a lone token or application credential says what it is. */
function inferred(read: SettingsReader): string {
  if (read.auth('password') !== null) return 'password'
  if (read.auth('application_credential_secret') !== null) return 'v3applicationcredential'
  return read.auth('token') === null ? 'password' : 'token'
}

function applicationCredential(read: SettingsReader): Credential {
  const value = secret(read, 'application_credential_secret')
  const id = read.auth('application_credential_id')
  if (id !== null) return { kind: 'application-credential', id, secret: value }
  const name = read.auth('application_credential_name')
  if (name === null) {
    throw read.invalid(
      'application_credential_id',
      'application_credential_id is missing (or application_credential_name with a user)',
    )
  }
  return { kind: 'application-credential', name, user: required(read, 'user'), secret: value }
}

function secret(read: SettingsReader, key: string): string {
  const value = read.auth(key)
  if (value === null) throw read.invalid(key, `${key} is missing (clouds.yaml, secure.yaml or OS_${key.toUpperCase()})`)
  return value
}

function required(read: SettingsReader, what: 'user' | 'project'): Named {
  const found = named(read, what)
  if (found !== null) return found
  const name = what === 'user' ? 'username' : 'project_name'
  const why = what === 'project' ? '; the administrative calls of Nova need a project-scoped token' : ''
  throw read.invalid(name, `${name} or ${what}_id is missing${why}`)
}

function named(read: SettingsReader, what: 'user' | 'project'): Named | null {
  const id = read.auth(`${what}_id`)
  if (id !== null) return { id }
  const name = read.auth(what === 'user' ? 'username' : 'project_name')
  if (name === null) return null
  const domainId = read.auth(`${what}_domain_id`) ?? read.auth('domain_id') ?? read.auth('default_domain_id')
  if (domainId !== null) return { name, domain: { id: domainId } }
  const domainName = read.auth(`${what}_domain_name`) ?? read.auth('domain_name') ?? read.auth('default_domain_name')
  if (domainName !== null) return { name, domain: { name: domainName } }
  throw read.invalid(
    `${what}_domain_name`,
    `${what}_domain_name or ${what}_domain_id is missing beside the ${what}'s name`,
  )
}
