/** Times on the pages: those of people, in their zone, also in the middle of a sentence of the daemon. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { textOf } from './looks.ts'
import { Stage } from './stage.ts'

const hour = 3_600_000

let stage: Stage
let page: Page
let incident = ''

beforeAll(async () => {
  stage = await Stage.open({ hosts: 4, readiness: true, beginsAt: Date.now() - 72 * hour })
  stage.add({ host: 'cmp01', name: 'web', state: 'active' }, { host: 'cmp01', name: 'batch', state: 'stopped' })
  const until = new Date(stage.clock.wall() + hour).toISOString()
  const ordered = { by: 'ann', reason: 'new memory', until }
  await stage.daemon.operations.startMaintenance({ ...ordered, scope: { kind: 'host', name: 'cmp02' } })
  await stage.daemon.operations.pause(ordered)
  stage.simulator.crash('cmp01')
  incident = await stage.until('cmp01', ({ held }) => held?.code === 'PAUSED')
  await stage.clock.advance(10 * 60_000)
  page = await stage.page('admin')
})
afterAll(() => stage.close())

const pages: [name: string, path: () => string, ready: string][] = [
  ['overview', () => '/', '.tile'],
  ['incidents', () => '/incidents', '.list'],
  ['incident', () => `/incidents/${incident}`, '.timeline'],
  ['hosts', () => '/hosts', '.long-table'],
  ['host that is down', () => '/hosts/cmp01', '.timeline'],
  ['host in maintenance', () => '/hosts/cmp02', '.timeline'],
  ['maintenance', () => '/maintenance', '#calendar'],
  ['journal', () => '/journal', '.entries'],
]

/** The text of the page, without what is folded. */
async function textAt(path: string, ready: string): Promise<string> {
  await page.goto(stage.url + path)
  await page.waitForSelector(ready)
  return page.locator('body').innerText()
}

const isoTime = /.*T\d\d:\d\d.*/g

describe('while a pause and a maintenance with an end hold', () => {
  it.each(pages)('no time stands there as machines write it: the page %s', async (_name, path, ready) => {
    expect((await textAt(path(), ready)).match(isoTime)).toBe(null)
  })

  it('the end of the order that holds the incident stands in its sentence', async () => {
    await textAt(`/incidents/${incident}`, '.timeline')
    expect(await textOf(page, '.answers')).toMatch(
      /paused by ann until \d+ \w+ \d\d:\d\d:\d\d \(the whole cloud\): new memory/,
    )
  })
})

describe('once it is over, of another day', () => {
  beforeAll(() => stage.ended('cmp01'))

  it.each(['incident', 'host'])('times and ages stand beside the line of the timeline, not on it: %s', async (of) => {
    const text = await textAt(of === 'host' ? '/hosts/cmp01' : `/incidents/${incident}`, '.timeline .since')
    expect(text.match(isoTime)).toBe(null)
    const rooms = await page.locator('.timeline > li').evaluateAll((lines) =>
      lines.map((line) => {
        const [since, dot] = ['.since', '.dot'].map((part) => line.querySelector(part)?.getBoundingClientRect())
        return { text: line.textContent, room: (dot?.left ?? 0) - (since?.right ?? Infinity) }
      }),
    )
    expect(rooms.filter(({ room }) => room < 0)).toEqual([])
    expect(text).toMatch(of === 'host' ? /silent 1 h/ : /\+59 min \d+ s/)
  })
})
