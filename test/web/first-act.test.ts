/** What to do comes first: one button with its consequence, on a phone without scrolling. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { textOf, violationsOf } from './looks.ts'
import { Stage } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await Stage.open({
    hosts: 8,
    segment: { brake: { maxHosts: 2, maxShare: 1 } },
    brake: { maxHosts: 8, maxShare: 1 },
  })
  for (const host of ['cmp01', 'cmp02', 'cmp03', 'cmp04'])
    stage.add({ host, name: `app-${host}`, state: 'active', vtpm: host === 'cmp01' })
  stage.simulator.crash('cmp01')
  await stage.ended('cmp01')
  // Its recovery counts for a while.
  stage.simulator.bmc('cmp02', { reachable: false })
  stage.simulator.crash('cmp02')
  await stage.until('cmp02', ({ held }) => held?.code === 'FENCE_FAILED')
  page = await stage.page('admin')
})
afterAll(() => stage.close())

/** Two more than the brake lets past: from now on it holds cmp02 too. */
async function crashMore(): Promise<void> {
  stage.simulator.crash('cmp03', 'cmp04')
  for (const host of ['cmp03', 'cmp04']) await stage.until(host, ({ held }) => held?.code === 'BRAKE')
}

const first = () => page.locator('.first-act > .act > button')

async function open(host: string): Promise<void> {
  await page.goto(`${stage.url}/incidents/${stage.incident(host)?.id ?? ''}`)
  await page.waitForSelector('.answers')
}

it('an attestation is offered although a proof stands, while something holds the incident all the same', async () => {
  await page.route('**/review?*', async (route) => {
    const response = await route.fetch()
    const review = (await response.json()) as object
    const proof = {
      host: 'cmp02',
      method: 'bmc',
      proves: 'power',
      strength: 'power-off',
      evidence: [],
      provenAt: '2030-01-01T00:00:00.000Z',
    }
    await route.fulfill({ response, json: { ...review, proof } })
  })
  await open('cmp02')
  expect(await first().allInnerTexts()).toEqual(['Attest that it is dead'])
  await page.unroute('**/review?*')
})

describe.each([
  ['cmp01', 'Try again', /Opens a new incident for 1 instance/],
  ['cmp02', 'Attest that it is dead', /What its rules recover is evacuated at once/],
  ['cmp04', 'Override the brake', /Fences cmp04 and evacuates its instances/],
])('of %s', (host, title, consequence) => {
  beforeAll(async () => {
    if (host === 'cmp04') await crashMore()
  })
  it.each(['light', 'dark'] as const)(
    'is one button with its consequence, on a phone’s first screen, %s',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width: 390, height: 844 })
      await open(host)
      expect(await first().allInnerTexts()).toEqual([title])
      expect(await textOf(page, '.first-act')).toMatch(consequence)
      const box = await first().boundingBox()
      expect([box!.y + box!.height <= 844, box!.height >= 44]).toEqual([true, true])
      // Red in the dark, too.
      expect(await first().evaluate((button) => getComputedStyle(button).backgroundColor)).toBe('rgb(206, 44, 49)')
      const wide = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      )
      expect([wide <= 0, await violationsOf(page)]).toEqual([true, []])
      await page.setViewportSize({ width: 1280, height: 860 })
      expect(await violationsOf(page)).toEqual([])
    },
  )
})

it('is read before the answers, and seen beside them at a desk', async () => {
  await open('cmp04')
  const order = await page.evaluate(() =>
    [...document.querySelectorAll('.todo, .answers')].map(({ className }) => className),
  )
  expect(order[0]).toContain('todo')
  const [todo, answers] = await Promise.all(['.todo', '.answers'].map((one) => page.locator(one).boundingBox()))
  expect([todo!.x > answers!.x, Math.abs(todo!.y - answers!.y) < 60]).toEqual([true, true])
})
it('in the list, what needs a person comes first, however old it is, with what is on its host', async () => {
  await page.goto(`${stage.url}/incidents`)
  const rows = page.locator('.list tbody tr')
  await expect.poll(() => rows.first().innerText()).toMatch(/held: \w+[^]*1 instance, 1 running, 1 project/)
  const tones = await rows.locator('.state .tag').evaluateAll((tags) => tags.map((tag) => tag.getAttribute('class')))
  expect(tones).toEqual(['tag urgent', 'tag urgent', 'tag urgent', 'tag bad'])
})
it('the title of the tab says how many wait for a person', async () => {
  await page.goto(stage.url)
  await expect.poll(() => page.title()).toBe('(3!) Overview · Lifeboat')
})
it('what is tried again and again is one line of the timeline, with how often', async () => {
  await open('cmp02')
  await expect
    .poll(() => textOf(page, '.timeline'))
    .toMatch(/Fencing by bmc, failed: bmc could not fence cmp02: [^#]* \(\d+ times, the last at /)
})
it('what someone writes stays when another person acts meanwhile', async () => {
  await open('cmp04')
  await first().click()
  await page.locator('dialog textarea').fill('I saw it burn')
  await stage.daemon.operations.override(stage.incident('cmp04')?.id ?? '', { by: 'bob', reason: 'me too' })
  await stage.passOn()
  await expect.poll(() => page.locator('.first-act').count()).toBe(0)
  expect(await page.locator('dialog textarea').inputValue()).toBe('I saw it burn')
  await page.locator('dialog button[type=submit]').click()
  await expect.poll(() => textOf(page, 'dialog [role=alert]')).toMatch(/Not done.*bob already/)
  await page.keyboard.press('Escape')
})
it('what came of an act is seen, and a lost connection is said in words', async () => {
  await open('cmp03')
  await page.route('**/override', (route) => route.abort())
  await first().click()
  await page.locator('dialog textarea').fill('sure')
  await page.locator('dialog button[type=submit]').click()
  await expect.poll(() => textOf(page, 'dialog [role=alert]')).toMatch(/It may have been done/)
  await page.unroute('**/override')
  await page.locator('dialog button[type=submit]').click()
  await page.locator('.toast').waitFor()
  expect(await textOf(page, '.toast')).toBe('The brake no longer holds cmp03')
  expect(await violationsOf(page)).toEqual([])
})
