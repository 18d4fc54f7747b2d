import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { CloudConfig } from '../../src/openstack/cloud-config.ts'
import { loadCloudConfig } from '../../src/openstack/clouds-file.ts'
import type { CloudChoice } from '../../src/openstack/raw-cloud.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'clouds-'))
})
afterEach(() => rmSync(root, { recursive: true }))

const auth =
  'auth: {auth_url: http://keystone:5000, username: u, password: hush-hush, project_name: p, domain_name: Default}'
const one = (name: string, extra = ''): string => `clouds:\n  ${name}:\n    ${auth}\n${extra}`

function write(path: string, text: string): string {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

function load(env: Record<string, string> = {}, choice: Partial<CloudChoice> = {}): CloudConfig {
  return loadCloudConfig({ env: { HOME: join(root, 'home'), ...env }, workDir: join(root, 'work'), ...choice })
}

/** Root may read everything: for a moment the test is someone else. */
function asNobody<T>(work: () => T): T {
  if (process.geteuid?.() !== 0) return work()
  chmodSync(root, 0o755)
  process.seteuid?.(65534)
  try {
    return work()
  } finally {
    process.seteuid?.(0)
  }
}

function refused(work: () => unknown): string {
  try {
    work()
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(LifeboatError)
    expect((thrown as LifeboatError).code).toBe('CONFIG_INVALID')
    expect((thrown as LifeboatError).message).not.toContain('hush-hush')
    return (thrown as LifeboatError).message
  }
  throw new Error('it should have been refused')
}

describe('which file', () => {
  it('is the one of OS_CLIENT_CONFIG_FILE, then ./clouds.yaml, then ~/.config/openstack', () => {
    const named = write('named.yaml', one('named'))
    write('work/clouds.yaml', one('local'))
    write('home/.config/openstack/clouds.yaml', one('home'))
    expect(load({ OS_CLIENT_CONFIG_FILE: named }).name).toBe('named')
    expect(load().name).toBe('local')
    expect(load({}, { workDir: join(root, 'elsewhere') }).name).toBe('home')
  })

  it('that may not be read is an error with its name: another cloud is never taken because of a mode', () => {
    const beside = join(root, 'beside')
    const closed = write('beside/clouds.yaml', one('daemon'))
    write('work/clouds.yaml', one('local'))
    chmodSync(closed, 0)
    expect(asNobody(() => refused(() => load({}, { beside })))).toMatch(
      `${closed} is there and cannot be read (EACCES): user `,
    )
    expect(asNobody(() => refused(() => load({}, { file: closed })))).toContain(`${closed} is there and cannot be read`)
    expect(asNobody(() => refused(() => load({ OS_CLIENT_CONFIG_FILE: closed })))).toContain(closed)
    const secure = write('work/secure.yaml', one('local'))
    chmodSync(secure, 0)
    expect(asNobody(() => refused(() => load()))).toContain(`${secure} is there and cannot be read`)
  })

  it('that is a pipe or a device is refused by name, wherever it was found, and not waited for', () => {
    const only = 'and no file: only a regular file, or a link to one, is read'
    mkdirSync(join(root, 'work'))
    const pipe = join(root, 'work/clouds.yaml')
    execFileSync('mkfifo', [pipe])
    expect(refused(() => load())).toMatch(new RegExp(`^${pipe} cannot be read: it is a pipe .*${only}$`))
    expect(refused(() => load({}, { file: pipe }))).toContain(`${pipe} cannot be read: it is a pipe`)
    expect(refused(() => load({ OS_CLIENT_CONFIG_FILE: '/dev/null' }))).toBe(
      `/dev/null cannot be read: it is a device or a socket, ${only}`,
    )
    const file = write('named.yaml', one('named'))
    const secure = join(root, 'work/secure.yaml')
    execFileSync('mkfifo', [secure])
    expect(refused(() => load({}, { file }))).toContain(`${secure} cannot be read: it is a pipe`)
  })

  it('that is a link to a file is read, and a directory of that name is passed over', () => {
    write('work/clouds.yaml/empty', '')
    const home = join(root, 'home/.config/openstack/clouds.yaml')
    mkdirSync(dirname(home), { recursive: true })
    symlinkSync(write('elsewhere.yaml', one('linked')), home)
    expect(load().name).toBe('linked')
  })

  it('in a folder that is closed is passed over, and the error says that nobody could look', () => {
    const beside = join(root, 'beside')
    write('beside/clouds.yaml', one('daemon'))
    chmodSync(beside, 0)
    expect(asNobody(() => refused(() => load({}, { beside })))).toContain(
      `${join(beside, 'clouds.yaml')}: its folder is closed to this user`,
    )
    write('work/clouds.yaml', one('local'))
    expect(asNobody(() => load({}, { beside }).name)).toBe('local')
    chmodSync(beside, 0o700)
  })

  it('beside lifeboat.yaml goes before all but OS_CLIENT_CONFIG_FILE: it was put there for the daemon', () => {
    const named = write('named.yaml', one('named'))
    write('beside/clouds.yaml', one('daemon'))
    write('work/clouds.yaml', one('local'))
    expect(load({}, { beside: join(root, 'beside') }).name).toBe('daemon')
    expect(load({ OS_CLIENT_CONFIG_FILE: named }, { beside: join(root, 'beside') }).name).toBe('named')
    expect(load({}, { beside: join(root, 'empty') }).name).toBe('local')
  })

  it('may be a .yml or .json, and the first that is there wins without a merge', () => {
    write('work/clouds.json', JSON.stringify({ clouds: { json: {} } }))
    write('work/clouds.yml', one('yml'))
    expect(load().name).toBe('yml')
  })

  it('missing altogether lists where was looked', () => {
    expect(refused(() => load({}, { cloud: 'lab' }))).toMatch(
      /cloud "lab" was not found; there is: none \(looked at .*work\/clouds\.yaml/,
    )
  })

  it('that is broken is named with line and column, without its text', () => {
    const file = write('work/clouds.yaml', 'clouds:\n  a: {password: "hush-hush\n')
    expect(refused(() => load())).toContain(`${file}:`)
    expect(refused(() => load())).toMatch(/:\d+:\d+: is not valid YAML \(MISSING_CHAR\)/)
  })
})

describe('secure.yaml', () => {
  it('is merged deeply over clouds.yaml', () => {
    write(
      'work/clouds.yaml',
      'clouds:\n  a:\n    auth: {auth_url: http://k/v3, user_id: u, password: old, project_id: p}\n',
    )
    write('work/secure.yaml', 'clouds:\n  a:\n    auth: {password: hush-hush}\n')
    expect(load().credential).toEqual({
      kind: 'password',
      user: { id: 'u' },
      password: 'hush-hush',
      project: { id: 'p' },
    })
  })

  it('may be named by OS_CLIENT_SECURE_FILE', () => {
    write('work/clouds.yaml', 'clouds:\n  a:\n    auth: {auth_url: http://k/v3, user_id: u, project_id: p}\n')
    const file = write('vault/s.yaml', 'clouds: {a: {auth: {password: hush-hush}}}')
    expect(load({ OS_CLIENT_SECURE_FILE: file }).credential).toMatchObject({ password: 'hush-hush' })
    expect(refused(() => load())).toMatch(/password is missing/)
  })
})

describe('which cloud', () => {
  const two = `${one('a')}  b:\n    ${auth}\n`

  it('is the configured one, then OS_CLOUD, then the only one', () => {
    write('work/clouds.yaml', two)
    expect(load({ OS_CLOUD: 'a' }).name).toBe('a')
    expect(load({ OS_CLOUD: 'a' }, { cloud: 'b' }).name).toBe('b')
    expect(refused(() => load())).toContain('choose one of a, b')
    expect(refused(() => load({ OS_CLOUD: 'c' }))).toContain('"c" was not found; there is: a, b')
  })

  it('is made of OS_* when those are all there is', () => {
    const env = {
      OS_AUTH_URL: 'https://keystone/identity',
      OS_USERNAME: 'u',
      OS_PASSWORD: 'hush-hush',
      OS_PROJECT_NAME: 'p',
      OS_USER_DOMAIN_NAME: 'ud',
      OS_PROJECT_DOMAIN_ID: 'pd',
      OS_REGION_NAME: 'R1',
      OS_INTERFACE: 'internal',
      OS_CACERT: '/ca.pem',
      OS_IDENTITY_API_VERSION: '3',
    }
    expect(load(env)).toMatchObject({
      name: 'envvars',
      source: 'environment',
      authUrl: 'https://keystone/identity/v3',
      credential: { user: { name: 'u', domain: { name: 'ud' } }, project: { name: 'p', domain: { id: 'pd' } } },
      endpoints: { compute: { region: 'R1', interfaces: ['internal'] } },
      tls: { verify: true, cacert: '/ca.pem' },
    })
    expect(refused(() => load({ ...env, OS_USERNAME: '' }))).toMatch(
      /^OS_USERNAME in the environment: username or user_id is missing/,
    )
  })

  it('is not made of variables that only choose', () => {
    write('work/clouds.yaml', one('a'))
    expect(load({ OS_REGION_NAME: 'R9', OS_TEST_PATH: 'x' }).name).toBe('a')
  })

  it('of OS_* beside a file is the default, the file is there by name', () => {
    write('work/clouds.yaml', one('a'))
    const env = { OS_AUTH_URL: 'http://k', OS_TOKEN: 't0ken-value', OS_PROJECT_ID: 'p' }
    expect(load(env).credential).toEqual({ kind: 'token', token: 't0ken-value', project: { id: 'p' } })
    expect(load({ ...env, OS_CLOUD: 'a' }).name).toBe('a')
    write('work/clouds.yaml', one('envvars'))
    expect(refused(() => load(env))).toContain('OS_CLOUD_NAME')
  })
})

describe('settings', () => {
  it.each([
    ['region_name: R1', 'R1'],
    ['region_name: [R1, R2]', 'R1'],
    ['region_name: R1,R2', 'R1'],
    ['regions: [R1, R2]', 'R1'],
    ['regions: [{name: R1, values: {interface: admin}}]', 'R1'],
    ['', null],
  ])('region from "%s"', (extra, region) => {
    write('work/clouds.yaml', one('a', `    ${extra}\n`))
    expect(load().endpoints.compute.region).toBe(region)
  })

  it('a region may be chosen among those listed, with its own values', () => {
    write('work/clouds.yaml', one('a', '    regions: [R1, {name: R2, values: {interface: admin}}]\n'))
    expect(load({}, { region: 'R2' }).endpoints.compute).toMatchObject({ region: 'R2', interfaces: ['admin'] })
    expect(refused(() => load({}, { region: 'R3' }))).toContain('region "R3" is not one of R1, R2')
  })

  it.each([
    ['', ['public']],
    ['interface: internal', ['internal']],
    ['endpoint_type: adminURL', ['admin']],
    ['interface: [internal, public]', ['internal', 'public']],
    ['compute_interface: internal', ['internal']],
  ])('interface from "%s"', (extra, interfaces) => {
    write('work/clouds.yaml', one('a', `    ${extra}\n`))
    expect(load().endpoints.compute.interfaces).toEqual(interfaces)
  })

  it('endpoints may be overridden per service', () => {
    write(
      'work/clouds.yaml',
      one('a', '    compute_endpoint_override: http://n/v2.1/\n    block-storage-endpoint-override: http://c/v3\n'),
    )
    expect(load().endpoints).toMatchObject({
      compute: { override: 'http://n/v2.1' },
      volume: { override: 'http://c/v3' },
    })
  })

  it('verify: false beats cacert, and so does insecure', () => {
    write('work/clouds.yaml', one('a', '    verify: false\n    cacert: ca.pem\n    cert: ~/c.pem\n    key: /k.pem\n'))
    expect(load().tls).toEqual({
      verify: false,
      cacert: join(root, 'work/ca.pem'),
      cert: join(root, 'home/c.pem'),
      key: '/k.pem',
    })
    write('work/clouds.yaml', one('a', '    insecure: true\n'))
    expect(load().tls.verify).toBe(false)
  })

  it('application credentials need only id and secret', () => {
    write(
      'work/clouds.yaml',
      'clouds: {a: {auth_type: v3applicationcredential, auth: {auth_url: http://k/v3, application_credential_id: i, application_credential_secret: hush-hush}}}',
    )
    expect(load().credential).toEqual({ kind: 'application-credential', id: 'i', secret: 'hush-hush' })
  })

  it.each([
    ['auth_type: v3oidcpassword', /clouds\.yaml:4:16: auth_type must be one of password, v3password/],
    ['interface: outside', /clouds\.yaml:4:16: interface must be one of public, internal, admin/],
    ['verify: perhaps', /clouds\.yaml:4:13: verify must be true or false/],
    ['key: /k.pem', /clouds\.yaml:4:10: key needs cert/],
  ])('"%s" is refused with its place and what is allowed', (extra, message) => {
    write('work/clouds.yaml', one('a', `    ${extra}\n`))
    expect(refused(() => load())).toMatch(message)
  })

  it('a password without a project is refused: Nova would refuse every call', () => {
    write('work/clouds.yaml', 'clouds: {a: {auth: {auth_url: http://k/v3, user_id: u, password: hush-hush}}}')
    expect(refused(() => load())).toContain('project_name or project_id is missing')
  })

  it('a password that looks like a number stays what was written', () => {
    write(
      'work/clouds.yaml',
      'clouds: {a: {auth: {auth_url: http://k/v3, user_id: u, password: 0123456e7, project_id: p}}}',
    )
    expect(load().credential).toMatchObject({ password: '0123456e7' })
  })
})
