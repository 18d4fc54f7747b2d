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

/** How far a section's heading stands below the contents. */
async function belowContents(id: string): Promise<number> {
  return (await edges(`#${id}`)).top - (await edges('.contents')).bottom
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
    await expect.poll(() => belowContents(id)).toBeGreaterThanOrEqual(0)
    expect(await belowContents(id)).toBeLessThan(60)
  },
)

it('leads to every section and to nothing else', async () => {
  const led = await page.locator('.contents a').evaluateAll((links) => links.map((one) => one.getAttribute('href')))
  const sections = await page.locator('.incident .part h2').evaluateAll((all) => all.map(({ id }) => `#${id}`))
  expect(led).toEqual(sections)
})

it('an address with the fragment of a section opens the page there', async () => {
  await open('#evidence', desk)
  await expect.poll(() => belowContents('evidence')).toBeLessThan(60)
  expect(await belowContents('evidence')).toBeGreaterThanOrEqual(0)
})

it('someone who scrolls on is left where they are, however the page grows', async () => {
  await page.locator('.contents a', { hasText: 'Fencing' }).click()
  await expect.poll(() => belowContents('fencing')).toBeLessThan(60)
  await page.mouse.move(600, 400)
  await page.mouse.wheel(0, -2_000)
  await expect.poll(() => belowContents('fencing')).toBeGreaterThan(1_000)
  await page.evaluate(() => (document.body.style.paddingBottom = '300px'))
  await page.evaluate(() => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen))))
  expect(await belowContents('fencing')).toBeGreaterThan(1_000)
})

it('the head of a long table stays right below the contents', async () => {
  await page.locator('.long-table tbody tr').nth(30).scrollIntoViewIfNeeded()
  expect((await edges('.long-table thead')).top - (await edges('.contents')).bottom).toBeLessThanOrEqual(1)
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
