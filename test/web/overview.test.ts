/** The overview counts the holds that need a person. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { textOf } from './looks.ts'
import { Stage } from './stage.ts'

let stage: Stage
let page: Page
const ann = { by: 'ann', reason: 'network works' }

beforeAll(async () => {
  stage = await Stage.open()
  page = await stage.page('operator')
})
afterAll(() => stage.close())

it('an incident that waits for the end of a pause calls nobody, in the headline and in the title of the tab', async () => {
  await stage.daemon.operations.pause({ ...ann, until: null })
  stage.simulator.crash('cmp01')
  await stage.until('cmp01', ({ held }) => held?.code === 'PAUSED')
  await page.goto(stage.url)
  await page.waitForSelector('.list')
  expect([await textOf(page, 'h1'), await page.title()]).toEqual(['1 incident on hold', 'Overview · Lifeboat'])
})
