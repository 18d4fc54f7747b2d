/** A daemon that cannot be asked: each page says so once and in words, keeps what it shows, and is right again without a reload. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { textOf, violationsOf } from './looks.ts'
import { beatMs, Stage } from './stage.ts'

let stage: Stage
let page: Page
let incident = ''
let other = ''

beforeAll(async () => {
  const brake = { maxHosts: 6, maxShare: 1 }
  const segment = { brake }
  stage = await Stage.open({ hosts: 6, segment, brake: { ...brake, siteLossShare: 1 }, readiness: true })
  stage.add({ host: 'cmp01', name: 'web', state: 'active' }, { host: 'cmp02', name: 'mail', state: 'active' })
  stage.add({ host: 'cmp03', name: 'wiki', state: 'active' })
  stage.simulator.crash('cmp01')
  incident = await stage.ended('cmp01')
  stage.simulator.crash('cmp02')
  other = await stage.ended('cmp02')
  page = await stage.browser.context.newPage()
  // A token of the cloud outlives the daemon; a session of the pages does not.
  await page.setExtraHTTPHeaders({ 'x-auth-token': await stage.token('admin') })
  await page.clock.install()
})
afterAll(() => stage.close())

/** `kept` selects what the page shows once it is loaded; `says` is text in it. The journal is read again only on request. */
const pages: [name: string, path: () => string, kept: string, says: RegExp, asksAgain?: boolean][] = [
  ['overview', () => '/', '.fleet', /cmp03|hosts healthy/],
  ['incidents', () => '/incidents', '.list', /cmp01/],
  ['incident', () => `/incidents/${incident}`, '.answers', /proven dead/],
  ['lanes of an incident', () => `/incidents/${incident}`, '.lanes', /web/],
  ['comparison', () => `/incidents/${incident}/compare/${other}`, '.compared', /cmp02/],
  ['choice of a comparison', () => `/incidents/${incident}/compare`, '.offers', /cmp02/],
  ['hosts', () => '/hosts', '.long-table', /cmp03/],
  ['host', () => '/hosts/cmp01', '.timeline', /host-down|suspect/],
  ['instance', () => `/instances/${instanceId()}`, '.stays', /recovered/],
  ['what if', () => '/plan/cmp03', '.long-table', /wiki/],
  ['readiness above what if', () => '/plan/cmp03', '.readiness-line', /Would come back/],
  ['segments', () => '/segments', '.facts', /shared storage/],
  ['maintenance', () => '/maintenance', 'section:has(> header > #calendar)', /no maintenance_windows/],
  ['notices', () => '/notices', 'section:has(> header > #receivers)', /names no receiver/],
  ['journal', () => '/journal', '.entries', /#\d+/, false],
]

function instanceId(): string {
  return stage.daemon.review.incident(incident).lines[0]?.id ?? ''
}

/** Lets the page's own time pass until `look` is as wanted. */
async function inTime(look: () => Promise<unknown>, wanted: unknown): Promise<void> {
  await expect
    .poll(
      async () => {
        await page.clock.runFor(1_000)
        return look()
      },
      { timeout: 30_000 },
    )
    .toEqual(wanted)
}

/** The same within two seconds of the page's time: what is asked now and then comes later. */
async function atOnce(look: () => Promise<unknown>, wanted: unknown): Promise<void> {
  let leftMs = 2_000
  await expect
    .poll(async () => {
      if (leftMs > 0) await page.clock.runFor(100)
      leftMs -= 100
      return look()
    })
    .toEqual(wanted)
}

const alerts = async (): Promise<string[]> =>
  (await page.getByRole('alert').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))
const noAnswer = 'Lifeboat does not answer: it is stopped, restarting or unreachable. Trying again.'

let away = false
async function restart(): Promise<void> {
  away = false
  await stage.start()
  // The cloud is read before anything is known of it.
  await stage.clock.advance(2 * beatMs)
}
afterEach(async () => {
  await page.unrouteAll()
  if (away) await restart()
})

describe.each(pages)('the page %s', (_name, path, kept, says, asksAgain = true) => {
  const shown = async (): Promise<boolean> => (await page.locator(kept).filter({ hasText: says }).count()) > 0

  it('says that it cannot be loaded, and loads as soon as it can', async () => {
    await page.route(/\/v1\/(?!me$|events)/, (route) => route.abort('connectionreset'))
    await page.goto(stage.url + path())
    await inTime(alerts, [`Could not be loaded ${noAnswer}`])
    expect([await shown(), await page.locator('h1').count()]).toEqual([false, 1])
    await page.unrouteAll()
    await inTime(shown, true)
    await inTime(alerts, [])
  })

  it('keeps what it shows while the daemon is away, says that it is old, and follows it again', async () => {
    await page.goto(stage.url + path())
    await page.waitForSelector('.live-mark.live')
    await inTime(shown, true)
    away = true
    await stage.stop()
    await inTime(() => textOf(page, '.live-mark'), 'disconnected, retrying')
    await inTime(alerts, asksAgain ? [`What you see is not the newest ${noAnswer}`] : [])
    expect(await shown()).toBe(true)
    await restart()
    await inTime(() => textOf(page, '.live-mark'), 'live')
    await atOnce(alerts, [])
    expect(await shown()).toBe(true)
  })
})

it('before the login is known a page says that the daemon does not answer, and opens once it does', async () => {
  await page.route('**/v1/**', (route) => route.abort('connectionreset'))
  await page.goto(`${stage.url}/hosts`)
  await inTime(() => textOf(page, 'main'), `Lifeboat cannot be asked Could not be loaded ${noAnswer}`)
  expect(await violationsOf(page)).toEqual([])
  await page.unrouteAll()
  await inTime(() => textOf(page, 'h1'), 'Hosts')
  expect(await alerts()).toEqual([])
})

it('a plan that the daemon forgets while it is made is asked for again', async () => {
  let asked = 0
  await page.route('**/v1/plans', async (route) => {
    asked += 1
    if (asked > 1) return route.continue()
    const making = { state: 'running', progress: 'Reading its instances', failure: 'host', plan: null, error: null }
    return route.fulfill({ json: { ...making, id: 'forgotten', host: 'cmp03' } })
  })
  await page.goto(`${stage.url}/plan/cmp03`)
  await inTime(async () => (await page.locator('.long-table').filter({ hasText: 'wiki' }).count()) > 0, true)
  expect(asked).toBe(2)
  expect(await alerts()).toEqual([])
})

it('the page of a host says when it cannot tell what is planned for it', async () => {
  await page.route('**/v1/maintenance', (route) => route.fulfill({ status: 502, body: '<html>Bad Gateway</html>' }))
  await page.goto(`${stage.url}/hosts/cmp03`)
  await inTime(async () => (await alerts()).length, 1)
  expect((await alerts())[0]).toMatch(/^What is planned for it is not known/)
  await page.unrouteAll()
  await inTime(alerts, [])
})
