/** Every act that can be ordered from a page: what it says beforehand, that it asks for a reason, and that the journal has it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import type { Entry, EntryKind } from '../../src/domain/entry.ts'
import { textOf, violationsOf } from './looks.ts'
import { beatMs, Stage } from './stage.ts'

let stage: Stage
let page: Page

/** Two hosts are held by the brake (two of six may fail), one waits for a person's word (its BMC is dead). */
beforeAll(async () => {
  stage = await Stage.open({ hosts: 6, brake: { maxHosts: 1, maxShare: 1, siteLossShare: 1 } })
  for (const host of ['cmp01', 'cmp02', 'cmp03']) stage.add({ host, name: `app-${host}`, state: 'active' })
  stage.simulator.crash('cmp02', 'cmp03')
  await stage.until('cmp02', ({ held }) => held?.code === 'BRAKE')
  await stage.until('cmp03', ({ held }) => held?.code === 'BRAKE')
  page = await stage.page('admin')
})
afterAll(() => stage.close())

async function open(path: string, ready: string): Promise<void> {
  await page.goto(stage.url + path)
  await page.waitForSelector(ready)
}

async function openIncident(host: string): Promise<void> {
  await open(`/incidents/${stage.incident(host)?.id ?? ''}`, '.answers')
  await page.locator('.other-acts > summary').click()
}

/** Presses, reads what will happen, gives the words, orders. */
async function order(title: string, words: string, says: RegExp): Promise<void> {
  await page.locator('main .act').getByRole('button', { name: title, exact: true }).click()
  const dialog = page.locator('dialog')
  expect(await dialog.locator('.effect').innerText()).toMatch(says)
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA')
  await dialog.locator('textarea').fill(words)
  await dialog.locator('button[type=submit]').click()
  await dialog.waitFor({ state: 'detached' })
}

function last<K extends EntryKind>(kind: K): Extract<Entry, { kind: K }> | undefined {
  return stage.journal.read({ kinds: [kind] }).at(-1) as Extract<Entry, { kind: K }> | undefined
}

describe('a dialog', () => {
  it('sends nothing without a reason, keeps the focus inside, and closes without doing anything', async () => {
    await openIncident('cmp02')
    const head = stage.journal.head().seq
    const button = page.getByRole('button', { name: 'Override the brake', exact: true })
    await button.click()
    const dialog = page.locator('dialog')
    await dialog.locator('button[type=submit]').click()
    expect(await dialog.count()).toBe(1)
    const inside = new Set<boolean>()
    for (let n = 0; n < 12; n++) {
      await page.keyboard.press('Tab')
      inside.add(
        await page.evaluate(
          () =>
            document.activeElement === document.body ||
            document.querySelector('dialog')!.contains(document.activeElement),
        ),
      )
    }
    expect([...inside]).toEqual([true])
    expect(await violationsOf(page)).toEqual([])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Override the brake')
    // What was typed is not lost with it.
    await button.click()
    await dialog.locator('textarea').fill('I saw it b')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await button.click()
    expect(await dialog.locator('textarea').inputValue()).toBe('I saw it b')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(stage.journal.head().seq).toBe(head)
  })

  it('is left by a press beside it, and not by one on its own scrollbar', async () => {
    await page.getByRole('button', { name: 'Override the brake', exact: true }).click()
    const dialog = page.locator('dialog')
    const press = (beyondItsEdge: number): Promise<void> =>
      dialog.evaluate((element, by) => {
        const { right, top, height } = element.getBoundingClientRect()
        const at = { clientX: right + by, clientY: top + height / 2, bubbles: true }
        element.dispatchEvent(new MouseEvent('mousedown', at))
      }, beyondItsEdge)
    await press(-4)
    expect(await dialog.isVisible()).toBe(true)
    await press(4)
    await dialog.waitFor({ state: 'detached' })
  })

  it('shows the daemon’s own words when it refuses', async () => {
    await open('/hosts/cmp04', '.acts')
    await stage.clock.advance(beatMs)
    // Since the page was drawn the host's heartbeat was seen again.
    const refusal = await page.request.post(`${stage.url}/v1/incidents/nobody/cancel`, {
      headers: { 'x-lifeboat-request': 'test' },
      data: { reason: 'x' },
    })
    expect(refusal.status()).toBe(404)
    await openIncident('cmp03')
    await page.getByRole('button', { name: 'Cancel this incident' }).click()
    await page.route('**/cancel', (route) => route.continue({ url: `${stage.url}/v1/incidents/nobody/cancel` }))
    await page.locator('dialog textarea').fill('wrong incident')
    await page.locator('dialog button[type=submit]').click()
    await page.waitForSelector('dialog .notice.bad')
    expect(await textOf(page, 'dialog .notice.bad')).toMatch(/Not done There is no incident nobody/)
    await page.unroute('**/cancel')
    await page.keyboard.press('Escape')
  })
})

describe('what may have been done', () => {
  it('is not called undone: the answer was lost, and the page behind shows the act', async () => {
    await openIncident('cmp02')
    await page.route('**/notes', async (route) => {
      await route.fetch()
      await route.abort('connectionreset')
    })
    await page.locator('main .act').getByRole('button', { name: 'Add a note', exact: true }).click()
    await page.locator('dialog textarea').fill('its answer is lost')
    await page.locator('dialog button[type=submit]').click()
    await page.waitForSelector('dialog .notice.bad')
    expect(await textOf(page, 'dialog .notice.bad')).toMatch(
      /^It may have been done No answer came, but the order may have been taken/,
    )
    await expect.poll(() => textOf(page, '.notes')).toContain('its answer is lost')
    await page.unroute('**/notes')
    await page.keyboard.press('Escape')
  })

  it('a proxy that answers in the daemon’s place knows nothing of it either', async () => {
    await page.route('**/cancel', (route) => route.fulfill({ status: 502, body: '<html>Bad Gateway</html>' }))
    await page.getByRole('button', { name: 'Cancel this incident' }).click()
    await page.locator('dialog textarea').fill('x')
    await page.locator('dialog button[type=submit]').click()
    await page.waitForSelector('dialog .notice.bad')
    expect(await textOf(page, 'dialog .notice.bad')).toMatch(/^It may have been done/)
    await page.unroute('**/cancel')
    await page.keyboard.press('Escape')
  })
})

describe('an order on its way', () => {
  it('cannot be left, until it may: then it is said that it may still be done, and its answer is told all the same', async () => {
    await openIncident('cmp02')
    await page.clock.install()
    let answer = (): void => undefined
    await page.route('**/notes', async (route) => {
      await new Promise<void>((resolve) => (answer = resolve))
      await route.continue()
    })
    await page.locator('main .act').getByRole('button', { name: 'Add a note', exact: true }).click()
    const dialog = page.locator('dialog')
    await dialog.locator('textarea').fill('it was slow')
    await dialog.locator('button[type=submit]').click()
    for (let n = 0; n < 3; n++) await page.keyboard.press('Escape')
    await expect.poll(() => dialog.isVisible()).toBe(true)
    expect(await dialog.getByRole('button', { name: 'Do nothing' }).isDisabled()).toBe(true)
    expect(await dialog.getByRole('button', { name: 'Close' }).isDisabled()).toBe(true)
    await page.clock.runFor(15_500)
    await expect.poll(() => textOf(page, 'dialog .notice.bad')).toMatch(/^It may still be done .* Check the page/)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    answer()
    await page.getByText('The note is in the journal', { exact: false }).waitFor()
    // What is only spoken does not take it away.
    await page.locator('button.copy').first().click()
    await expect.poll(() => textOf(page, 'body > #app > [role=status]')).toContain('cop')
    expect(await textOf(page, '.toast')).toContain('The note is in the journal')
    await page.clock.resume()
    await page.unroute('**/notes')
  })
})

it('anyone who cannot be logged out is told so', async () => {
  await page.route('**/v1/session', (route) => route.abort('connectionreset'))
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByText('You may still be logged in').waitFor()
  await page.unroute('**/v1/session')
})

describe('acts on an incident', () => {
  it('override lets this one past the brake, and the page says who', async () => {
    await openIncident('cmp02')
    expect(await textOf(page, '.todo')).toMatch(/The brake holds cmp02/)
    await order('Override the brake', 'both are in rack 7, its power is gone', /fences cmp02/)
    const entry = last('operator.override')
    expect(entry?.data).toMatchObject({ reason: 'both are in rack 7, its power is gone' })
    expect(entry?.incident).toBe(stage.incident('cmp02')?.id)
    await stage.ended('cmp02')
    await expect.poll(() => textOf(page, '.head-line')).toMatch(/done/)
    expect(await textOf(page, '.answers')).toMatch(/1 of 1 instance/)
  })

  it('a note is kept with its author, also on paper', async () => {
    await order('Add a note', 'The <b>rack</b> is being repaired', /changes nothing else/)
    expect(last('review.noted')?.data.text).toBe('The <b>rack</b> is being repaired')
    await expect.poll(() => textOf(page, '.notes')).toContain('The <b>rack</b> is being repaired')
  })

  it('sign-off names who answers for it', async () => {
    await order('Sign off', 'Read whole. Nothing was lost', /Confirms that you have read/)
    const { by, text } = last('review.signed-off')?.data ?? { by: '', text: '' }
    expect(text).toBe('Read whole. Nothing was lost')
    await expect.poll(() => textOf(page, 'section:has(#review)')).toContain(`Signed off by ${by}`)
    await expect.poll(() => textOf(page, '.toolbar .refusal')).toBe(`${by} already signed it off: add a note`)
  })

  it('the return of its host is kept back and let go from the same page', async () => {
    await order('Keep the host out', 'memory errors', /stays out/)
    expect(last('operator.return')?.data).toMatchObject({ keepOut: true, reason: 'memory errors' })
    await stage.clock.advance(beatMs)
    await expect.poll(() => textOf(page, '.todo')).toMatch(/stays out/)
    await order('Return the host to service', 'memory replaced', /clears its flags/)
    expect(last('operator.return')?.data).toMatchObject({ keepOut: false, reason: 'memory replaced' })
  })

  it('a statement takes the place of a proof that no machine could give', async () => {
    await openIncident('cmp03')
    // The word alone does nothing while the brake holds: the dialog says so before, and the advice afterwards.
    const says = /the brake still holds cmp03[^]*destroy their data/
    await page.getByRole('button', { name: 'Attest that it is dead', exact: true }).click()
    const named = page.getByRole('dialog', { name: 'Attest that cmp03 is dead' })
    await named.getByRole('button', { name: 'Attest that cmp03 is dead' }).waitFor()
    await page.keyboard.press('Escape')
    await order('Attest that it is dead', 'I pulled both cords at 03:20', says)
    await expect
      .poll(() => textOf(page, '.todo'))
      .toContain('It was attested dead by ann, and the brake still holds it')
    expect(last('operator.statement')?.data.statement).toBe('I pulled both cords at 03:20')
  })

  it('cancel ends it, and says what it does not undo', async () => {
    stage.simulator.crash('cmp01')
    await stage.until('cmp01', ({ ended }) => ended === null)
    await openIncident('cmp01')
    await order('Cancel this incident', 'it is the switch, not the host', /run to their end/)
    expect(last('operator.cancelled')?.data.reason).toBe('it is the switch, not the host')
    await stage.ended('cmp01')
    await expect.poll(() => textOf(page, '.head-line')).toMatch(/cancelled/)
  })

  it('a host whose incident was cancelled before its instances were listed is not called empty', async () => {
    expect(stage.incident('cmp01')?.instances).toBe(0)
    expect(await textOf(page, '.answers')).toContain('What came back Nothing: it was cancelled before')
    expect(await textOf(page, 'section:has(> header > #instances)')).toContain(
      'was cancelled before Lifeboat had an instance on record',
    )
    expect(await textOf(page, '.todo')).toContain('NEVER_LISTED')
  })
})

describe('acts on hosts and the cloud', () => {
  it('maintenance of a host begins with an end, and ends', async () => {
    await open('/hosts/cmp05', '.acts')
    await order('Begin maintenance', 'firmware', /Opens no incident/)
    expect(last('operator.maintenance')?.data).toMatchObject({
      reason: 'firmware',
      scope: { kind: 'host', name: 'cmp05' },
    })
    expect(last('operator.maintenance')?.data.until).not.toBeNull()
    await page.getByRole('button', { name: 'End maintenance' }).waitFor()
    await order('End maintenance', 'firmware is on', /an incident opens/)
    expect(last('operator.maintenance-ended')?.data).toMatchObject({ reason: 'firmware is on' })
  })

  it('what someone writes stays when another person begins the maintenance meanwhile', async () => {
    await open('/hosts/cmp06', '.acts')
    await page.getByRole('button', { name: 'Begin maintenance', exact: true }).click()
    await page.locator('dialog textarea').fill('new memory')
    const scope = { kind: 'host', name: 'cmp06' } as const
    await stage.daemon.operations.startMaintenance({ by: 'bob', reason: 'firmware', until: null, scope })
    await stage.passOn()
    await expect.poll(() => textOf(page, 'main .acts')).toContain('End maintenance')
    expect(await page.locator('dialog textarea').inputValue()).toBe('new memory')
    await page.keyboard.press('Escape')
    await stage.daemon.operations.endMaintenance({ by: 'bob', reason: 'done', scope })
  })

  it('all recoveries are paused and resumed from the overview', async () => {
    await open('/', '.fleet')
    await order('Pause all recoveries', 'network works', /No recovery begins/)
    expect(last('operator.paused')?.data).toMatchObject({ reason: 'network works' })
    await expect.poll(() => textOf(page, '.holds')).toMatch(/Paused: the whole cloud network works/)
    await order('Resume recoveries', 'done', /go on at once/)
    expect(last('operator.resumed')?.data).toMatchObject({ reason: 'done' })
  })
})

describe('a reader', () => {
  let reader: Page
  beforeAll(async () => {
    reader = await stage.page('reader')
  })

  it.each([
    ['/', '.fleet', ['Pause all recoveries']],
    ['/hosts/cmp05', '.acts', ['Begin maintenance', 'Return it to service', 'Keep it out', 'Attest that it is dead']],
  ])('sees the acts of %s and why they are not for them', async (path, ready, titles) => {
    await reader.goto(stage.url + path)
    await reader.waitForSelector(ready)
    for (const name of titles) {
      const button = reader.getByRole('button', { name, exact: true })
      expect(await button.getAttribute('aria-disabled')).toBe('true')
      const described = await button.getAttribute('aria-describedby')
      expect(await reader.locator(`[id="${described ?? ''}"]`).innerText()).toMatch(/^Needs the role (operator|admin)/)
      await button.click({ force: true })
      expect(await reader.locator('dialog').count()).toBe(0)
    }
    expect(await violationsOf(reader)).toEqual([])
  })

  it('is told that a plan is not for them, and none is ordered', async () => {
    const ordered: string[] = []
    reader.on('request', (request) => void ordered.push(`${request.method()} ${new URL(request.url()).pathname}`))
    await reader.goto(`${stage.url}/plan/cmp05`)
    await reader.waitForSelector('.notice, [role=alert]')
    expect(await textOf(reader, 'main')).toMatch(/Not for this login\s+Needs the role operator/)
    expect(await reader.locator('.long-table').count()).toBe(0)
    expect(await violationsOf(reader)).toEqual([])
    expect(ordered).toContain('GET /v1/me')
    expect(ordered).not.toContain('POST /v1/plans')
  })

  it('sees everything of an incident, and acts on nothing', async () => {
    await reader.goto(`${stage.url}/incidents/${stage.incident('cmp02')?.id ?? ''}`)
    await reader.waitForSelector('.long-table')
    await reader.locator('.other-acts > summary').click()
    for (const name of ['Add a note', 'Sign off', 'Keep the host out'])
      expect(await reader.getByRole('button', { name, exact: true }).getAttribute('aria-disabled')).toBe('true')
    expect(await textOf(reader, '.answers')).toMatch(/proven dead/)
  })
})

it('anyone who is not logged in sees the login, and afterwards the page they wanted', async () => {
  await stage.browser.context.clearCookies()
  const stranger = await stage.browser.context.newPage()
  await stranger.goto(`${stage.url}/hosts/cmp05`)
  await stranger.waitForSelector('.login')
  expect(stranger.url()).toContain('/login?to=')
  expect(await stranger.locator('.top nav').count()).toBe(0)
  await stage.fillLogin(stranger, 'operator')
  await stranger.waitForSelector('.acts')
  expect(stranger.url()).toBe(`${stage.url}/hosts/cmp05`)
  await stranger.getByRole('button', { name: 'Log out' }).click()
  await stranger.waitForSelector('.login')
  expect((await stranger.request.get(`${stage.url}/v1/status`)).status()).toBe(401)
})

it('an order is given in the name that its dialog shows or not at all, whoever has logged in in another tab since', async () => {
  const tab = await stage.page('admin')
  await tab.goto(`${stage.url}/hosts/cmp05`)
  await tab.waitForSelector('.acts')
  const other = await stage.page('operator')
  const head = stage.journal.head().seq
  await tab.locator('main .acts button', { hasText: 'maintenance' }).first().click()
  const dialog = tab.locator('dialog')
  expect(await dialog.locator('footer').innerText()).toContain('as ann')
  await dialog.locator('textarea').fill('new disks')
  await dialog.locator('button[type=submit]').click()
  await dialog.locator('.notice.bad').waitFor()
  expect(await textOf(tab, 'dialog .notice.bad')).toMatch(/^Not done .*you are otto, and no other name can be given/)
  expect(stage.journal.head().seq).toBe(head)
  await tab.close()
  await other.close()
})

it('the login remembers user, project and domains after a logout and for a new visit, and never a password or token', async () => {
  await stage.browser.context.clearCookies()
  const visitor = await stage.browser.context.newPage()
  const field = (name: string) => visitor.locator(`.login input[name=${name}]`)
  const names = ['user', 'project', 'userDomain', 'projectDomain', 'password']
  const fields = (): Promise<string[]> => Promise.all(names.map((name) => field(name).inputValue()))
  await visitor.goto(`${stage.url}/login`)
  await field('project').fill('service')
  await field('userDomain').fill('default')
  await stage.fillLogin(visitor, 'operator')
  await visitor.getByRole('button', { name: 'Log out' }).click()
  await visitor.waitForSelector('.login')
  const remembered = ['otto', 'service', 'default', 'Default', '']
  expect(await fields()).toEqual(remembered)
  await visitor.goto(`${stage.url}/hosts`)
  await visitor.waitForSelector('.login')
  expect(await fields()).toEqual(remembered)
  await visitor.getByRole('button', { name: 'Token' }).click()
  await field('token').fill(await stage.token('admin'))
  await visitor.getByRole('button', { name: 'Log in' }).click()
  await visitor.getByRole('button', { name: 'Log out' }).click()
  await visitor.waitForSelector('.login')
  expect(await fields()).toEqual(remembered)
  const kept = await visitor.evaluate(() =>
    JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]),
  )
  expect(kept).not.toMatch(/secret|token/i)
  await visitor.close()
})
