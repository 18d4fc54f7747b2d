/** The overview counts what it knows: holds that need a person, and open incidents that it could read. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { textOf, violationsOf } from './looks.ts'
import { Stage } from './stage.ts'

let stage: Stage
let page: Page
const ann = { by: 'ann', reason: 'network works' }
const openList = /\/v1\/incidents\?open=true/

beforeAll(async () => {
  stage = await Stage.open()
  page = await stage.page('operator')
  await page.goto(stage.url)
  await page.waitForSelector('.fleet')
})
afterAll(() => stage.close())

it('once the list of open incidents cannot be read again, the status counts, and the page says that it is old', async () => {
  await stage.daemon.operations.pause({ ...ann, until: null })
  await page.route(openList, (route) => route.abort('connectionreset'))
  stage.simulator.crash('cmp01')
  await stage.until('cmp01', ({ held }) => held?.code === 'PAUSED')
  await expect.poll(() => textOf(page, 'h1')).toMatch(/^1 incident /)
  expect(await page.getByRole('alert').count()).toBe(1)
  expect(await violationsOf(page)).toEqual([])
})

it('a list that was never read is named as not known', async () => {
  await page.goto(stage.url)
  await page.waitForSelector('.fleet')
  await expect.poll(() => textOf(page, '[role=alert]')).toMatch(/^Which incidents are open is not known /)
  await page.unroute(openList)
})

it('an incident that waits for the end of a pause calls nobody, in the headline and in the title of the tab', async () => {
  await page.goto(stage.url)
  await page.waitForSelector('.list')
  expect([await textOf(page, 'h1'), await page.title()]).toEqual(['1 incident on hold', 'Overview · Lifeboat'])
})
