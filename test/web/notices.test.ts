/** The notices page: how each receiver stands, a test of it, and what it was sent, by receiver first. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import type { Deliver, Ended } from '../../src/notices/delivery.ts'
import type { ReceiverRule } from '../../src/notices/rules.ts'
import { complaintsOf, textOf, violationsOf } from './looks.ts'
import { Stage } from './stage.ts'

let stage: Stage
let page: Page
let complaints: string[]
let incident = ''
let answer: Ended = { ok: false, problem: 'HTTP 503', final: false }

beforeAll(async () => {
  const rule = {
    ...({ audience: 'operator', topics: null, segments: null, projects: null, least: 'info', alerts: 'none' } as const),
  }
  const limits = { freezeDelayMs: 30_000, giveUpAfterMs: 36_000_000, queueLimit: 100, maxInstances: 10 }
  const pager: Deliver = () => Promise.resolve(answer)
  const mail: Deliver = () => Promise.resolve({ ok: true, result: 'sendmail took it' })
  const refusing: Deliver = () => Promise.resolve({ ok: false, problem: 'HTTP 400', final: true })
  stage = await Stage.open({
    notices: {
      rules: {
        ...limits,
        receivers: new Map<string, ReceiverRule>([
          ['pager', rule],
          ['mail', rule],
          ['room', { ...rule, topics: ['alarm'] }],
        ]),
      },
      deliver: new Map([
        ['pager', pager],
        ['mail', mail],
        ['room', refusing],
      ]),
    },
  })
  stage.add({ host: 'cmp01', name: 'web-1', state: 'active' })
  stage.simulator.crash('cmp01')
  incident = await stage.ended('cmp01')
  for (let n = 0; n < 30; n++)
    stage.journal.append([{ kind: 'alarm.raised', data: { code: `TEST_${n}`, message: 'something' } }])
  await stage.clock.advance(120_000)
  page = await stage.page('operator')
  complaints = complaintsOf(page)
})
afterAll(() => stage.close())

async function open(query = ''): Promise<void> {
  await page.goto(`${stage.url}/notices${query}`)
  await page.waitForSelector('[id^=notices-], .empty')
}

const receiver = (name: string) => page.getByRole('table', { name: 'Receivers of notices' }).getByRole('row', { name })
const groups = (): Promise<string[]> => page.locator('h2[id^=notices-]').allInnerTexts()

async function said(name: string): Promise<string> {
  return (await receiver(name).innerText()).replace(/\s+/g, ' ')
}

async function looksWell(): Promise<void> {
  expect(await violationsOf(page)).toEqual([])
  await page.setViewportSize({ width: 390, height: 844 })
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  expect(await violationsOf(page)).toEqual([])
  await page.setViewportSize({ width: 1280, height: 860 })
  expect(wide).toBeLessThanOrEqual(0)
}

it('says of each receiver whether it takes notices, what waits, and why it fails', async () => {
  await open()
  expect(await said('pager')).toMatch(/takes nothing HTTP 503, since .* 3\d 0 none on record Send test/)
  expect(await said('mail')).toMatch(/takes notices 0 0 (just now|.* ago) Send test/)
  expect(await said('room')).toMatch(/takes nothing .*\(HTTP 400\), since .* 0 30 /)
  expect(await page.locator('nav a[aria-current=page]').innerText()).toBe('Notices')
  expect(complaints).toEqual([])
})

it('is by receiver first, the newest of each: one that is dead pushes out no other', async () => {
  expect(await groups()).toEqual(['To pager', 'To mail', 'To room'])
  const pager = await textOf(page, 'section:has(> header > #notices-0)')
  expect(pager).toMatch(/\d waiting.*and \d+ older ones/)
  expect(await textOf(page, 'section:has(> header > #notices-1)')).toMatch(/sent sendmail took it alarm critical/)
  expect(await page.locator('section:has(> header > #notices-0) tbody tr').count()).toBe(20)
})

it('is well to look at and to hear, in both themes and on a phone', looksWell)

describe('the filters', () => {
  it('are part of the address: receiver, state and incident', async () => {
    await page.locator('.filters select').selectOption('mail')
    await expect.poll(groups).toEqual(['To mail'])
    await page.getByRole('searchbox', { name: 'Of which incident' }).fill(incident)
    await expect
      .poll(() => textOf(page, 'section:has(> header > #notices-0)'))
      .toMatch(/incident-closed .*cmp01(?!.*alarm)/)
    await page.locator('.filters').getByRole('button', { name: 'sent', exact: true }).click()
    await page.waitForURL(
      ({ searchParams }) => searchParams.get('state') === 'sent' && searchParams.get('incident') === incident,
    )
    await page.reload()
    await expect.poll(groups).toEqual(['To mail'])
  })

  it('lead from the number of dead letters to them', async () => {
    await open()
    await receiver('room').getByRole('link', { name: '30' }).click()
    await expect.poll(groups).toEqual(['To room'])
    expect(await textOf(page, 'section:has(> header > #notices-0)')).toMatch(/30 dead/)
  })

  it('lead from an incident to who was told of it', async () => {
    await page.goto(`${stage.url}/incidents/${incident}`)
    await page.locator('.toolbar').getByRole('link', { name: 'Notices' }).click()
    await page.waitForURL(({ searchParams }) => searchParams.get('incident') === incident)
    await expect.poll(() => textOf(page, 'section:has(> header > #notices-0)')).toMatch(/cmp01(?!.*alarm)/)
  })

  it('that nothing fits say so', async () => {
    await open('?incident=nothing')
    await expect.poll(() => textOf(page, 'main')).toContain('No notice on record fits.')
  })
})

describe('Send test', () => {
  it('says what the receiver answered, and a receiver that takes it again is well', async () => {
    await open()
    await page.getByRole('button', { name: 'Send test to pager' }).click()
    await expect.poll(() => said('pager')).toContain('It refused the test: HTTP 503')
    answer = { ok: true, result: 'HTTP 204' }
    await page.getByRole('button', { name: 'Send test to pager' }).click()
    await expect.poll(() => said('pager')).toMatch(/takes notices .*It accepted the test: HTTP 204/)
    expect(await violationsOf(page)).toEqual([])
  })

  it('is not for a reader, and names the role that it needs', async () => {
    page = await stage.page('reader')
    await open()
    expect(await said('pager')).toContain('Needs the role operator; rita is reader')
    const button = page.getByRole('button', { name: 'Send test to pager' })
    expect(await button.getAttribute('aria-disabled')).toBe('true')
  })
})

it('the timeline of an incident says which notices were given up; all of them only if someone asks', async () => {
  const dead = { notice: 'n', receiver: 'room', attempts: 3, code: 'REFUSED', message: 'HTTP 400' } as const
  stage.journal.append([{ kind: 'notice.dead-lettered', incident, host: 'cmp01', data: dead }])
  await page.goto(`${stage.url}/incidents/${incident}`)
  const notices = page.locator('.timeline .told', { hasText: 'Notice' })
  await expect.poll(() => notices.allInnerTexts()).toEqual(['Notice for room given up after 3 tries: HTTP 400'])
  await page.getByLabel('Show all').check()
  await expect.poll(() => notices.allInnerTexts()).toContain('Notice sent to mail (sendmail took it)')
})
