/** What an incident did not bring back, tried again from its page: said by name beforehand, refused once someone was faster. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Locator, Page } from 'playwright-core'
import { textOf, violationsOf } from './looks.ts'
import { Stage } from './stage.ts'

let stage: Stage
let page: Page
let id: string

const press = (): Locator => page.getByRole('button', { name: 'Try again', exact: true })

/** The dialog of the act, with what was said in it and the reason filled in. */
async function asked(reason: string): Promise<Locator> {
  await press().click()
  const dialog = page.locator('dialog')
  await dialog.locator('textarea').fill(reason)
  return dialog
}

beforeAll(async () => {
  stage = await Stage.open()
  stage.add({ host: 'cmp01', name: 'web', state: 'active' }, { host: 'cmp01', name: 'db', state: 'active' })
  stage.simulator.apiFault({ kind: 'refuse', status: 400, path: /action/, body: /evacuate/ })
  stage.simulator.crash('cmp01')
  id = await stage.ended('cmp01')
  stage.simulator.clearApiFaults()
  page = await stage.page()
  await page.goto(`${stage.url}/incidents/${id}`)
  await page.waitForSelector('.answers')
})
afterAll(() => stage.close())

it('says by name what would be brought back, and that the host is fenced again first', async () => {
  await press().click()
  const effect = await page.locator('dialog .effect').innerText()
  expect(effect).toMatch(/fences the host again first/)
  expect(effect).toMatch(/2 instances/)
  expect(effect).toMatch(/(web, db|db, web)/)
  expect(await violationsOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Do nothing' }).click()
})

it('is not for an operator, and says for whom it is', async () => {
  const theirs = await stage.page('operator')
  await theirs.goto(`${stage.url}/incidents/${id}`)
  await theirs.waitForSelector('.answers')
  const button = theirs.getByRole('button', { name: 'Try again', exact: true })
  expect(await button.getAttribute('aria-disabled')).toBe('true')
  await theirs.close()
  page = await stage.page()
  await page.goto(`${stage.url}/incidents/${id}`)
  await page.waitForSelector('.answers')
})

it('an incident that another person opened while the dialog stood is not opened twice', async () => {
  const dialog = await asked('there is room again')
  await stage.daemon.operations.tryAgain(id, { by: 'bob', reason: 'the same thought', proof: null })
  await dialog.locator('button[type=submit]').click()
  await expect.poll(() => dialog.locator('[role=alert]').innerText()).toContain('Not done')
  await dialog.getByRole('button', { name: 'Do nothing' }).click()
  expect(stage.journal.read({ kinds: ['operator.again'] })).toHaveLength(1)
})

it('the page follows: it leads to the later incident, which brings both back', async () => {
  await stage.passOn()
  await page.locator('.other-acts > summary').click()
  await expect.poll(() => press().getAttribute('aria-disabled')).toBe('true')
  const later = await stage.ended('cmp01')
  expect(later).not.toBe(id)
  await stage.passOn()
  await expect.poll(() => textOf(page, '.todo')).toContain(later)
  expect(stage.incident('cmp01')?.outcomes).toEqual({ recovered: 2 })
})
