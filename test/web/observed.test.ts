/** The pages of a daemon that only observes: a dead host, everything decided, and nothing sent. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { textOf, violationsOf } from './looks.ts'
import { mixedInstances, Stage } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await Stage.open({ hosts: 6, mode: 'observe' })
  stage.add(...mixedInstances('cmp01', 'cmp02'))
  stage.simulator.crash('cmp01')
  const id = await stage.ended('cmp01')
  page = await stage.page('reader')
  await page.goto(`${stage.url}/incidents/${id}`)
  await page.waitForSelector('.long-table')
})
afterAll(() => stage.close())

it('says what would have been recovered, and what would be left, each with its reason', async () => {
  const answers = await textOf(page, '.answers')
  expect(answers).toMatch(
    /What came back Nothing: in observe mode nothing is sent\. Armed, 1\d of 17 instances would have been/,
  )
  expect(answers).toMatch(
    /What did not, and why .*1 would be left broken ERROR_BEFORE.*1 would be left opted-out WISH_LEAVE/,
  )
})

it('does not say that nothing is to be done', async () => {
  expect(await textOf(page, '.todo')).toMatch(
    /Nothing was sent: Lifeboat only observes\. If cmp01 is still down, recover its 17/,
  )
})

it('groups apart what would be left, and finds it', async () => {
  const left = page.locator('.groups button', { hasText: 'WISH_LEAVE' })
  expect(await left.innerText()).toMatch(/would be left/)
  await left.click()
  await expect.poll(() => page.locator('.long-table tbody a.primary-text').allTextContents()).toEqual(['opted-out'])
  expect(await violationsOf(page)).toEqual([])
})

it('the overview does not count it as something that a person left undone', async () => {
  await page.goto(stage.url)
  await page.waitForSelector('.fleet')
  expect(await textOf(page, 'h1')).toBe('1 host down')
  expect(await page.locator('.notice.bad').count()).toBe(0)
})

it('no word that a host is dead is asked for: neither on its page nor on that of its open incident', async () => {
  const admin = await stage.page('admin')
  const button = admin.locator('main .act', { hasText: 'Attest that it is dead' })
  await admin.goto(`${stage.url}/hosts/cmp01`)
  await expect.poll(() => button.locator('.refusal').innerText()).toContain('Lifeboat only observes')
  await admin.route('**/review?*', async (route) => {
    const response = await route.fetch()
    const review = (await response.json()) as object
    await route.fulfill({ response, json: { ...review, ended: null, phase: 'surveying' } })
  })
  await admin.goto(`${stage.url}/incidents/${stage.incident('cmp01')?.id ?? ''}`)
  await admin.locator('.other-acts > summary').click()
  expect(await button.locator('.refusal').innerText()).toContain('your word would end with it')
})
