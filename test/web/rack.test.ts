/** A rack fails: one card says so with all that is behind it, and one act lets all of it past the brake. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { requestHeader } from '../../src/domain/review.ts'
import { complaintsOf, textOf, violationsOf } from './looks.ts'
import { Stage } from './stage.ts'

const hosts = ['cmp01', 'cmp02', 'cmp03', 'cmp04']
let stage: Stage
let page: Page

beforeAll(async () => {
  const failureDomain = { key: 'rack', maxHosts: 1, maxShare: 1 }
  stage = await Stage.open({
    hosts: 12,
    segment: { brake: { maxHosts: 3, maxShare: 1 } },
    brake: { maxHosts: 12, maxShare: 1, failureDomain },
  })
  stage.simulator.addAggregate('rack-a', [...hosts, 'cmp05'], { rack: 'a' })
  for (const host of hosts)
    for (const n of [1, 2]) stage.add({ host, name: `app-${host}-${n}`, state: n === 1 ? 'active' : 'stopped' })
  await stage.clock.advance(120_000)
  stage.simulator.crash(...hosts)
  for (const host of hosts) await stage.until(host, ({ held }) => held?.code === 'BRAKE')
  page = await stage.page('admin')
})
afterAll(() => stage.close())

const card = () => page.getByRole('region', { name: /Rack a/ })

it('one card, with the hosts and the instances behind it, and no row beside it', async () => {
  const complaints = complaintsOf(page)
  await page.goto(`${stage.url}/`)
  await card().waitFor()
  await stage.clock.advance(1_000)
  await page.reload()
  await expect.poll(() => textOf(page, '.held-group')).toMatch(/Rack a: 4 hosts on hold 8 instances, 4 running/)
  expect(await textOf(page, 'h1')).toBe('4 hosts of rack a wait for you')
  expect(await page.getByRole('region', { name: /open incidents/i }).count()).toBe(0)
  expect(await card().getByRole('list', { name: 'Hosts on hold' }).innerText()).toMatch(/cmp01 2.*cmp04 2/s)
  expect(complaints).toEqual([])
})
it('axe finds nothing, and its act is on a phone’s first screen', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.waitForSelector('.held-group button')
  const box = await card().getByRole('button').boundingBox()
  expect([await violationsOf(page), box!.y + box!.height <= 844]).toEqual([[], true])
  await card().getByRole('button').click()
  const inside = page.locator('dialog .dialog-inside')
  // What is wider is cut off: it is the words of a warning, and its button.
  expect(await inside.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
  await page.keyboard.press('Escape')
  await page.setViewportSize({ width: 1280, height: 860 })
})
it('the page of one of them, where the mail leads, names and links the others and has the act for all', async () => {
  await page.goto(`${stage.url}/incidents/${stage.incident('cmp02')?.id ?? ''}`)
  const others = card().getByRole('list', { name: 'Hosts on hold' }).getByRole('link')
  await expect.poll(() => others.allInnerTexts()).toEqual(hosts)
  expect(await others.last().getAttribute('href')).toBe(`/incidents/${stage.incident('cmp04')?.id ?? ''}`)
  expect(await card().getByRole('button').innerText()).toBe('Override the brake for all 4')
  expect(await textOf(page, '.todo')).toMatch(/the hosts that failed with it/)
  await page.goto(`${stage.url}/`)
  await card().waitFor()
})
it('a host in maintenance is marked, and its segment is not folded', async () => {
  await stage.daemon.operations.startMaintenance({
    ...{ by: 'ann', reason: 'memory', scope: { kind: 'host', name: 'cmp09' }, until: null },
  })
  await page.reload()
  const tile = page.locator('.tile.ordered')
  await expect.poll(() => tile.allInnerTexts()).toEqual([expect.stringMatching(/cmp09/)])
  expect(await tile.locator('.icon.wrench').count()).toBe(1)
  expect(await page.locator('details.segment').count()).toBe(0)
  await stage.daemon.operations.endMaintenance({ by: 'ann', reason: 'done', scope: { kind: 'host', name: 'cmp09' } })
})
it('a reader sees why the act is not theirs', async () => {
  const reader = await stage.page('reader')
  await reader.goto(`${stage.url}/`)
  await expect.poll(() => textOf(reader, '.held-group')).toMatch(/admin/)
  const answer = await reader.request.post(`${stage.url}/v1/brake/override`, {
    headers: { [requestHeader]: 'test' },
    data: { reason: 'no', scope: 'domain:a', incidents: ['i'] },
  })
  expect(answer.status()).toBe(403)
  await reader.close()
  page = await stage.page('admin')
  await page.goto(`${stage.url}/`)
})
it('a host that failed after the dialog was opened is not let past; the others are, each with its entry', async () => {
  await card().getByRole('button', { name: 'Override the brake for all 4' }).click()
  const dialog = page.getByRole('dialog')
  expect(await dialog.locator('.effect').innerText()).toMatch(/cmp01, cmp02, cmp03, cmp04/)
  stage.simulator.crash('cmp05')
  await stage.until('cmp05', ({ held }) => held?.code === 'BRAKE')
  await dialog.locator('textarea').fill('the PDU of rack a burnt')
  await dialog.locator('button[type=submit]').click()
  await dialog.waitFor({ state: 'detached' })
  const entries = stage.journal.read({ kinds: ['operator.override'] })
  expect(entries.map(({ host, actor }) => [host, actor])).toEqual(hosts.map((host) => [host, 'operator:ann']))
  expect(stage.incident('cmp05')?.held?.code).toBe('BRAKE')
})
it('a second order for the same hosts is refused in words', async () => {
  const incidents = hosts.map((host) => stage.incident(host)?.id ?? '')
  const answer = await page.request.post(`${stage.url}/v1/brake/override`, {
    headers: { [requestHeader]: 'test' },
    data: { reason: 'again', scope: 'domain:a', incidents },
  })
  expect([answer.status(), await answer.text()]).toEqual([409, expect.stringContaining('None of these incidents')])
})
it('limits that are passed and hold no incident any more are one notice', async () => {
  const id = stage.incident('cmp05')?.id ?? ''
  await stage.daemon.operations.override(id, { by: 'ann', reason: 'the same PDU' })
  for (const host of [...hosts, 'cmp05']) await stage.ended(host)
  await page.goto(`${stage.url}/`)
  const notice = page.locator('.notice', { hasText: 'The brake' })
  await expect
    .poll(() => notice.innerText())
    .toMatch(/^The brake would hold the next failure\s.*of segment simulated .*of rack a /s)
})
