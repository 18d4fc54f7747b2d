/** A receiver of notices that takes none: all is not well, for nobody would be told. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import type { Deliver, Ended } from '../../src/notices/delivery.ts'
import { textOf, violationsOf } from './looks.ts'
import { Stage } from './stage.ts'

let stage: Stage
let page: Page
let answer: Ended = { ok: false, problem: 'HTTP 503', final: false }

beforeAll(async () => {
  const rule = {
    ...({ audience: 'operator', topics: null, segments: null, projects: null, least: 'info', alerts: 'none' } as const),
  }
  const limits = { freezeDelayMs: 30_000, giveUpAfterMs: 3_600_000, queueLimit: 10, maxInstances: 10 }
  const deliver: Deliver = () => Promise.resolve(answer)
  stage = await Stage.open({
    notices: { rules: { ...limits, receivers: new Map([['pager', rule]]) }, deliver: new Map([['pager', deliver]]) },
  })
  page = await stage.page('admin')
})
afterAll(() => stage.close())

async function title(): Promise<string> {
  await page.goto(stage.url)
  await page.waitForSelector('.fleet')
  return textOf(page, 'h1')
}

it('is not told at its first failed try: it may restart', async () => {
  expect(await title()).toBe('All is well')
  stage.journal.append([{ kind: 'alarm.raised', data: { code: 'TEST', message: 'something' } }])
  await stage.clock.advance(30_000)
  expect(await title()).toBe('All is well')
})

it('is the first sentence after a minute, with what it said', async () => {
  await stage.clock.advance(60_000)
  expect(await title()).toBe('pager takes no notices')
  expect(await textOf(page, '.holds .notice')).toMatch(
    /HTTP 503, since .*1 notice waiting.*lifeboat notice test pager/s,
  )
  expect(await violationsOf(page)).toEqual([])
})

it('and all is well once it takes what waited', async () => {
  answer = { ok: true, result: 'HTTP 204' }
  await stage.clock.advance(300_000)
  expect(await title()).toBe('All is well')
})
