/** What is ordered for a host, from its own page and from an incident's: no act is offered that the daemon refuses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { textOf } from './looks.ts'
import { Stage } from './stage.ts'

let stage: Stage
let page: Page
const ann = { by: 'ann', reason: 'network works' }

beforeAll(async () => {
  stage = await Stage.open({ hosts: 6, brake: { maxHosts: 1, maxShare: 1, siteLossShare: 1 } })
  stage.add({ host: 'cmp01', name: 'web', state: 'active' })
  page = await stage.page()
})
afterAll(() => stage.close())

async function openHost(host: string): Promise<void> {
  await page.goto(`${stage.url}/hosts/${host}`)
  await page.waitForSelector('.acts')
}

async function openIncident(id: string): Promise<void> {
  await page.goto(`${stage.url}/incidents/${id}`)
  await page.waitForSelector('.answers')
  await page.locator('.other-acts > summary').click()
}

/** Why a button cannot be pressed; null: it can. */
async function refusal(name: string): Promise<string | null> {
  const button = page.locator('main .act').getByRole('button', { name, exact: true })
  const described = await button.getAttribute('aria-describedby')
  return described === null ? null : page.locator(`[id="${described}"]`).innerText()
}

const notOver = 'Its incident is not over: a host returns after its incident'

describe('a host that fails twice', () => {
  let first = ''

  it('is not offered to return while its own incident is open', async () => {
    stage.simulator.crash('cmp01')
    await stage.until('cmp01', ({ phase }) => phase === 'recovering')
    await openHost('cmp01')
    expect([await refusal('Return it to service'), await refusal('Keep it out')]).toEqual([notOver, null])
    first = await stage.ended('cmp01')
  })

  it('no word of its death is asked for while it beats under the flags that the incident left', async () => {
    stage.simulator.start('cmp01')
    const reason = (): string | undefined => stage.daemon.monitor.verdict('cmp01')?.reason
    await stage.clock.until(() => reason() === 'BEATING_UNDER_OUR_FLAGS', 600_000)
    await openHost('cmp01')
    expect(await refusal('Attest that it is dead')).toBe('It is alive: its heartbeat beats')
  })

  it('is not offered to return from the page of an earlier incident either, whose flags it still carries', async () => {
    const isProving = (): boolean => stage.daemon.operations.host('cmp01').return?.state === 'proving'
    await stage.clock.until(isProving, 600_000)
    await stage.daemon.operations.pause({ ...ann, until: null })
    stage.simulator.crash('cmp01')
    await stage.until('cmp01', ({ id, held }) => id !== first && held?.code === 'PAUSED')
    await openIncident(first)
    await expect.poll(() => refusal('Return the host to service')).toBe(notOver)
    expect(await refusal('Keep the host out')).toBe(null)
  })
})

it('an order to keep out a host that is in service is shown on its page, and can be taken back there', async () => {
  const at = '2030-01-01T00:00:00.000Z'
  const order = { by: 'bob', reason: 'memory errors', keepOut: true, at }
  const back = { state: 'back', code: 'ENABLED_BEFORE_ORDER', message: 'too late', since: at, leftovers: [], order }
  await page.route('**/v1/hosts/cmp05', async (route) => {
    const response = await route.fetch()
    const detail = (await response.json()) as object
    await route.fulfill({ response, json: { ...detail, return: back } })
  })
  await openHost('cmp05')
  expect(await textOf(page, 'section:has(> header > #return)')).toContain('bob keeps it out: memory errors')
  expect([await refusal('Return it to service'), await refusal('Keep it out')]).toEqual([
    null,
    'Lifeboat has not disabled it',
  ])
  await page.unroute('**/v1/hosts/cmp05')
})

describe('an incident that a pause holds', () => {
  const effect = async (title: string): Promise<string> => {
    await page.locator('main .act').getByRole('button', { name: title, exact: true }).click()
    const said = await textOf(page, 'dialog .effect')
    await page.keyboard.press('Escape')
    return said
  }

  it('promises no evacuation for a word that its host is dead', async () => {
    await openIncident(stage.incident('cmp01')?.id ?? '')
    expect(await refusal('Override the brake')).toBe('The brake does not hold it')
    expect(await effect('Attest that it is dead')).toMatch(/stays on hold \(paused by ann .*once that ends\. /)
  })

  it('nor does the page of a host that the pause covers', async () => {
    stage.simulator.crash('cmp02')
    const isDead = (): boolean => stage.daemon.monitor.verdict('cmp02')?.kind === 'suspect'
    await stage.clock.until(isDead, 600_000)
    await openHost('cmp02')
    expect(await effect('Attest that it is dead')).toMatch(/the recovery of cmp02 stays on hold/)
  })

  it('offers the override that the daemon takes while the brake holds it as well, and says what comes first', async () => {
    await stage.until('cmp02', ({ held }) => held?.code === 'PAUSED')
    await openIncident(stage.incident('cmp02')?.id ?? '')
    await expect.poll(() => refusal('Override the brake')).toBe(null)
    expect(await effect('Override the brake')).toContain('once nothing else holds it')
    expect(await effect('Attest that it is dead')).toContain('and the brake opens or you override it')
    await page.getByRole('button', { name: 'Override the brake', exact: true }).click()
    await page.locator('dialog textarea').fill('both burn')
    await page.locator('dialog button[type=submit]').click()
    await page.locator('dialog').waitFor({ state: 'detached' })
    expect(stage.journal.read({ kinds: ['operator.override'] })).toHaveLength(1)
  })
})

it('no order is offered for an incident that is being cancelled', async () => {
  const id = stage.incident('cmp01')?.id ?? ''
  await stage.daemon.operations.cancel(id, ann)
  await openIncident(id)
  const acts = ['Override the brake', 'Attest that it is dead', 'Cancel this incident']
  expect(await Promise.all(acts.map(refusal))).toEqual(acts.map(() => 'ann already cancelled it'))
})
