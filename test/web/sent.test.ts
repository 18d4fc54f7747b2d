/** An order that was taken is not offered again while the page still shows how things stood before it. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Locator, Page, Route } from 'playwright-core'
import { violationsOf } from './looks.ts'
import { Stage } from './stage.ts'

const hosts = ['cmp01', 'cmp02', 'cmp03']
let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await Stage.open({ hosts: 8, brake: { maxHosts: 1, maxShare: 1, siteLossShare: 1 } })
  stage.simulator.crash(...hosts)
  for (const host of hosts) await stage.until(host, ({ held }) => held?.code === 'BRAKE')
  page = await stage.page('admin')
  await page.clock.install()
  await page.goto(`${stage.url}/incidents/${stage.incident('cmp01')?.id ?? ''}`)
  await all().waitFor()
})
afterAll(() => stage.close())

const one = () => page.locator('.first-act > .act > button')
const all = () => page.locator('.held-group button')

/** A busy daemon: what the page asks for again does not come. */
const busy = ['**/v1/brake', '**/review?*']
const keepWaiting = (_route: Route): void => undefined

async function order(button: Locator): Promise<void> {
  await button.click()
  await page.locator('dialog textarea').fill('the PDU burnt')
  await page.locator('dialog button[type=submit]').click()
  await page.locator('dialog').waitFor({ state: 'detached' })
}

it('its button is off at once, and says why; the act for others beside it is not', async () => {
  for (const path of busy) await page.route(path, keepWaiting)
  await order(one())
  expect(await one().getAttribute('aria-disabled')).toBe('true')
  expect(await page.locator('.first-act .refusal').innerText()).toBe('Sent. The page does not show it yet')
  expect(await all().getAttribute('aria-disabled')).toBe('false')
  expect(await violationsOf(page)).toEqual([])
})

it('so is the button of an act for a group', async () => {
  await order(all())
  expect(await all().getAttribute('aria-disabled')).toBe('true')
})

it('it is offered again when the page shows nothing new for a while: nobody is kept from repeating what came to nothing', async () => {
  // The page's clock goes on by itself, too: on a busy machine seconds have passed since the order.
  await page.clock.runFor(8_000)
  expect(await all().getAttribute('aria-disabled')).toBe('true')
  await page.clock.runFor(8_000)
  await expect.poll(() => all().getAttribute('aria-disabled')).toBe('false')
  expect(await one().getAttribute('aria-disabled')).toBe('false')
})

it('an order that was refused is offered at once', async () => {
  await all().click()
  await page.locator('dialog textarea').fill('once more')
  await page.locator('dialog button[type=submit]').click()
  await page.locator('dialog [role=alert]').waitFor()
  await page.keyboard.press('Escape')
  expect(await all().getAttribute('aria-disabled')).toBe('false')
})
