/** The demo with pages: a link that opens once, and plugs that people pull. The real clock runs here, as it does for an evaluator. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { requestHeader } from '../../src/domain/review.ts'
import { runDemoPages } from '../../src/rehearsal/demo-pages.ts'
import { openBrowser, type Browser } from './browser.ts'
import { complaintsOf, textOf, violationsOf } from './looks.ts'

let browser: Browser
let page: Page
let complaints: string[]
let link = ''
let url = ''
let stop: (why: string) => void
let over: Promise<void>

beforeAll(async () => {
  browser = await openBrowser()
  page = await browser.context.newPage()
  complaints = complaintsOf(page)
  const stopped = new Promise<string>((resolve) => (stop = resolve))
  link = await new Promise<string>((resolve, reject) => {
    const write = (text: string): void => resolve(/http:\S+/.exec(text)?.[0] ?? '')
    over = runDemoPages(write, { port: 0 }, stopped)
    over.catch(reject)
  })
  url = new URL(link).origin
  await page.goto(link)
  await page.waitForSelector('.fleet')
})
afterAll(async () => {
  await browser.close()
  stop('the test is over')
  await over
})

const plugs = () => page.getByRole('complementary', { name: 'Simulated cloud' })
const choose = (plug: string) => plugs().getByRole('combobox').selectOption(plug)
const isOut = (title: string) =>
  plugs()
    .getByRole('button', { name: `${title} put back` })
    .count()

it('opens without a login, and its link lets nobody in twice', async () => {
  expect(page.url()).toBe(`${url}/`)
  const again = await fetch(link)
  expect([again.status, await again.text()]).toEqual([403, expect.stringContaining('Start the demo again')])
  expect((await fetch(`${url}/open/${'x'.repeat(22)}`)).status).toBe(403)
  expect((await fetch(`${url}/v1/simulation`)).status).toBe(401)
})
it('the strip is clean', async () => {
  expect(await violationsOf(page)).toEqual([])
})
it('another site cannot pull a plug', async () => {
  const refused = await page.request.post(`${url}/v1/simulation`, { data: { plug: 'host:cmp01', out: true } })
  expect(refused.status()).toBe(403)
})
it('a plug that there is not is said in words', async () => {
  const headers = { [requestHeader]: 'test' }
  const answer = await page.request.post(`${url}/v1/simulation`, { headers, data: { plug: 'host:none', out: true } })
  expect([answer.status(), await answer.text()]).toEqual([404, expect.stringContaining('no plug host:none')])
})
it('a host whose plug is pulled dies, is recovered, and comes back', async () => {
  await expect.poll(() => textOf(page, 'h1')).toMatch(/well/)
  await choose('host:cmp03')
  await plugs().getByRole('button', { name: 'Pull the plug' }).click()
  await expect.poll(() => isOut('cmp03')).toBe(1)
  await expect.poll(() => page.locator('.list').innerText()).toMatch(/cmp03/)
  const ended = async (): Promise<unknown> =>
    ((await (await page.request.get(`${url}/v1/incidents`)).json()) as { ended: unknown }[])[0]?.ended
  await expect.poll(ended).toMatchObject({ outcome: 'done' })
  await plugs().getByRole('button', { name: 'Put it back' }).click()
  await expect.poll(() => isOut('cmp03')).toBe(0)
})
it('a rack that is out says it for its hosts, and fits a phone', async () => {
  await choose('rack:b')
  await plugs().getByRole('button', { name: 'Pull the plug' }).click()
  await expect.poll(() => isOut('rack b')).toBe(1)
  expect(await isOut('cmp08')).toBe(0)
  await page.setViewportSize({ width: 390, height: 844 })
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  expect([wide <= 0, await violationsOf(page)]).toEqual([true, []])
  await page.setViewportSize({ width: 1280, height: 860 })
})
it('the on-call service is told of a recovery, and one that is out is said to take nothing', async () => {
  await page.goto(`${url}/notices?receiver=on-call`)
  await expect.poll(() => page.locator('main').innerText()).toMatch(/cmp03/)
  await choose('receiver:on-call')
  await plugs().getByRole('button', { name: 'Pull the plug' }).click()
  await expect.poll(() => isOut('receiver on-call')).toBe(1)
  await page.getByRole('button', { name: 'Send test to on-call' }).click()
  await expect
    .poll(() => page.getByRole('status').allInnerTexts())
    .toContainEqual(expect.stringMatching(/refused the test/))
})
it('a lost connection is said in the strip', async () => {
  expect(complaints).toEqual([])
  await page.route('**/v1/simulation', (route) => route.abort())
  await choose('service:nova-api')
  await plugs().getByRole('button', { name: 'Pull the plug' }).click()
  await expect.poll(() => plugs().getByRole('alert').innerText()).toMatch(/No answer came/)
  await page.unroute('**/v1/simulation')
})
