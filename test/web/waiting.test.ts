/** An evacuation whose answer was lost: its page says what is waited for, and until when at most. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { textOf, violationsOf } from './looks.ts'
import { Stage } from './stage.ts'

let stage: Stage
let page: Page

const waits = (): number => stage.journal.read({ kinds: ['step.waiting'] }).length

beforeAll(async () => {
  stage = await Stage.open()
  stage.add({ host: 'cmp01', name: 'web', state: 'active' })
  stage.simulator.apiFault({ kind: 'drop-before', body: /evacuate/, times: 1 })
  stage.simulator.crash('cmp01')
  const id = await stage.until('cmp01', ({ phase }) => phase === 'recovering')
  page = await stage.page('reader')
  await page.goto(`${stage.url}/incidents/${id}`)
  await page.waitForSelector('.answers')
})
afterAll(() => stage.close())

it('is told as it begins, in the answers and with its instance', async () => {
  await stage.clock.until(() => waits() > 0, 60_000)
  await stage.passOn()
  await expect
    .poll(() => textOf(page, '.answers'))
    .toContain('1 waiting for an evacuation that Nova may still carry out')
  await expect
    .poll(() => textOf(page, 'main'))
    .toMatch(/may still carry out the evacuation sent at .+, until .+ at the latest/)
  expect(await violationsOf(page)).toEqual([])
})

it('and is over once it was sent again', async () => {
  await stage.ended('cmp01')
  await stage.passOn()
  await expect.poll(() => textOf(page, 'main')).not.toContain('may still carry out')
  expect(stage.incident('cmp01')?.outcomes).toEqual({ recovered: 1 })
})
