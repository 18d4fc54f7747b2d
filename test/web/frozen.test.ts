/** Nova does not answer: the overview says so plainly, and once it answers again from when on verdicts move. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { textOf, violationsOf } from './looks.ts'
import { Stage } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await Stage.open()
  page = await stage.page('reader')
})
afterAll(() => stage.close())

const frozen = () => stage.daemon.operations.status().frozen

async function open(): Promise<void> {
  await page.goto(stage.url)
  await page.waitForSelector('.holds .notice')
}

it('while it is away nobody can say when', async () => {
  stage.simulator.kill('nova-api')
  await stage.clock.until(() => frozen() !== null, 60_000)
  await open()
  expect(await textOf(page, '.page-head')).toMatch(
    /Nova does not answer .*Nova did not answer .+ \(GET \/os-services: .+\)/,
  )
  // As it was known last: nothing of it is green.
  expect(await textOf(page, '.fleet')).toMatch(/hosts healthy when Nova last answered/)
  expect(await page.locator('.fleet .good').count()).toBe(0)
  expect(await textOf(page, '.holds .notice')).toMatch(/since .*No verdict changes until the freeze ends\.$/)
})

it('once it answers, the time is said, and verdicts move then', async () => {
  stage.simulator.revive('nova-api')
  await stage.clock.until(() => (frozen()?.thawsAt ?? null) !== null, 60_000)
  await open()
  expect(await textOf(page, '.holds .notice')).toMatch(/Nova answers again; verdicts move from \d\d:\d\d:\d\d\.$/)
  expect(await violationsOf(page)).toEqual([])
  const at = frozen()?.thawsAt ?? ''
  // The first poll after that.
  await stage.clock.advance(Date.parse(at) - stage.clock.wall() + 5_000)
  await page.goto(stage.url)
  await page.waitForSelector('.fleet')
  expect(await textOf(page, 'h1')).toBe('All is well')
})
