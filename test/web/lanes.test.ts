/** A recovery that is watched: how fast it is, how long it will take, and a lane for each instance on one time axis. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { paceOf, paceText } from '../../src/web/pages/incident/pace.ts'
import { complaintsOf, textOf, violationsOf } from './looks.ts'
import { Stage } from './stage.ts'

let stage: Stage
let page: Page
let complaints: string[]

beforeAll(async () => {
  stage = await Stage.open({ hosts: 6, segment: { maxParallelPerHost: 4 } })
  for (let n = 0; n < 40; n++) stage.add({ host: 'cmp01', name: `app-${n}`, state: 'active' })
  stage.add({ host: 'cmp01', name: 'hsm', state: 'active', vtpm: true })
  stage.add({ host: 'cmp01', name: 'off', state: 'stopped' })
  page = await stage.page('admin')
  complaints = complaintsOf(page)
  stage.simulator.crash('cmp01')
  const id = await stage.until('cmp01', ({ outcomes }) => (outcomes.recovered ?? 0) >= 8)
  await page.goto(`${stage.url}/incidents/${id}`)
  await page.waitForSelector('.lanes li')
})
afterAll(() => stage.close())

const lanes = (): Promise<string[]> => page.locator('.lanes > ol > li svg').evaluateAll(labelsOf)

function labelsOf(all: Element[]): string[] {
  return all.map((one) => one.getAttribute('aria-label') ?? '')
}

async function isClean(): Promise<void> {
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 860 })
    expect(await violationsOf(page)).toEqual([])
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    expect(wide).toBeLessThanOrEqual(0)
  }
  await page.setViewportSize({ width: 1280, height: 860 })
  expect(complaints).toEqual([])
}

it('while it runs says how many are back, how fast it is and how long it will take', async () => {
  expect(await textOf(page, '.pace')).toMatch(/^\d+ of 42 instances · [\d.]+\/(s|min) · about .+ left$/)
})

it('shows those under way first, and folds those that only wait', async () => {
  const shown = await lanes()
  expect(shown[0]).toMatch(/evacuate under way; open$/)
  expect(shown).not.toContain('waits for its turn')
  const fold = page.locator('.lanes button')
  expect(await fold.innerText()).toMatch(/^\d+ waiting$/)
  await fold.click()
  expect(await lanes()).toContain('waits for its turn')
  await fold.click()
})

it('moves on by itself', async () => {
  const back = async (): Promise<number> => Number(/^\d+/.exec(await textOf(page, '.pace'))?.[0])
  const before = await back()
  await stage.clock.advance(12_000)
  await expect.poll(back).toBeGreaterThan(before)
})

it('is clean on a desk and on a phone, light and dark, while it runs', isClean)

it('once it is over says no rate, shows what is not back, and folds what is', async () => {
  await stage.ended('cmp01')
  await expect.poll(() => textOf(page, '.head-line')).toMatch(/done/)
  expect(await page.locator('.pace').count()).toBe(0)
  await expect.poll(lanes).toEqual([expect.stringMatching(/^.*evacuate .+; failed$/)])
  expect(await page.locator('.lanes button').innerText()).toBe('41 recovered')
  await page.locator('.lanes button').click()
  await expect.poll(lanes).toHaveLength(42)
  const all = await lanes()
  expect(all.filter((label) => /evacuate \d.*; recovered$/.test(label))).toHaveLength(41)
})

it('the table folds what is back too, and paper has it all', async () => {
  const rows = (): Promise<number> => page.locator('.long-table tbody tr').count()
  expect(await rows()).toBe(1)
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
  expect(await rows()).toBe(42)
  await page.evaluate(() => dispatchEvent(new Event('afterprint')))
  expect(await rows()).toBe(1)
  await page.getByRole('button', { name: '41 recovered' }).last().click()
  // A long table draws its first rows at once and the others in the next frames.
  await expect.poll(rows).toBe(42)
})

it('is clean on a desk and on a phone, light and dark, with every lane', isClean)

describe('the pace', () => {
  const at = (second: number): string => new Date(second * 1_000).toISOString()
  const line = (endedAfter: number | null) => ({
    decision: 'recover' as const,
    outcome: endedAfter === null ? ('open' as const) : ('recovered' as const),
    startedAt: at(100),
    endedAt: endedAfter === null ? null : at(100 + endedAfter),
  })
  const running = { ended: null, held: null }
  const textAt = (second: number, lines: ReturnType<typeof line>[], more = {}): string | null => {
    const pace = paceOf({ ...running, ...more, lines }, second * 1_000)
    return pace === null ? null : paceText(pace)
  }
  const ten = [...[2, 4, 6, 8, 10].map(line), ...Array.from({ length: 15 }, () => line(null))]

  it('counts the outcomes of the last minute, and guesses the end', () => {
    expect(textAt(110, ten)).toBe('5 of 20 instances · 0.5/s · about 30 s left')
  })
  it('falls when no more outcomes come, until it is not known any more', () => {
    expect(textAt(150, ten)).toBe('5 of 20 instances · 6.0/min · about 3 min left')
    expect(textAt(300, ten)).toBe('5 of 20 instances')
  })
  it('is not guessed from two outcomes', () => {
    expect(textAt(105, [line(2), line(4), line(null)])).toBe('2 of 3 instances')
  })
  it('is none of a recovery that is over, held, or not begun', () => {
    expect(textAt(110, [line(2)])).toBe(null)
    expect(textAt(110, ten, { held: { code: 'PAUSED', message: 'm', since: at(0) } })).toBe(null)
    expect(
      textAt(
        110,
        ten.map((one) => ({ ...one, startedAt: null as never })),
      ),
    ).toBe(null)
  })
})
