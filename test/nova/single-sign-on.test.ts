/**
 * Login by the single sign-on of the lab's real Keystone, in a real browser. The browser is its own identity provider: it sends
 * what mod_auth_openidc would have found out. No host is touched.
 */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { requestHeader } from '../../src/domain/review.ts'
import { tokenFor } from '../contract/cloud-under-test.ts'
import { openBrowser, type Browser } from '../web/browser.ts'
import { textOf } from '../web/looks.ts'
import { keystone } from './keystone.ts'
import { labIdentityUrl } from './lab.ts'
import { LabStage } from './stage.ts'

/** Keystone trusts this one, and is at 127.0.0.1: two sites for a browser. */
const pages = 'http://localhost:9395'
const run = crypto.randomUUID().slice(0, 8)
const issuer = `https://idp.lab/${run}`
const idp = `lab-${run}`
const byProtocol = 'By protocol'
const byProvider = 'By provider'

let stage: LabStage
let browser: Browser
let page: Page
let admin = ''
let group = ''
/** What the identity provider says of who sits at the browser. */
let claims: Record<string, string> = {}

beforeAll(async () => {
  stage = await LabStage.open('sso')
  admin = await tokenFor(stage.cloud, { username: 'admin', password: 'lab', project: 'admin' })
  await federate()
  stage.freshDaemon({
    web: {
      listen: '127.0.0.1:9395',
      sso: [
        { name: byProtocol, protocol: 'openid' },
        { name: byProvider, protocol: 'openid', identity_provider: idp },
        { name: 'Nowhere', protocol: 'openid', identity_provider: `not-${run}` },
      ],
    },
  })
  await stage.daemon.start()
  browser = await openBrowser()
  await browser.context.route(`${new URL(labIdentityUrl).origin}/**`, (route) =>
    route.continue({ headers: { ...route.request().headers(), 'oidc-iss': issuer, ...claims } }),
  )
})
afterAll(async () => {
  await browser.close()
  await stage.tidy()
  await unfederate()
  stage.close()
})
beforeEach(async () => {
  await browser.context.clearCookies()
  page = await browser.context.newPage()
})

const signOn = async (way: string, path = '/'): Promise<void> => {
  await page.goto(`${pages}/login?to=${encodeURIComponent(path)}`)
  await page.getByRole('button', { name: way }).click()
}

it.each([byProtocol, byProvider])(
  'someone of the right group acts under the name that the provider gave: %s',
  async (way) => {
    claims = { 'oidc-sub': `olga-${run}`, 'oidc-groups': 'operators' }
    await signOn(way, '/hosts')
    await page.waitForURL(`${pages}/hosts`)
    await expect.poll(() => textOf(page, '.top .who')).toMatch(new RegExp(`^olga-${run} admin`))
    const act = (path: string) =>
      page.request.post(`${pages}/v1/${path}`, { headers: { [requestHeader]: 'test' }, data: { reason: way } })
    expect([(await act('pause')).status(), (await act('resume')).status()]).toEqual([200, 204])
    const paused = stage.daemon.entries().find(({ kind, data }) => kind === 'operator.paused' && data.reason === way)
    expect(paused).toMatchObject({
      actor: `operator:olga-${run}`,
      data: { via: { by: 'session', scope: 'Default/service' } },
    })
  },
)

it('someone whom Keystone gives no role is told so', async () => {
  claims = { 'oidc-sub': `tess-${run}`, 'oidc-groups': 'guests' }
  await signOn(byProtocol)
  await expect.poll(() => textOf(page, '[role=alert]')).toMatch(new RegExp(`tess-${run} has no role in`))
  expect((await page.request.get(`${pages}/v1/me`)).status()).toBe(401)
})

it('a token that Keystone does not know logs nobody in', async () => {
  claims = { 'oidc-sub': `olga-${run}`, 'oidc-groups': 'operators' }
  await page.route(`${pages}/auth/websso/`, (route) => route.continue({ postData: 'token=gAAAA-made-up' }))
  await signOn(byProtocol)
  await expect.poll(() => textOf(page, '[role=alert]')).toMatch(/Keystone does not know this token/)
})

it('under an address that is not in trusted_dashboard, Keystone itself gives no token', async () => {
  claims = { 'oidc-sub': `olga-${run}`, 'oidc-groups': 'operators' }
  await page.goto('http://127.0.0.1:9395/login')
  await page.getByRole('button', { name: byProtocol }).click()
  await expect.poll(() => textOf(page, 'body')).toMatch(/The request you have made requires authentication/)
})

it('lifeboat check knows which protocols Keystone has', async () => {
  const lines = (await stage.daemon.command('check')).stdout.split('\n').filter((line) => line.includes(' login '))
  // Problems stand at the end once more.
  expect([...new Set(lines)]).toEqual([
    expect.stringMatching(/^ok .*By protocol.*Keystone knows protocol openid/),
    expect.stringMatching(/^ok .*By provider.*Keystone knows protocol openid/),
    expect.stringMatching(/^warn .*Nowhere.*Keystone does not know protocol openid/),
  ])
})

it('no token shows in the log', () => {
  expect(stage.daemon.output).toContain('logged in by single sign-on')
  expect(stage.daemon.output).not.toMatch(/gAAAA/)
})

/** A provider whose `operators` are admins of the project service, by a group of Keystone's. */
async function federate(): Promise<void> {
  const named = async (what: string, name: string): Promise<string> =>
    (await keystone(admin, 'GET', `/${what}?name=${name}`))[what][0].id
  group = (await keystone(admin, 'POST', '/groups', { group: { name: idp, domain_id: 'default' } })).group.id
  const [project, role] = [await named('projects', 'service'), await named('roles', 'admin')]
  await keystone(admin, 'PUT', `/projects/${project}/groups/${group}/roles/${role}`)
  const provider = { enabled: true, domain_id: 'default', remote_ids: [issuer] }
  await keystone(admin, 'PUT', `/OS-FEDERATION/identity_providers/${idp}`, { identity_provider: provider })
  const user = { user: { name: '{0}' } }
  const groups = { type: 'HTTP_OIDC_GROUPS' }
  const rules = [
    {
      local: [user, { group: { id: group } }],
      remote: [{ type: 'HTTP_OIDC_SUB' }, { ...groups, any_one_of: ['operators'] }],
    },
    { local: [user], remote: [{ type: 'HTTP_OIDC_SUB' }, { ...groups, not_any_of: ['operators'] }] },
  ]
  await keystone(admin, 'PUT', `/OS-FEDERATION/mappings/${idp}`, { mapping: { rules } })
  await keystone(admin, 'PUT', `/OS-FEDERATION/identity_providers/${idp}/protocols/openid`, {
    protocol: { mapping_id: idp },
  })
}

async function unfederate(): Promise<void> {
  await keystone(admin, 'DELETE', `/OS-FEDERATION/identity_providers/${idp}`)
  await keystone(admin, 'DELETE', `/OS-FEDERATION/mappings/${idp}`)
  await keystone(admin, 'DELETE', `/groups/${group}`)
}
