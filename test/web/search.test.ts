/** A machine is found by its name from every page, and has a page that says how long it was down. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { complaintsOf, textOf, violationsOf } from './looks.ts'
import { mixedInstances, Stage } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await Stage.open({ hosts: 6 })
  stage.add(...mixedInstances('cmp01', 'cmp02'))
  stage.simulator.crash('cmp01')
  await stage.ended('cmp01')
  page = await stage.page('reader')
})
afterAll(() => stage.close())

const idOf = (name: string): string => stage.daemon.review.search(name).instances[0]?.id ?? ''
const field = () => page.getByRole('combobox', { name: 'Search hosts, incidents and instances' })
const options = () => page.getByRole('option')

async function type(text: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.keyboard.type(text)
}

describe('the search', () => {
  beforeAll(async () => {
    await page.goto(`${stage.url}/segments`)
    await page.waitForSelector('.facts')
  })
  it('takes the focus by / and by Ctrl-K, and Escape gives it back empty', async () => {
    for (const key of ['/', 'Control+k']) {
      await page.keyboard.press(key)
      expect(await field().evaluate((it) => it === document.activeElement)).toBe(true)
      await page.keyboard.type('a/b')
      expect(await field().inputValue()).toBe('a/b')
      await page.keyboard.press('Escape')
      expect([await field().inputValue(), await options().count()]).toEqual(['', 0])
    }
  })
  it('finds instances, hosts and incidents, and axe finds nothing', async () => {
    await type('cmp01')
    await expect.poll(() => page.getByRole('group', { name: 'Incidents' }).count()).toBe(1)
    expect(await page.getByRole('group', { name: 'Hosts' }).innerText()).toMatch(/cmp01\s+simulated/)
    expect(await violationsOf(page)).toEqual([])
    await page.keyboard.press('Escape')
  })
  it('goes by the arrow keys and Enter to the page of an instance', async () => {
    await type('web-')
    await expect.poll(() => options().count()).toBe(2)
    await page.keyboard.press('ArrowDown')
    expect(await page.getByRole('option', { selected: true }).innerText()).toMatch(/^web-2/)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/instances/${idOf('web-2')}`)
    expect(await textOf(page, 'h1')).toBe('web-2')
  })
  it('says when nothing matches, and why a machine may be missing', async () => {
    await type('nowhere')
    await expect
      .poll(() => textOf(page, '.found [role=status]'))
      .toMatch(/Nothing matches\. Instances are on record once/)
    await page.keyboard.press('Enter')
    expect(await textOf(page, 'h1')).toBe('web-2')
    await page.keyboard.press('Escape')
  })
  it('says of a failed host that is not listed yet where its machines are to be seen, and finds them once Nova told', async () => {
    stage.add({ host: 'cmp05', name: 'held-1', state: 'active' })
    stage.simulator.bmc('cmp05', { reachable: false })
    stage.simulator.crash('cmp05')
    await stage.until('cmp05', ({ held }) => held?.code === 'FENCE_FAILED')
    await type('nowhere')
    await expect.poll(() => textOf(page, '.found [role=status]')).toMatch(/not on record yet.*cmp05/)
    expect(await page.locator('.found [role=status] a').getAttribute('href')).toBe('/plan/cmp05')
    await page.keyboard.press('Escape')
    await type('held-')
    await expect.poll(() => options().allInnerTexts()).toEqual([expect.stringMatching(/held-1\s+cmp05\s+open/)])
    await page.keyboard.press('Escape')
  })
  it('says when the daemon does not answer', async () => {
    await page.route('**/v1/search?*', (route) => route.abort())
    await type('mail')
    await expect.poll(() => textOf(page, '.found [role=status]')).toMatch(/\w+/)
    await expect.poll(() => textOf(page, '.found [role=status]')).not.toMatch(/Searching/)
    await page.unroute('**/v1/search?*')
    await page.keyboard.press('Escape')
  })
  it('fits a phone', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await type('web-1')
    await expect.poll(() => options().count()).toBe(1)
    const box = await page.locator('.found').boundingBox()
    expect([box!.x >= 0, box!.x + box!.width <= 390]).toEqual([true, true])
    expect(await violationsOf(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.setViewportSize({ width: 1280, height: 860 })
  })
})

describe('the page of an instance', () => {
  it('says where it was, when it was last alive, how long it was down, where it is and why', async () => {
    const complaints = complaintsOf(page)
    await page.goto(`${stage.url}/instances/${idOf('web-1')}`)
    await page.waitForSelector('.stays')
    const { stays } = stage.daemon.review.instanceRecord(idOf('web-1'))
    const text = await textOf(page, 'main')
    expect(text).toMatch(/Where it was cmp01, active .* Down for [\d.]+ (?:s|min)/)
    expect(text).toMatch(/last heartbeat was at \d\d:\d\d:\d\d/)
    expect(text).toMatch(new RegExp(`Where it is now ${stays[0]?.landedOn}, active as of`))
    expect(complaints).toEqual([])
  })
  it.each(['web-1', 'hsm', 'batch-nightly'])('of %s fits a phone, and axe finds nothing', async (name) => {
    await page.setViewportSize({ width: 360, height: 740 })
    await page.goto(`${stage.url}/instances/${idOf(name)}`)
    await page.waitForSelector('.stays')
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    expect([wide <= 0, await violationsOf(page)]).toEqual([true, []])
    await page.setViewportSize({ width: 1280, height: 860 })
  })
  it('one that is not back says so', async () => {
    await page.goto(`${stage.url}/instances/${idOf('hsm')}`)
    await page.waitForSelector('.stays')
    expect(await textOf(page, 'main')).toMatch(
      /Down for not back Where it is now cmp01, where Nova still says active .* Why API_REFUSED/,
    )
  })
  it('an id that no incident knows is said in words', async () => {
    await page.goto(`${stage.url}/instances/none`)
    await expect.poll(() => textOf(page, '.notice')).toMatch(/No incident is about an instance none/)
  })
  it('is one click from the instance in its incident', async () => {
    await page.goto(`${stage.url}/incidents/${stage.incident('cmp01')?.id}?instance=${idOf('mail')}`)
    await page.getByRole('link', { name: 'All its incidents' }).click()
    await page.waitForURL(`**/instances/${idOf('mail')}`)
  })
})
