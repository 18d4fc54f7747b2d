/** A page that is open while something happens: it moves on by itself, survives a restart of the daemon, and says when it is old. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { textOf } from './looks.ts'
import { Stage } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await Stage.open({ hosts: 6 })
  for (let n = 0; n < 12; n++) stage.add({ host: 'cmp01', name: `app-${n}`, state: 'active' })
  // A token of the cloud outlives the daemon; a session of the pages does not (below).
  page = await stage.browser.context.newPage()
  await page.setExtraHTTPHeaders({ 'x-auth-token': await stage.token('admin') })
  await page.goto(stage.url)
  await page.waitForSelector('.fleet')
})
afterAll(() => stage.close())

const back = async (): Promise<number> => Number(/(\d+) of 12 instances/.exec(await textOf(page, '.answers'))?.[1])

it('the overview shows a death as it is seen', async () => {
  stage.simulator.crash('cmp01')
  await stage.until('cmp01', ({ phase }) => phase === 'recovering')
  await expect.poll(() => textOf(page, 'h1')).toBe('1 recovery under way')
  await expect.poll(() => textOf(page, '.list')).toMatch(/0 of 12 instances/)
  expect(await page.locator('.list').getByRole('img', { name: '12 open' }).count()).toBe(1)
  await page.locator('.list a.primary-text').first().click()
  await page.waitForSelector('.answers')
})

it('the incident shows each step under way', async () => {
  await stage.clock.advance(1_500)
  await expect.poll(() => textOf(page, '.long-table')).toMatch(/evacuate, issued/)
  expect(await back()).toBe(0)
})

it('after a restart of the daemon the stream goes on where it was, and nothing is lost', async () => {
  await page.waitForSelector('.live-mark.live')
  const before = stage.journal.head().seq
  await stage.stop()
  await page.waitForSelector('.live-mark.lost')
  expect(await textOf(page, '.live-mark')).toMatch(/disconnected/)
  expect(await page.locator('.long-table').count()).toBe(1)
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/v1/events')) asked.push(request.url())
  })
  await stage.start()
  await page.waitForSelector('.live-mark.live', { timeout: 30_000 })
  const after = Number(/after=(\d+)/.exec(asked.at(-1) ?? '')?.[1])
  expect(after).toBeGreaterThan(0)
  expect(after).toBeLessThanOrEqual(before + 1)
  await stage.ended('cmp01')
  await expect.poll(back).toBe(12)
  await expect.poll(() => textOf(page, '.head-line')).toMatch(/done/)
})

it('what came back is said to screen readers', async () => {
  await expect
    .poll(() => page.locator('[role=status][aria-live=polite]').first().innerText())
    .toMatch(/12 of 12 instances recovered/)
})

it('whose session ended with the daemon logs in again and is where they were', async () => {
  const other = await stage.page('operator')
  const path = `/incidents/${stage.incident('cmp01')?.id ?? ''}?outcome=recovered`
  await other.goto(stage.url + path)
  await other.waitForSelector('.long-table')
  await stage.stop()
  await stage.start()
  await other.waitForSelector('.login', { timeout: 30_000 })
  await stage.fillLogin(other, 'operator')
  await other.waitForSelector('.long-table')
  expect(other.url()).toBe(stage.url + path)
  await other.close()
})

const look = (tab: Page, hidden: boolean): Promise<void> =>
  tab.evaluate((yes) => {
    Object.defineProperty(Document.prototype, 'hidden', { configurable: true, get: () => yes })
    document.dispatchEvent(new Event('visibilitychange'))
  }, hidden)

it('tabs that nobody looks at hold no connection: however many there are, one more loads', async () => {
  await stage.page('reader')
  const tabs: Page[] = []
  // Six connections are all that a browser opens to one host.
  for (let n = 0; n < 7; n++) {
    const tab = await stage.browser.context.newPage()
    await tab.addInitScript(() =>
      Object.defineProperty(Document.prototype, 'hidden', { configurable: true, get: () => true }),
    )
    await tab.goto(stage.url)
    await tab.waitForSelector('.fleet', { state: 'attached' })
    tabs.push(tab)
  }
  const [one] = tabs
  if (one === undefined) throw new Error('no tab')
  expect(await one.locator('.live-mark.live').count()).toBe(0)
  await look(one, false)
  await one.waitForSelector('.live-mark.live')
  for (const tab of tabs) await tab.close()
})

it('a line that opens before the first frame is drawn is said to be live', async () => {
  const tab = await stage.page('reader')
  await tab.clock.install()
  await tab.clock.pauseAt(new Date('2030-01-01T00:00:00Z'))
  await tab.goto(stage.url)
  await tab.waitForSelector('.live-mark.live')
  // The clock is of all tabs.
  await tab.clock.resume()
  await tab.close()
})

it('a line that is dead, though nobody said so, is found out, and what was missed comes', async () => {
  const dead = createServer((_request, answer) => {
    answer.writeHead(200, { 'content-type': 'text/event-stream' })
    answer.write('retry: 2000\n\n')
  })
  await new Promise<void>((resolve) => dead.listen(0, '127.0.0.1', resolve))
  const tab = await stage.page('reader')
  await tab.clock.install()
  const events = '**/v1/events*'
  await tab.route(events, (route) =>
    route.continue({ url: `http://127.0.0.1:${(dead.address() as AddressInfo).port}/v1/events` }),
  )
  const id = stage.incident('cmp01')?.id ?? ''
  await tab.goto(`${stage.url}/incidents/${id}`)
  await tab.waitForSelector('.live-mark.live')
  // Nothing was written: a calm cloud is no dead line.
  const asked = tab.waitForResponse('**/v1/status')
  await tab.clock.runFor(10_500)
  // The head of an answer is there before its body: the page must have read that before its limit for an answer passes.
  await (await asked).finished()
  await tab.evaluate(() => fetch('/v1/status').then((answer) => answer.text()))
  await tab.clock.runFor(5_000)
  expect(await textOf(tab, '.live-mark')).toBe('live')
  stage.daemon.review.note(id, { by: 'eve', text: 'written while the line was dead' })
  await tab.unroute(events)
  await expect
    .poll(async () => {
      await tab.clock.runFor(5_000)
      return textOf(tab, 'section:has(#review)')
    })
    .toContain('written while the line was dead')
  await tab.close()
  dead.closeAllConnections()
  dead.close()
})

it('a daemon that stands still is not live for longer than its heartbeat takes', async () => {
  const tab = await stage.page('reader')
  await tab.clock.install()
  await tab.goto(`${stage.url}/hosts`)
  await tab.waitForSelector('.live-mark.live')
  // It takes every question, and answers none.
  await tab.route('**/v1/**', () => undefined)
  await tab.clock.runFor(15_500)
  expect(await textOf(tab, '.live-mark')).toMatch(/disconnected/)
  await tab.close()
})

it('an act of someone else shows without a reload', async () => {
  const id = stage.incident('cmp01')?.id ?? ''
  stage.daemon.review.note(id, { by: 'bob', text: 'seen from the train' })
  await stage.passOn()
  await expect.poll(() => textOf(page, 'section:has(#review)')).toContain('seen from the train')
})
