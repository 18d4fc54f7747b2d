/**
 * Login by single sign-on, in a real browser and over two sites: the pages are at localhost, the simulated Keystone at 127.0.0.1.
 * What browsers do with cookies and origins on such a way is the point here; everything else is in test/api.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { loopbackPem } from '../openstack/rehearsed-cloud.ts'
import { complaintsOf, textOf, violationsOf } from './looks.ts'
import { Stage } from './stage.ts'

const sso = [{ name: 'Company login', protocol: 'openid', identityProvider: 'company' }]

describe.each([
  ['over TLS', { certificate: loopbackPem, key: loopbackPem }],
  ['on an address of this machine, without TLS', null],
])('%s', (_how, tls) => {
  let stage: Stage
  let page: Page
  let site = ''

  beforeAll(async () => {
    stage = await Stage.open({ sso, tls })
    site = stage.url.replace('127.0.0.1', 'localhost')
    const { federation } = stage.simulator
    federation.providers = { company: ['openid'] }
    federation.trustedDashboards = [`${site}/auth/websso/`]
    stage.simulator.addUser('tess', [])
  })
  afterAll(() => stage.close())
  beforeEach(async () => {
    await stage.browser.context.clearCookies()
    stage.simulator.federation.signedOn = 'ann'
    page = await stage.browser.context.newPage()
  })

  const button = () => page.getByRole('button', { name: 'Company login' })
  const who = () => textOf(page, '.top .who')

  it('the button leads by Keystone to the page that was wanted, and the browser stays logged in', async () => {
    await page.goto(`${site}/hosts?sort=name`)
    await button().click()
    await page.waitForURL(`${site}/hosts?sort=name`)
    await expect.poll(who).toMatch(/^ann admin/)
    const cookies = await stage.browser.context.cookies(site)
    expect(cookies).toMatchObject([
      {
        name: tls === null ? 'lifeboat' : '__Host-lifeboat',
        httpOnly: true,
        sameSite: 'Strict',
        secure: tls !== null,
      },
    ])
    await page.reload()
    await expect.poll(who).toMatch(/^ann admin/)
    const other = await stage.browser.context.newPage()
    await other.goto(`${site}/incidents`)
    await expect.poll(() => textOf(other, '.top .who')).toMatch(/^ann admin/)
  })

  it('no token is in an address that the browser opens', async () => {
    const addresses: string[] = []
    page.on('request', (request) => addresses.push(request.url()))
    await page.goto(`${site}/login`)
    await button().click()
    await expect.poll(who).toMatch(/^ann admin/)
    expect(addresses.filter((address) => address.includes('OS-FEDERATION'))).toHaveLength(1)
    expect(addresses.join(' ')).not.toMatch(/gAAAA/)
  })

  it('someone without a role is told so on the login page, and can log in otherwise', async () => {
    stage.simulator.federation.signedOn = 'tess'
    await page.goto(`${site}/login?to=%2Fhosts`)
    const complaints = complaintsOf(page)
    await button().click()
    await expect.poll(() => textOf(page, '[role=alert]')).toMatch(/^Not logged in tess has no role in /)
    expect(complaints.filter((complaint) => !complaint.includes('401'))).toEqual([])
    await stage.fillLogin(page, 'admin')
    await page.waitForURL(`${site}/hosts`)
  })

  it('an offer that did not load is said to be missing, and asked for again', async () => {
    await page.route('**/v1/sso', (route) => route.abort('connectionreset'))
    await page.goto(`${site}/login`)
    await expect.poll(() => textOf(page, '.login')).toContain('Whether there is a single sign-on is not known')
    expect(await violationsOf(page)).toEqual([])
    await page.unroute('**/v1/sso')
    await button().waitFor()
    expect(await textOf(page, '.login')).not.toContain('is not known')
  })

  it('a login whose answer is lost is not called an order', async () => {
    await page.route('**/v1/session', (route) => route.abort('connectionreset'))
    await page.goto(`${site}/login`)
    await stage.fillLogin(page, 'admin')
    await expect.poll(() => textOf(page, '[role=alert]')).toMatch(/does not answer.* Try again\.$/)
    await page.unroute('**/v1/session')
  })

  describe('a token that another site’s page posts while a login is under way', () => {
    const evil = 'http://evil.example/'

    async function posted(referrer: string): Promise<void> {
      const token = await stage.token('admin')
      const body = `<meta name="referrer" content="${referrer}"><form action="${site}/auth/websso/" method="post">
        <input name="token" value="${token}"></form><script>document.forms[0].submit()</script>`
      await page.route(evil, (route) => route.fulfill({ contentType: 'text/html', body }))
      // As far as the button brings a browser, which then waits at the identity provider.
      await page.goto(`${site}/login`)
      await page.route('**/OS-FEDERATION/**', (route) =>
        route.fulfill({ contentType: 'text/html', body: 'Who are you?' }),
      )
      await button().click()
      await page.waitForURL('**/OS-FEDERATION/**')
      await page.goto(evil)
      await page.waitForURL(`${site}/login?to=%2F`)
    }

    it.each([
      ['unsafe-url', `it came from ${new URL(evil).origin}`],
      ['no-referrer', 'its page hides where it comes from'],
    ])('logs nobody in: %s', async (referrer, says) => {
      await posted(referrer)
      await expect.poll(() => textOf(page, '[role=alert]')).toContain(says)
      expect((await page.request.get(`${site}/v1/me`)).status()).toBe(401)
    })
  })

  it('the login page has no violation that axe finds', async () => {
    await page.goto(`${site}/login`)
    await button().waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.setViewportSize({ width: 360, height: 740 })
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    expect(wide).toBeLessThanOrEqual(0)
  })
})
