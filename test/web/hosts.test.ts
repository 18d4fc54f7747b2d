/** The page of all hosts, and the line above a plan: whether they could fail safely now. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { complaintsOf, textOf, violationsOf } from './looks.ts'
import { mixedInstances, Stage } from './stage.ts'
import { simulatedSegment } from '../../src/rehearsal/simulated-parts.ts'

let stage: Stage
let page: Page
let complaints: string[]
const edge = { ...simulatedSegment, name: 'edge', storage: 'local' as const, fencing: [], probes: [] }

beforeAll(async () => {
  stage = await Stage.open({
    hosts: ['cmp01', 'cmp02', 'cmp03', 'cmp04', 'edge1', 'edge2'],
    segmentOf: (host) => (host.startsWith('edge') ? edge : simulatedSegment),
    readiness: true,
  })
  stage.add(...mixedInstances('cmp01', 'cmp02'), { host: 'edge1', name: 'till', state: 'active' })
  stage.simulator.bmc('cmp03', { reachable: false })
  // Each host is read again within half an hour, and its devices within ten minutes.
  await stage.clock.advance(32 * 60_000)
  page = await stage.page('reader')
  complaints = complaintsOf(page)
  await page.goto(`${stage.url}/hosts`)
  await page.waitForSelector('.long-table')
}, 120_000)
afterAll(() => stage.close())

// Not the inner text: that is empty until the browser has drawn the row.
const rows = (): Promise<string[]> => page.locator('.long-table td.name .primary-text').allTextContents()
const row = async (host: string): Promise<string> => {
  const shown = page.locator('.long-table tbody tr', { hasText: host })
  await shown.scrollIntoViewIfNeeded()
  return (await shown.innerText()).replace(/\s+/g, ' ')
}

it('is in the navigation, and says first how many failures can be taken and what cannot recover by itself', async () => {
  expect(await page.locator('nav [aria-current=page]').innerText()).toBe('Hosts')
  expect(await textOf(page, '.readiness')).toBe(
    'Lifeboat can handle 2 host failures now; the cloud has the least room. ' +
      'Segment edge cannot recover by itself: no fencing method is configured. ' +
      'cmp03 cannot recover by itself: no fencing device answers. ' +
      '1 instance on local disks would be left, in segment edge.',
  )
  expect(complaints).toEqual([])
})

it('says of each host what would come back, whether it could be fenced, and what it lacks, with the age of the answer', async () => {
  expect(await row('cmp01')).toMatch(/healthy .*\d+ of 17 .*answers bmc on, (just now|.* ago) unknown .*would be left/)
  expect(await row('cmp03')).toMatch(/silent bmc no answer, .*bmc did not answer at .*: The BMC did not answer within/)
  expect(await row('edge1')).toMatch(
    /0 of 1 1 LOCAL_DISK · (just now|.* ago) .*none unknown .*a person must attest its death.*No probe watches it/,
  )
})

it('has those that need a person first, is sorted by every column, searched and filtered', async () => {
  await page.goto(`${stage.url}/hosts`)
  await expect.poll(async () => (await rows()).slice(0, 3)).toEqual(['cmp03', 'edge1', 'edge2'])
  await page.getByRole('button', { name: 'Host', exact: true }).click()
  await expect.poll(async () => (await rows())[0]).toBe('cmp01')
  await page.getByRole('button', { name: 'Would come back' }).click()
  await expect.poll(async () => (await rows())[0]).toBe('cmp01')
  await page.getByRole('button', { name: 'needs a person' }).click()
  await expect.poll(rows).toHaveLength(3)
  await page.getByPlaceholder('Host, segment, reason').fill('no_fencing')
  await expect.poll(rows).toEqual(['edge1', 'edge2'])
  expect(page.url()).toContain('state=person')
  await page.goto(`${stage.url}/hosts`)
  await page.waitForSelector('.long-table')
})

it('says what holds a host as soon as someone orders it', async () => {
  await stage.daemon.operations.startMaintenance({
    ...{ by: 'ann', reason: 'firmware', until: null, scope: { kind: 'host', name: 'cmp02' } },
  })
  await stage.passOn()
  await expect.poll(() => row('cmp02')).toContain('maintenance')
})

it('on a phone a host is a card that says the same', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await row('cmp03')).toMatch(/cmp03 .*healthy.*no instances, fencing silent\. bmc did not answer at/)
  expect(await violationsOf(page)).toEqual([])
  await page.setViewportSize({ width: 1280, height: 860 })
})

it('leads to the page of a host, and to its plan, above which the same is said', async () => {
  await page.locator('.long-table tbody tr', { hasText: 'cmp03' }).getByRole('link', { name: 'What if' }).click()
  await page.waitForSelector('.readiness-line')
  const line = await textOf(page, '.readiness-line')
  expect(line).toMatch(
    /Verdict healthy Fencing silent bmc no answer, (just now|.* ago) Would come back no instances, read/,
  )
  expect(line).toMatch(/bmc did not answer at .*: The BMC did not answer within 2 s/)
  expect(await violationsOf(page)).toEqual([])
  await page.getByRole('link', { name: 'the host now' }).click()
  await page.waitForSelector('h1:has-text("cmp03")')
})
