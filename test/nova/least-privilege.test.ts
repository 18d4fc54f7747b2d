/**
 * What docs/install.md recommends, on a real Nova: Lifeboat with an application credential whose access rules are exactly those
 * of config/openstack/access-rules.json, and Lifeboat as a role of its own by config/openstack/nova-policy.yaml. Each must be
 * enough for `check` and a whole recovery, and each must be no more than that.
 *
 * Enforced by the lab's keystonemiddleware (Nova and Placement) and oslo.policy (Nova). Its Cinder is a stand-in that asks nobody.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { authenticate, identify, nova, tokenFor } from '../contract/cloud-under-test.ts'
import { DaemonProcess } from './daemon-process.ts'
import { keystone, userWithRole } from './keystone.ts'
import { lab, labAccess, labIdentityUrl } from './lab.ts'
import { LabStage, outcomeOf } from './stage.ts'

const admin = { username: 'admin', password: 'lab', project: 'admin' }
const password = 'rather-secret'
const { username, region_name, project_name, user_domain_name, project_domain_name } = labAccess
let stage: LabStage
let daemon: DaemonProcess | null = null

beforeAll(async () => {
  stage = await LabStage.open('least')
})
afterEach(async () => {
  await daemon?.stop()
  daemon = null
  await lab('policy')
  await stage.tidy()
  stage.freshDaemon()
})
afterAll(() => stage.close())

it('an application credential with exactly our access rules checks, recovers, and may nothing else', async () => {
  const secret = await applicationCredential()
  const clouds = cloudsFile('rules', {
    auth_type: 'v3applicationcredential',
    auth: { auth_url: labIdentityUrl, ...secret },
  })
  await recovers(clouds)
  const identity = {
    methods: ['application_credential'],
    application_credential: { id: secret.application_credential_id, secret: secret.application_credential_secret },
  }
  const token = (await identify(stage.cloud, identity)).headers.get('x-subject-token')
  expect((await asked('GET', '/os-services', token)).status).toBe(200)
  expect((await asked('GET', '/os-keypairs', token)).status).toBe(401)
  expect((await asked('DELETE', '/servers/00000000-0000-0000-0000-000000000000', token)).status).toBe(401)
})

it('a role of its own checks, recovers, and may nothing else', async () => {
  const account = { username: 'lifeboat', password, project: project_name }
  await userWithRole(await tokenFor(stage.cloud, admin), account, 'lifeboat')
  await lab('policy', readFileSync('config/openstack/nova-policy.yaml', 'utf8'))
  const auth = {
    auth_url: labIdentityUrl,
    username: 'lifeboat',
    password,
    project_name,
    user_domain_name,
    project_domain_name,
  }
  await recovers(cloudsFile('role', { auth }))
  const token = (await authenticate(stage.cloud, 'lifeboat', password, project_name)).headers.get('x-subject-token')
  expect((await asked('GET', '/os-services', token)).status).toBe(200)
  // Administrators' business that Lifeboat has no part in; the same token is one to Nova's database layer.
  expect((await asked('GET', '/os-simple-tenant-usage', token)).status).toBe(403)
  const victim = await stage.tenants.boot('victim', 'cmp02')
  expect((await asked('DELETE', `/servers/${victim}`, token)).status).toBe(403)
  expect((await asked('POST', `/servers/${victim}/action`, token, { migrate: null })).status).toBe(403)
})

/** `lifeboat check` finds nothing wrong, and a dead host's instances come back: one running, one stopped. */
async function recovers(cloudsFile: string): Promise<void> {
  daemon = new DaemonProcess({ cloudsFile })
  const check = await daemon.command('check')
  expect(check.stdout.split('\n').filter((line) => line.startsWith('fail'))).toEqual([])
  expect(check.code).toBe(0)
  const { tenants } = stage
  const boots = Promise.all([tenants.boot('running', 'cmp01'), tenants.stopped('stopped', 'cmp01')])
  const [running, stopped] = await daemon.watchBeside(boots)
  await lab('crash', 'cmp01')
  const incident = await daemon.incident('cmp01', (at) => at.closed !== null)
  expect([running, stopped].map((id) => outcomeOf(incident, id))).toEqual([
    expect.stringMatching(/^recovered RUNNING:/),
    expect.stringMatching(/^recovered STOPPED:/),
  ])
}

async function applicationCredential(): Promise<Record<string, string>> {
  const user = (await authenticate(stage.cloud, username, 'lab', project_name)).body.token.user.id as string
  const token = await tokenFor(stage.cloud, { username, password: 'lab', project: project_name })
  const access_rules = JSON.parse(readFileSync('config/openstack/access-rules.json', 'utf8')) as unknown
  const path = `/users/${user}/application_credentials`
  const { application_credential: made } = await keystone(token, 'POST', path, {
    application_credential: { name: `lifeboat-${crypto.randomUUID()}`, access_rules },
  })
  return { application_credential_id: made.id, application_credential_secret: made.secret }
}

function asked(method: string, path: string, token: string | null, body?: unknown): ReturnType<typeof nova> {
  return nova(stage.cloud, method, path, body, { token })
}

function cloudsFile(name: string, cloud: object): string {
  const file = join(stage.cloudsFile, '..', `${name}.yaml`)
  writeFileSync(file, stringify({ clouds: { lab: { ...cloud, region_name } } }))
  return file
}
