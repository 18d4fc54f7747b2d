/** Pages of a daemon that shares its journal say on each page whether it acts, and who does. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import type { TenureView } from '../../src/domain/tenure.ts'
import { textOf, violationsOf } from './looks.ts'
import { Stage } from './stage.ts'

const standby: TenureView = {
  ...{ state: 'standby', name: 'ctl2', epoch: 3, active: { name: 'ctl1', address: 'https://ctl1.example.org:9394' } },
  ...{ waits: 'ctl1 is active', leaseLeftMs: null, staged: 0, behind: 0, daemons: [], namesake: null },
}
let tenure: TenureView = standby
let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await Stage.open({ tenure: () => tenure })
  page = await stage.page('admin')
})
afterAll(() => stage.close())

it('a standby sends people to the active one, from whatever page they are on', async () => {
  for (const path of ['/', '/incidents', '/hosts/cmp01']) {
    await page.goto(stage.url + path)
    await page.waitForSelector('main h1')
    await expect.poll(() => textOf(page, 'main')).toContain('ctl2 stands by')
    expect(await page.getByRole('link', { name: 'ctl1' }).getAttribute('href')).toBe('https://ctl1.example.org:9394')
    expect(await violationsOf(page)).toEqual([])
  }
})

it('nobody active is said in red, with what keeps this one from it', async () => {
  tenure = { ...standby, active: null, waits: 'its own writes to the shared journal do not come through' }
  await page.goto(stage.url)
  await expect.poll(() => textOf(page, '.notice.bad')).toContain('its own writes to the shared journal do not come')
})

it('the active one says so too, once its lease has run out', async () => {
  tenure = { ...standby, state: 'suspended', name: 'ctl1', waits: null, leaseLeftMs: 0 }
  await page.goto(stage.url)
  await expect.poll(() => textOf(page, '.notice.bad')).toContain('the shared journal does not confirm')
})

it('the active one says nothing of it while its lease holds', async () => {
  tenure = { ...standby, state: 'active', name: 'ctl1', waits: null, leaseLeftMs: 5_000 }
  await page.goto(stage.url)
  await page.waitForSelector('main h1')
  await expect.poll(() => textOf(page, 'main')).toContain('All is well')
  expect(await textOf(page, 'main')).not.toContain('stands by')
})

it('another daemon of its name is said on every daemon, with what to do', async () => {
  const namesake = {
    ...{ name: 'ctl1', address: 'https://192.0.2.7:9394', version: '1', mode: 'armed', configDigest: 'd' },
    ...{ copiedSeq: 7, goodPollAgeMs: 900, at: '2026-01-02T03:04:05.000Z', present: true },
  }
  tenure = { ...standby, state: 'active', name: 'ctl1', waits: null, leaseLeftMs: 5_000, namesake }
  await page.goto(stage.url)
  await expect.poll(() => textOf(page, '.notice.bad')).toContain('Two daemons are called ctl1')
  expect(await textOf(page, '.notice.bad')).toContain('give each its own shared_journal.name')
  expect(await violationsOf(page)).toEqual([])
})
