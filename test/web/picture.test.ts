/** The picture in README.md: the page of a recovery that is over. `RECORD_PICTURES=1` takes it again. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { mixedInstances, Stage } from './stage.ts'

const folder = new URL('../../docs/pictures/', import.meta.url)
const mostBytes = 150_000

let stage: Stage
beforeAll(async () => {
  stage = await Stage.open()
})
afterAll(() => stage.close())

it('shows an incident on one screen, small enough for a page on the web', async () => {
  stage.add(...mixedInstances('cmp01', 'cmp02'))
  stage.simulator.crash('cmp01')
  const id = await stage.ended('cmp01')
  const page = await stage.page('operator')
  await page.setViewportSize({ width: 1000, height: 570 })
  await page.emulateMedia({ colorScheme: 'light' })
  await page.goto(`${stage.url}/incidents/${id}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByText('db-resized').first().waitFor()
  const picture = await page.screenshot()
  if (process.env['RECORD_PICTURES'] === undefined) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(new URL('incident.png', folder), picture)
  expect(picture.byteLength).toBeLessThan(mostBytes)
})
