/** The maintenance page: what is in force, what is planned, the calendar ahead, what stands against it, and its acts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { complaintsOf, textOf, violationsOf } from './looks.ts'
import { Stage } from './stage.ts'

const hour = 3_600_000
/** Days away, whenever this runs: a window of today would be in force for some hours. */
const weekday = (new Date().getUTCDay() + 3) % 7
const schedule = `0 2 * * ${weekday}`

let stage: Stage
let page: Page
let complaints: string[]

beforeAll(async () => {
  stage = await Stage.open({
    hosts: 3,
    windows: [
      {
        ...{ name: 'kernel-updates', kind: 'maintenance', schedule, durationMs: 4 * hour },
        ...{ timezone: 'Europe/Berlin', scopes: [{ kind: 'host', name: 'cmp03' }], reason: 'kernels' },
      },
    ],
  })
  page = await stage.page('operator')
  complaints = complaintsOf(page)
})
afterAll(() => stage.close())

async function open(): Promise<void> {
  await page.goto(`${stage.url}/maintenance`)
  await page.waitForSelector('#calendar')
}

/** As such a field has it, in the browser's zone. */
function inField(iso: string): Promise<string> {
  return page.evaluate((at) => {
    const date = new Date(at)
    return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
  }, iso)
}

/** In so long, to the minute. */
function inMs(ms: number): string {
  return new Date(Math.floor((stage.clock.wall() + ms) / 60_000) * 60_000).toISOString()
}

const dialog = () => page.locator('dialog')
const plan = () => page.locator('.page-head .act > button')
const section = (name: string): Promise<string> => textOf(page, `section:has(> header > #${name})`)

async function send(reason: string): Promise<void> {
  await dialog().locator('textarea').fill(reason)
  await dialog().locator('button[type=submit]').click()
  await dialog().waitFor({ state: 'detached' })
}

async function looksWell(): Promise<void> {
  expect(await violationsOf(page)).toEqual([])
  await page.setViewportSize({ width: 390, height: 844 })
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  expect(await violationsOf(page)).toEqual([])
  await page.setViewportSize({ width: 1280, height: 860 })
  expect(wide).toBeLessThanOrEqual(0)
}

it('says when nothing is in force, and when the calendar opens next', async () => {
  await open()
  expect(await section('now')).toMatch(/No maintenance and no pause is in force/)
  expect(await section('planned')).toMatch(/No maintenance is planned/)
  const calendar = await section('calendar')
  expect(calendar).toContain(`kernel-updates ${schedule} Europe/Berlin host cmp03 maintenance `)
  expect(calendar).toContain(' to ')
  expect(await page.locator('#calendar').count()).toBe(1)
  expect(await page.locator('section:has(> header > #calendar) time').count()).toBe(6)
  expect(await page.locator('nav a[aria-current=page]').innerText()).toBe('Maintenance')
  expect(complaints).toEqual([])
})

it('on the overview a segment with nothing to say is one line', async () => {
  await page.goto(stage.url)
  const segment = page.locator('details.segment')
  await expect.poll(() => segment.locator('summary').innerText()).toMatch(/simulated\s+3 hosts healthy/)
  expect(await segment.getByRole('link').first().isVisible()).toBe(false)
  await segment.locator('summary').click()
  expect(await segment.getByRole('link').first().isVisible()).toBe(true)
  await open()
})

it.each([
  [390, 844],
  [1280, 720],
  [1024, 500],
])('the dialog of a plan ends on a screen of %d × %d, with its button in sight', async (width, height) => {
  await page.setViewportSize({ width, height })
  await open()
  await plan().click()
  const button = await dialog().locator('button[type=submit]').boundingBox()
  const box = await dialog().boundingBox()
  expect([button!.y + button!.height <= height, box!.y + box!.height <= height]).toEqual([true, true])
  // Nor do the buttons stand over the field that is filled.
  await dialog().locator('textarea').focus()
  const field = await dialog().locator('textarea').boundingBox()
  const buttons = await dialog().locator('footer').boundingBox()
  expect(field!.y + field!.height).toBeLessThanOrEqual(buttons!.y + 1)
  await page.keyboard.press('Escape')
  await page.setViewportSize({ width: 1280, height: 860 })
})

describe('to plan maintenance', () => {
  it('asks of what, from when and until when, and says the times in both zones', async () => {
    await plan().click()
    const host = dialog().getByLabel('Host', { exact: true })
    expect(await host.evaluate((field) => field === document.activeElement)).toBe(true)
    expect(await dialog().locator('.effect').innerText()).toMatch(/Opens no incident/)
    await dialog().getByLabel('Of what').selectOption('segment')
    await dialog().locator('input[list]').fill('simulated')
    const from = inMs(24 * hour)
    await dialog()
      .getByLabel('Begins')
      .fill(await inField(from))
    await dialog().getByRole('button', { name: '8 h' }).click()
    expect(await dialog().getByLabel('Ends').inputValue()).toBe(await inField(inMs(32 * hour)))
    expect(await textOf(page, 'dialog form')).toContain(`${from.slice(0, 19).replace('T', ' ')} UTC`)
    await looksWell()
    await send('power works')
    expect(stage.daemon.operations.maintenance().planned).toMatchObject([
      {
        ...{ scope: { kind: 'segment', name: 'simulated' }, by: 'otto', reason: 'power works' },
        ...{ from, until: inMs(32 * hour) },
      },
    ])
    await expect.poll(() => section('planned')).toMatch(/segment simulated .*power works otto Withdraw/)
  })

  it('takes the times in UTC from people who think in it', async () => {
    await plan().click()
    const from = inMs(24 * hour)
    await dialog().getByRole('button', { name: 'UTC' }).click()
    await dialog().getByLabel('Begins').fill(from.slice(0, 16))
    await dialog().getByRole('button', { name: '2 h' }).click()
    expect(await dialog().getByLabel('Ends').inputValue()).toBe(inMs(26 * hour).slice(0, 16))
    await dialog().getByRole('button', { name: 'Europe/Berlin' }).click()
    expect(await dialog().getByLabel('Begins').inputValue()).toBe(await inField(from))
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
  })

  it('is seen on the page of a host that it is about, beside the next opening of its calendar', async () => {
    await page.goto(`${stage.url}/hosts/cmp03`)
    await expect
      .poll(() => textOf(page, 'main'))
      .toMatch(/Planned maintenance: host cmp03 .*calendar kernel-updates, from/)
    expect(await textOf(page, 'main')).toMatch(/Planned maintenance: segment simulated power works — otto, from .* to /)
    await open()
  })

  it('keeps the length when the beginning moves', async () => {
    await plan().click()
    await dialog().getByRole('button', { name: '2 h' }).click()
    await dialog()
      .getByLabel('Begins')
      .fill(await inField(inMs(48 * hour)))
    expect(await dialog().getByLabel('Ends').inputValue()).toBe(await inField(inMs(50 * hour)))
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
  })

  it('sends nothing at a time that cannot be ordered, and says so', async () => {
    await plan().click()
    await dialog().locator('input[list]').fill('cmp02')
    // More digits than a person is offered: a page, a paste or another browser brings them.
    await dialog()
      .getByLabel('Begins')
      .evaluate((field: HTMLInputElement) => {
        field.value = '202611-11-23T02:00'
        field.dispatchEvent(new Event('input', { bubbles: true }))
      })
    expect(await textOf(page, 'dialog form')).toContain('Pick a time before the year 10000')
    await dialog().locator('textarea').fill('far away')
    await dialog().locator('button[type=submit]').click()
    expect(await dialog().locator('form:invalid').count()).toBe(1)
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
    expect(stage.daemon.operations.maintenance().inForce).toEqual([])
  })

  it('sends nothing without a name, and shows the daemon’s words for one that does not exist', async () => {
    await plan().click()
    await dialog().locator('textarea').fill('no such host')
    await dialog().locator('button[type=submit]').click()
    expect(await dialog().locator('.notice.bad').count()).toBe(0)
    await dialog().locator('input[list]').fill('cmp99')
    await dialog().locator('button[type=submit]').click()
    await page.waitForSelector('dialog .notice.bad')
    expect(await textOf(page, 'dialog .notice.bad')).toMatch(/Not done Nova shows no nova-compute on cmp99/)
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
  })

  it('without a beginning puts a host in maintenance at once', async () => {
    await plan().click()
    await dialog().locator('input[list]').fill('cmp01')
    await dialog().getByRole('button', { name: 'until I end it' }).click()
    await send('firmware')
    await expect.poll(() => section('now')).toMatch(/host cmp01 maintenance .*until someone ends it firmware otto/)
  })
})

it('says what stands against a plan', async () => {
  expect(await textOf(page, '[aria-label=Conflicts]')).toMatch(
    /All of simulated at once From .*: All 3 hosts of simulated are in maintenance at once: Lifeboat recovers none of them/,
  )
})

it('is well to look at and to hear, in both themes and on a phone, with rows in each part', async () => {
  await looksWell()
})

it('withdraws a plan, and the conflict goes with it', async () => {
  await page.getByRole('button', { name: 'Withdraw' }).click()
  expect(await dialog().locator('.effect').innerText()).toMatch(/does not begin/)
  await send('moved to next week')
  await expect.poll(() => section('planned')).toMatch(/No maintenance is planned/)
  expect(stage.journal.read({ kinds: ['operator.maintenance-withdrawn'] })[0]?.data).toMatchObject({
    by: 'otto',
    reason: 'moved to next week',
  })
  await page.waitForSelector('[aria-label=Conflicts]', { state: 'detached' })
})

it('shows a plan as in force once its time has come, and refuses a withdrawal that was being written meanwhile', async () => {
  await stage.clock.run(
    stage.daemon.operations.planMaintenance({
      ...{ by: 'ann', reason: 'a fan', from: inMs(10 * 60_000), until: null },
      scope: { kind: 'host', name: 'cmp02' },
    }),
  )
  await open()
  await page.getByRole('button', { name: 'Withdraw' }).click()
  await stage.clock.advance(11 * 60_000)
  await expect.poll(() => section('now')).toMatch(/host cmp02 maintenance/)
  await dialog().locator('textarea').fill('too late')
  await dialog().locator('button[type=submit]').click()
  await page.waitForSelector('dialog .notice.bad')
  expect(await textOf(page, 'dialog .notice.bad')).toMatch(/Not done Maintenance \d+ of host cmp02 began at /)
  await page.keyboard.press('Escape')
})

it('ends what is in force', async () => {
  await page
    .getByRole('row', { name: /host cmp01/ })
    .getByRole('button', { name: 'End maintenance' })
    .click()
  await send('firmware is on')
  await expect.poll(() => section('now')).not.toContain('cmp01')
})

it('an open page of a host follows the plans of the whole cloud, and their beginning', async () => {
  const scope = { kind: 'cloud', name: null } as const
  const { operations } = stage.daemon
  await page.goto(`${stage.url}/hosts/cmp02`)
  await page.waitForSelector('.acts')
  const from = inMs(10 * 60_000)
  await operations.planMaintenance({ by: 'ann', reason: 'a new switch', from, until: null, scope })
  await stage.passOn()
  const notices = () => page.locator('.notice', { hasText: 'a new switch' }).locator('strong').allInnerTexts()
  await expect.poll(notices).toEqual(['Planned maintenance: the whole cloud'])
  await stage.clock.advance(11 * 60_000)
  await expect.poll(notices).toEqual(['Maintenance: the whole cloud'])
  await operations.endMaintenance({ by: 'ann', reason: 'it works', scope })
  await stage.passOn()
  await expect.poll(notices).toEqual([])
})

it('is for a reader to read: each act names the role that it needs', async () => {
  page = await stage.page('reader')
  await open()
  const button = plan()
  expect(await button.getAttribute('aria-disabled')).toBe('true')
  expect(await textOf(page, '.page-head .refusal')).toBe('Needs the role operator; rita is reader')
})
