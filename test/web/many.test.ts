/** Two thousand instances in one incident. Nothing is timed against the machine: what is counted is what the page does. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { textOf } from './looks.ts'
import { Stage } from './stage.ts'

const instances = 2_000
/** More than a screen of rows with their buttons needs; far less than two thousand rows have (24,000 and more). */
const mostNodes = 4_000
const mostRows = 100

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

const nodes = (): Promise<number> => page.evaluate(() => document.querySelectorAll('*').length)

/** How many rows the page makes meanwhile. */
async function rowsMade(what: () => Promise<void>): Promise<number> {
  await page.evaluate(() => {
    const counted = { made: 0 }
    const observer = new MutationObserver((records) => {
      for (const { addedNodes } of records)
        for (const node of addedNodes) if (node.nodeName === 'TR' || node.nodeName === 'TBODY') counted.made++
    })
    observer.observe(document.querySelector('main')!, { childList: true, subtree: true })
    Object.assign(window, { counted })
  })
  await what()
  return page.evaluate(() => (window as unknown as { counted: { made: number } }).counted.made)
}

const frames = (): Promise<void> =>
  page.evaluate(
    () => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
  )

const heights = (): Promise<number[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('.long-table tbody tr:not(.gap)')].map((one) => one.getBoundingClientRect().height),
  )

/** What is in the middle of the screen is a row, not the room of rows that do not exist. */
const rowInSight = (): Promise<boolean> =>
  page.evaluate(() => document.elementFromPoint(innerWidth / 2, 430)?.closest('tr:not(.gap)') !== null)

it('folds what came back, so that what did not is seen', async () => {
  expect(await page.locator('.long-table').getAttribute('aria-rowcount')).toBe('51')
  await page.locator('button.fold').click()
})

it('the table says how many rows there are, and holds those near the screen', async () => {
  expect(await page.locator('.long-table').getAttribute('aria-rowcount')).toBe(String(instances + 1))
  expect(await nodes()).toBeLessThan(mostNodes)
})

it.each([1280, 390])('every row is as high as the next, %i wide: the window counts with it', async (width) => {
  await page.setViewportSize({ width, height: 860 })
  const height = width === 390 ? 118 : 46
  for (const row of [0, 60, 1_900]) {
    await page.evaluate((below) => {
      const table = document.querySelector('.long-table tbody')
      scrollTo(0, scrollY + (table?.getBoundingClientRect().top ?? 0) + below)
    }, row * height)
    await expect.poll(() => heights().then((all) => [...new Set(all)]), { message: `row ${row}` }).toEqual([height])
    await expect.poll(rowInSight, { message: `row ${row}` }).toBe(true)
  }
  await page.setViewportSize({ width: 1280, height: 860 })
  await page.evaluate(() => scrollTo(0, 0))
})

it('scrolling from the first row to the last makes each row once', async () => {
  let most = 0
  const made = await rowsMade(async () => {
    for (let step = 0; step < 60; step++) {
      await page.mouse.wheel(0, 1_500)
      await frames()
      most = Math.max(most, await nodes())
    }
  })
  expect(most).toBeLessThan(mostNodes)
  // With its gaps.
  expect(made).toBeLessThan(1.5 * instances)
  await page.evaluate(() =>
    document.querySelector('.long-table tbody tr.gap:last-child')?.scrollIntoView({ block: 'end' }),
  )
  await page.evaluate(() => document.querySelector('#timeline')?.scrollIntoView({ block: 'end' }))
  await expect
    .poll(() => page.locator('.long-table tbody tr:not(.gap)').last().getAttribute('aria-rowindex'), {
      timeout: 10_000,
    })
    .toBe(String(instances + 1))
})

it('typing into the search makes no more rows for each letter than a screen has', async () => {
  await page.evaluate(() => scrollTo(0, 0))
  const search = page.getByPlaceholder('Name, id, host, reason')
  const text = 'app-1999'
  const made = await rowsMade(async () => {
    await search.pressSequentially(text)
    await expect.poll(() => textOf(page, '.filters .count')).toBe(`1 of 2,000 instances`)
  })
  expect(made / text.length).toBeLessThan(mostRows)
  await search.fill('')
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
