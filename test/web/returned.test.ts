/** The page of a host that came back by itself, from the moment on at which nobody knows yet which of its guests are off. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { textOf, violationsOf } from './looks.ts'
import { Stage } from './stage.ts'

let stage: Stage
let page: Page
const ann = { by: 'ann', reason: 'power works' }

beforeAll(async () => {
  stage = await Stage.open()
  stage.add({ host: 'cmp01', name: 'web', state: 'active' })
  await stage.daemon.operations.pause({ ...ann, until: null })
  stage.simulator.crash('cmp01')
  await stage.until('cmp01', ({ held }) => held?.code === 'PAUSED')
  stage.simulator.start('cmp01')
  await stage.clock.until(() => stage.daemon.monitor.verdict('cmp01')?.kind === 'healthy', 600_000)
  await stage.daemon.operations.resume(ann)
  const id = await stage.ended('cmp01')
  page = await stage.page('operator')
  await page.goto(`${stage.url}/incidents/${id}`)
  await page.waitForSelector('.answers')
})
afterAll(() => stage.close())

it('says that it is not known yet what is off, and never that nothing was on the host', async () => {
  const text = await textOf(page, 'main')
  expect(text).toContain('which of its instances are off is being found out')
  expect(text).not.toContain('No instance was on this host')
  expect(text).not.toContain('Nothing is left to do')
})

it('names what is off once Nova shows it, and one act starts all', async () => {
  stage.simulator.syncPower('cmp01')
  await stage.clock.until(() => stage.journal.read({ kinds: ['instances.watched'] }).length > 0, 900_000)
  await stage.passOn()
  await expect.poll(() => textOf(page, '.todo')).toContain('One instance is off since cmp01 went down')
  expect(await textOf(page, '.answers')).toContain('one instance that ran on it before is off')
  expect(await violationsOf(page)).toEqual([])

  await page.getByRole('button', { name: 'Start its instances' }).click()
  const dialog = page.locator('dialog')
  expect(await dialog.locator('.effect').innerText()).toMatch(/stay off: those that their owners stopped/)
  await dialog.locator('textarea').fill('power works')
  await dialog.locator('button[type=submit]').click()
  await dialog.waitFor({ state: 'detached' })
  await stage.clock.until(() => stage.journal.read({ kinds: ['instances.watched'] }).length > 1, 900_000)
  await stage.passOn()
  await expect.poll(() => textOf(page, '.answers')).toContain('everything that ran on it before runs')
  await expect.poll(() => textOf(page, '.todo')).toContain('Nothing is left to do')
})
