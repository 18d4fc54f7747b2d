/** Two incidents side by side: reached from an incident and from the list, and every address that cannot be compared says why. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { comparedText } from '../../src/domain/text/compared.ts'
import { complaintsOf, textOf, violationsOf } from './looks.ts'
import { Stage } from './stage.ts'

let stage: Stage
let page: Page
/** Of cmp01, where Nova refused both; of cmp01 again, where both came back; of cmp02. */
let refused: string
let again: string
let other: string

beforeAll(async () => {
  const brake = { maxHosts: 6, maxShare: 1 }
  stage = await Stage.open({ hosts: 6, segment: { brake }, brake: { ...brake, siteLossShare: 1 } })
  stage.add({ host: 'cmp01', name: 'web', state: 'active' }, { host: 'cmp01', name: 'db', state: 'active' })
  stage.add({ host: 'cmp02', name: 'mail', state: 'active' }, { host: 'cmp03', name: 'wiki', state: 'active' })
  stage.simulator.apiFault({ kind: 'refuse', status: 400, path: /action/, body: /evacuate/ })
  stage.simulator.crash('cmp01')
  refused = await stage.ended('cmp01')
  stage.simulator.clearApiFaults()
  await stage.daemon.operations.tryAgain(refused, { by: 'ann', reason: 'there is room again', proof: null })
  again = await stage.ended('cmp01')
  stage.simulator.crash('cmp02')
  other = await stage.ended('cmp02')
  page = await stage.page('reader')
})
afterAll(() => stage.close())

async function open(path: string, ready: string): Promise<void> {
  await page.goto(stage.url + path)
  await page.waitForSelector(ready)
}

/** The rows of the comparison, by what they compare. */
async function facts(): Promise<Map<string, string[]>> {
  const rows = await page.locator('.compared tr:has(th[scope=row])').all()
  const told = await Promise.all(
    rows.map(async (row) => [await row.locator('th').innerText(), await row.locator('td').allInnerTexts()] as const),
  )
  return new Map(told)
}

describe('the menu of an incident', () => {
  it('offers the others of its host, then the newest; axe finds nothing', async () => {
    await open(`/incidents/${refused}`, '.answers')
    await page.getByText('Compare with…').click()
    const hrefs = (title: string): Promise<(string | null)[]> =>
      page
        .getByRole('list', { name: title })
        .getByRole('link')
        .evaluateAll((links) => links.map((link) => link.getAttribute('href')))
    await expect.poll(() => hrefs('Of cmp01')).toEqual([`/incidents/${refused}/compare/${again}`])
    expect(await hrefs('The newest others')).toEqual([`/incidents/${refused}/compare/${other}`])
    expect(await violationsOf(page)).toEqual([])
  })

  it('leads to the two, side by side', async () => {
    await page.getByRole('list', { name: 'Of cmp01' }).getByRole('link').click()
    await page.waitForSelector('.compared')
    expect(page.url()).toBe(`${stage.url}/incidents/${refused}/compare/${again}`)
    const heads = await page
      .locator('.compared thead a')
      .evaluateAll((links) => links.map((a) => a.getAttribute('href')))
    expect(heads).toEqual([`/incidents/${refused}`, `/incidents/${again}`])
  })

  it('says that there is nothing to compare with while no other is on record', async () => {
    await page.route('**/v1/incidents?*', (route) => route.fulfill({ json: [stage.incident('cmp02')] }))
    await open(`/incidents/${other}`, '.answers')
    await page.getByText('Compare with…').click()
    await expect.poll(() => textOf(page, '.menu-items .empty')).toMatch(/^No other incident is on record/)
    await page.unroute('**/v1/incidents?*')
  })
})

describe('the page of two incidents', () => {
  beforeAll(() => open(`/incidents/${refused}/compare/${again}`, '.compared'))

  it('says what differs, in the words of the command line, and how much more it is', async () => {
    const shown = await facts()
    expect(shown.get('failed')).toEqual(['2', expect.stringMatching(/^0\s+2 fewer$/)])
    expect(shown.get('recovered')).toEqual(['0', expect.stringMatching(/^2\s+2 more$/)])
    const { facts: known } = stage.daemon.review.compare(refused, again)
    const took = known.find(({ fact }) => fact === 'proof to first instance back')
    expect(shown.get('proof to first instance back')).toEqual(['–', comparedText({ unit: 'ms' }, took?.second ?? null)])
  })

  it('shows what is the same in both only when asked, and then its address says so', async () => {
    expect((await facts()).has('decisions')).toBe(false)
    expect((await facts()).has('segment')).toBe(false)
    expect(await textOf(page, '.compared')).toMatch(/What was decided, and why The same in both\./)
    await page.getByLabel('Show also what is the same in both').check()
    expect((await facts()).get('segment')).toEqual(['simulated', 'simulated'])
    expect((await facts()).get('recover: RUNNING')).toEqual(['2', '2'])
    expect(page.url()).toMatch(/\?all=1$/)
  })

  it('has nothing that axe or the browser complain of', async () => {
    const complaints = complaintsOf(page)
    await page.reload()
    await page.waitForSelector('.compared')
    expect(await violationsOf(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  it.each([390, 960])('fits a screen of %i pixels without scrolling sideways', async (width) => {
    await page.setViewportSize({ width, height: 740 })
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    await page.setViewportSize({ width: 1280, height: 860 })
    expect(wide).toBeLessThanOrEqual(0)
  })
})

describe('an address that gives nothing to compare says why', () => {
  it('an id that is not on record', async () => {
    await open(`/incidents/${refused}/compare/none`, '[role=alert]')
    expect(await textOf(page, '[role=alert]')).toMatch(/^Not found There is no incident none/)
  })

  it.each([
    ['the same one twice', () => `/incidents/${refused}/compare/${refused}`, /^This is the same incident twice/],
    ['only one', () => `/incidents/${refused}/compare`, /^Choose the incident to compare it with/],
  ])('%s, and it offers others', async (_name, path, said) => {
    await open(path(), '.offers')
    expect(await textOf(page, '.offered')).toMatch(said)
    expect(await page.getByRole('list', { name: 'Of cmp01' }).getByRole('link').count()).toBe(1)
    expect(await violationsOf(page)).toEqual([])
  })
})

describe('the list of incidents', () => {
  beforeAll(() => open('/incidents', '.list'))

  it('lets someone choose two, and no third', async () => {
    const box = (id: string) => page.getByRole('checkbox', { name: id })
    await box(refused).check()
    expect(await textOf(page, '.chosen')).toMatch(/^1 chosen: choose another to compare/)
    await box(other).check()
    expect(await box(again).isDisabled()).toBe(true)
    expect(await violationsOf(page)).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
    const bar = await page.getByRole('link', { name: 'Compare the two' }).boundingBox()
    expect([bar!.y > 700, bar!.y + bar!.height <= 844]).toEqual([true, true])
    await page.setViewportSize({ width: 1280, height: 860 })
    await page.getByRole('link', { name: 'Compare the two' }).click()
    await page.waitForSelector('.compared')
    expect(page.url()).toBe(`${stage.url}/incidents/${refused}/compare/${other}`)
  })
})

it('says that one is still open, and moves on with it until it is over', async () => {
  stage.simulator.crash('cmp03')
  const running = await stage.until('cmp03', ({ phase }) => phase === 'recovering')
  await open(`/incidents/${refused}/compare/${running}`, '.compared')
  expect(await textOf(page, '.notice.live')).toMatch(/^The second incident, of cmp03, is still open/)
  expect((await facts()).get('recovered')).toBeUndefined()
  await stage.ended('cmp03')
  await stage.passOn()
  await expect.poll(() => page.locator('.notice.live').count()).toBe(0)
  expect((await facts()).get('recovered')).toEqual(['0', expect.stringMatching(/^1\s+1 more$/)])
})
