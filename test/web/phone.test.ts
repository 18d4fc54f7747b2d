/** The incident's page on a phone: what died, whether it was fenced, who is not back and what to do are read before anything else. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { textOf, violationsOf } from './looks.ts'
import { Stage } from './stage.ts'

const screen = { width: 390, height: 844 }
let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await Stage.open()
  for (const name of ['a', 'b', 'c', 'd'])
    stage.add({ host: 'cmp01', name: `own-${name}`, state: 'active', metadata: { HA_Enabled: 'False' } })
  stage.add({ host: 'cmp01', name: 'web', state: 'active' }, { host: 'cmp01', name: 'mail', state: 'paused' })
  stage.simulator.crash('cmp01')
  await stage.ended('cmp01')
  page = await stage.page('admin')
  await page.setViewportSize(screen)
  await page.goto(`${stage.url}/incidents/${stage.incident('cmp01')?.id ?? ''}`)
  await page.waitForSelector('.answers')
})
afterAll(() => stage.close())

async function topOf(text: string): Promise<number> {
  return (await page.locator('.answers dt, .todo h2', { hasText: text }).boundingBox())?.y ?? Number.NaN
}

it('the four answers come in this order, and begin on the first screen', async () => {
  const wanted = ['What died', 'Was it fenced', 'What did not, and why', 'What to do', 'How we know']
  const tops: number[] = []
  for (const text of wanted) tops.push(await topOf(text))
  expect(tops).toEqual([...tops].sort((a, b) => a - b))
  expect(tops[3]).toBeLessThan(screen.height - 100)
  expect(await violationsOf(page)).toEqual([])
})

it('names those that are not back, the first three of many', async () => {
  expect(await textOf(page, '.answers')).toMatch(/4 left own-\w, own-\w, own-\w and 1 more WISH_LEAVE/)
})

it('an act of Lifeboat that is asked for is a button where it is asked for, and nowhere else', async () => {
  const step = page.locator('.todo li', { hasText: 'sign this incident off' })
  await step.getByRole('button', { name: 'Sign off', exact: true }).click()
  const as = await page.getByRole('dialog', { name: 'Sign off' }).locator('footer .faint').boundingBox()
  expect(as!.height).toBeLessThan(30)
  await page.keyboard.press('Escape')
  expect(await page.locator('main').getByRole('button', { name: 'Sign off', exact: true }).count()).toBe(1)
  // A host that is away is looked at on its page, and not at a prompt.
  const away = page.locator('.todo li', { hasText: 'still down' })
  expect(await away.getByRole('link').getAttribute('href')).toBe('/hosts/cmp01')
})

it('whose command it is stands before it: only the owner starts what came back off', async () => {
  expect(await textOf(page, '.todo')).toMatch(
    /Only its owner can start it: send them this command mail openstack server start/,
  )
})

it('of one that is over, notes, exports and comparisons begin on the first screen', async () => {
  expect((await page.locator('.toolbar').boundingBox())!.y).toBeLessThan(300)
})

it('can be printed', async () => {
  expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(true)
})

it('every page of the navigation is on the screen, whole', async () => {
  const boxes = await page.locator('.top nav a').evaluateAll((links) =>
    links.map((link) => {
      const { left, right, height } = link.getBoundingClientRect()
      return left >= 0 && right <= innerWidth && height > 24 && link.scrollWidth <= link.clientWidth
    }),
  )
  expect(boxes).toEqual(Array.from({ length: 7 }, () => true))
})

it('the search keeps its room when the daemon is gone, which is said once', async () => {
  await page.goto(stage.url)
  await page.waitForSelector('.fleet')
  await stage.stop()
  await page.locator('.live-mark.lost').waitFor()
  const old = page.getByText('What you see is not the newest')
  await old.first().waitFor()
  await page.waitForTimeout(6_000)
  expect(await old.count()).toBe(1)
  const search = await page.getByRole('combobox', { name: /^Search/ }).boundingBox()
  expect(search!.width).toBeGreaterThan(140)
  await stage.start()
})
