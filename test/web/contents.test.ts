/** The sections of an incident's page: in sight and one press away, also where the page is long. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { violationsOf } from './looks.ts'
import { Stage } from './stage.ts'

const desk = { width: 1280, height: 720 }
const phone = { width: 390, height: 844 }
let stage: Stage
let page: Page
let address = ''

beforeAll(async () => {
  stage = await Stage.open()
  for (let n = 0; n < 60; n++)
    stage.add({ host: 'cmp01', name: `own-${n}`, state: 'active', metadata: { HA_Enabled: 'False' } })
  stage.simulator.crash('cmp01')
  await stage.ended('cmp01')
  page = await stage.page('admin')
  address = `${stage.url}/incidents/${stage.incident('cmp01')?.id ?? ''}`
  await open('', desk)
})
afterAll(() => stage.close())

async function open(fragment: string, screen: { width: number; height: number }): Promise<void> {
  await page.setViewportSize(screen)
  await page.goto('about:blank')
  await page.goto(address + fragment)
  await page.waitForSelector('section:has(> header > #fencing) table')
}

/** Its upper and its lower edge on the screen. */
async function edges(selector: string): Promise<{ top: number; bottom: number }> {
  const { y, height } = (await page.locator(selector).first().boundingBox())!
  return { top: Math.round(y), bottom: Math.round(y + height) }
}

/** How far it stands below the contents; both are read at once, for the page may still grow. */
function belowContents(selector: string): Promise<number> {
  return page.evaluate((wanted) => {
    const [below, contents] = [wanted, '.contents'].map((one) => document.querySelector(one)!.getBoundingClientRect())
    return Math.round(below!.top - contents!.bottom)
  }, selector)
}

async function isLedTo(id: string): Promise<boolean> {
  const below = await belowContents(`#${id}`)
  return below >= 0 && below < 60
}

const scrolled = (at: 'top' | 'bottom'): Promise<void> =>
  page.evaluate((where) => window.scrollTo(0, where === 'top' ? 0 : document.body.scrollHeight), at)

it.each(['Instances', 'Timeline', 'Evidence', 'Fencing and host'])(
  'from the end of the page one press leads to %s, right below the contents',
  async (title) => {
    await scrolled('bottom')
    const link = page.getByRole('navigation', { name: 'On this page' }).getByRole('link', { name: title, exact: true })
    const id = (await link.getAttribute('href'))?.slice(1) ?? ''
    await link.click()
    await expect.poll(() => isLedTo(id)).toBe(true)
  },
)

it('leads to every section and to nothing else', async () => {
  const led = await page.locator('.contents a').evaluateAll((links) => links.map((one) => one.getAttribute('href')))
  const sections = await page.locator('.incident .part h2').evaluateAll((all) => all.map(({ id }) => `#${id}`))
  expect(led).toEqual(sections)
})

it('an address with the fragment of a section opens the page there', async () => {
  await open('#evidence', desk)
  await expect.poll(() => isLedTo('evidence')).toBe(true)
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('evidence')
})

it('so it does for someone who has to log in first', async () => {
  await page.context().clearCookies()
  await page.goto('about:blank')
  await page.goto(`${address}#evidence`)
  await stage.fillLogin(page, 'admin')
  await page.waitForSelector('section:has(> header > #fencing) table')
  await expect.poll(() => isLedTo('evidence')).toBe(true)
})

it('a link that is opened in another tab moves nothing in this one', async () => {
  await page.evaluate(() => window.scrollTo(0, 0))
  const opens = page.context().waitForEvent('page')
  await page.locator('.contents a', { hasText: 'Timeline' }).click({ modifiers: ['Control'] })
  await (await opens).close()
  expect(await page.evaluate(() => window.scrollY)).toBe(0)
})

it('someone who scrolls on is left where they are, however the page grows', async () => {
  await page.locator('.contents a', { hasText: 'Fencing' }).click()
  await expect.poll(() => isLedTo('fencing')).toBe(true)
  await page.mouse.move(600, 400)
  // While it grows every moment, nothing but the wheel can end it.
  const growing = await page.evaluate(() =>
    Number(setInterval(() => (document.body.style.paddingBottom = `${performance.now() % 100}px`), 50)),
  )
  await page.mouse.wheel(0, -2_000)
  await expect.poll(() => belowContents('#fencing')).toBeGreaterThan(1_000)
  await page.evaluate(() => new Promise((over) => setTimeout(over, 200)))
  await page.evaluate((timer) => clearInterval(timer), growing)
  expect(await belowContents('#fencing')).toBeGreaterThan(1_000)
})

it('the head of a long table stays right below the contents', async () => {
  await page.locator('.long-table tbody tr').nth(30).scrollIntoViewIfNeeded()
  expect(Math.abs(await belowContents('.long-table thead'))).toBeLessThanOrEqual(1)
  expect((await edges('.contents')).top).toBe((await edges('.top')).bottom)
  expect(await violationsOf(page)).toEqual([])
})

it('on a phone the contents fit without scrolling sideways, and a row has one coloured edge', async () => {
  await open('', phone)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(phone.width)
  const edgesOfRow = await page
    .locator('.long-table tbody tr')
    .first()
    .evaluate((row) =>
      [row, ...row.querySelectorAll('td')]
        .filter((one) => {
          const { boxShadow, borderLeftWidth } = getComputedStyle(one)
          return boxShadow.includes('inset') || Number.parseFloat(borderLeftWidth) > 1
        })
        .map(({ nodeName }) => nodeName),
    )
  expect(edgesOfRow).toEqual(['TR'])
  expect(await violationsOf(page)).toEqual([])
})

it('on a phone a count of two digits stands on one line', async () => {
  const { top, bottom } = await edges('.how-many')
  expect(bottom - top).toBeLessThan(30)
})
