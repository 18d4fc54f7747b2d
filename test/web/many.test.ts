/** Two thousand instances in one incident. Nothing is timed against the machine: what is counted is what the page does. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { textOf } from './looks.ts'
import { Stage } from './stage.ts'

const instances = 2_000

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await Stage.open({ hosts: 20, segment: { maxParallelPerHost: 500 }, timings: { spawnMs: 500 } })
  for (let n = 0; n < instances; n++)
    stage.add({ host: 'cmp01', name: `app-${n}`, state: n % 10 === 0 ? 'stopped' : 'active', vtpm: n % 40 === 0 })
  stage.simulator.crash('cmp01')
  const id = await stage.ended('cmp01')
  await stage.load(id)
  page = await stage.page('reader')
  await page.goto(`${stage.url}/incidents/${id}`)
  await page.waitForSelector('.long-table')
}, 300_000)
afterAll(() => stage.close())

/** How many rows the page makes meanwhile. */
async function rowsMade(what: () => Promise<void>): Promise<number> {
  await page.evaluate(() => {
    const counted = { made: 0 }
    const observer = new MutationObserver((records) => {
      for (const { addedNodes } of records) for (const node of addedNodes) if (node.nodeName === 'TR') counted.made++
    })
    observer.observe(document.querySelector('main')!, { childList: true, subtree: true })
    Object.assign(window, { counted })
  })
  await what()
  return page.evaluate(() => (window as unknown as { counted: { made: number } }).counted.made)
}

const rows = (): Promise<number> => page.locator('.long-table tbody tr').count()
const everyRow = (): Promise<void> => expect.poll(rows).toBe(instances)

it('folds what came back, so that what did not is seen', async () => {
  expect(await page.locator('.long-table').getAttribute('aria-rowcount')).toBe('51')
  await page.waitForFunction(() => document.querySelectorAll('.long-table tbody tr').length === 50)
})

it('the rows that someone unfolds are made in the frames after the first, each once', async () => {
  const made = await rowsMade(async () => {
    await page.locator('button.fold').click()
    await everyRow()
  })
  expect(made).toBe(instances - 50)
  expect(await page.locator('.long-table').getAttribute('aria-rowcount')).toBe(String(instances + 1))
})

it('the browser’s own search finds the last row, far below the screen', async () => {
  const last = await page.locator('.long-table tbody tr').last().locator('a').first().textContent()
  const found = await page.evaluate((name) => {
    getSelection()?.removeAllRanges()
    const { find } = window as unknown as { find: (text: string) => boolean }
    return find(name) && getSelection()?.anchorNode?.parentElement?.closest('tr')?.getAttribute('aria-rowindex')
  }, last ?? '')
  expect(found).toBe(String(instances + 1))
  await page.evaluate(() => scrollTo(0, 0))
})

it('the browser lays out only the rows near the screen', async () => {
  const drawn = await page.evaluate(
    () =>
      [...document.querySelectorAll('.long-table tbody tr > td:first-child')].filter((cell) =>
        cell.checkVisibility({ contentVisibilityAuto: true }),
      ).length,
  )
  expect(drawn).toBeLessThan(200)
})

it.each([1280, 390])('fits a screen of %i pixels, from the first row to the last', async (width) => {
  await page.setViewportSize({ width, height: 860 })
  for (const row of [0, 60, instances - 1]) {
    const isSeen = await page
      .locator('.long-table tbody tr')
      .nth(row)
      .evaluate((one) => {
        one.scrollIntoView({ block: 'center' })
        const { top, height } = one.getBoundingClientRect()
        return document.elementFromPoint(innerWidth / 2, top + height / 2)?.closest('tr') === one
      })
    expect(isSeen).toBe(true)
    expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(
      0,
    )
  }
  await page.setViewportSize({ width: 1280, height: 860 })
  await page.evaluate(() => scrollTo(0, 0))
})

it('neither scrolling nor typing into the search makes a row again', async () => {
  const search = page.getByPlaceholder('Name, id, host, reason')
  const made = await rowsMade(async () => {
    for (let step = 0; step < 20; step++) await page.mouse.wheel(0, 5_000)
    await page.evaluate(() => scrollTo(0, 0))
    await search.pressSequentially('app-1999')
    await expect.poll(() => textOf(page, '.filters .count')).toBe(`1 of 2,000 instances`)
  })
  expect(made).toBe(0)
  await search.fill('')
  await everyRow()
})

it('draws no lanes for so many, and says why', async () => {
  expect(await textOf(page, 'section:has(#lanes)')).toMatch(/No lanes are drawn for [\d,]+ instances: above 400/)
})

it('groups say why, for all of them at once', async () => {
  const failed = page.locator('.groups .group.bad').first()
  expect(await failed.innerText()).toMatch(/^50\s/)
  await failed.click()
  await expect.poll(() => textOf(page, '.filters .count')).toBe('50 of 2,000 instances')
})
