/** The pages of incidents whose hosts live: a guest that crashed, and a nova-compute that failed. No word is of a dead host. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { textOf, violationsOf } from './looks.ts'
import { Stage } from './stage.ts'

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await Stage.open({ hosts: 6 })
  page = await stage.page('admin')
})
afterAll(() => stage.close())

/** What is only true where a host died. */
const ofDeadHosts = /fenc|evacuat|proof of death|proven dead|What died|brake|after the verdict|Return the host|no flag/i

async function open(id: string): Promise<string> {
  await page.goto(`${stage.url}/incidents/${id}`)
  await page.waitForSelector('.answers')
  await page.waitForSelector('.timeline')
  return textOf(page, 'article.incident')
}

function report(about: 'VM' | 'PROCESS', host: string, payload: Record<string, string>): void {
  const generatedAt = new Date(stage.clock.wall()).toISOString()
  stage.daemon.reports.receive({ about, host, payload, by: 'monitor', via: null, generatedAt })
}

function crash(name: string, host: string): string {
  const { uuid } = stage.simulator.addInstance({ name, host, metadata: { HA_Enabled: 'true' } })
  stage.simulator.crashGuest(uuid, { unheard: true })
  report('VM', host, { event: 'LIFECYCLE', vir_domain_event: 'STOPPED_FAILED', instance_uuid: uuid })
  return uuid
}

describe('the page of a crashed guest', () => {
  it('says why it is held, and that one more restart or none may be ordered', async () => {
    await stage.daemon.operations.pause({ by: 'ann', reason: 'network works', until: null })
    crash('web', 'cmp01')
    const text = await open(await stage.until('cmp01', ({ held }) => held?.code === 'PAUSED'))
    expect(text).toMatch(/How it stands held paused by ann .*network works/)
    expect(await page.locator('.todo .acts button').allTextContents()).toEqual([
      'Restart it once more',
      'Cancel this incident',
    ])
    expect(text).not.toMatch(ofDeadHosts)
    await stage.daemon.operations.resume({ by: 'ann', reason: 'done' })
  })

  it('says once it is back when that was, and has no act for its host', async () => {
    const text = await open(await stage.ended('cmp01'))
    expect(text).toMatch(/Is it back recovered at .* after the report RESTARTED/)
    expect(await page.locator('.todo .acts button').count()).toBe(0)
    expect(text).not.toMatch(ofDeadHosts)
    expect(await page.title()).toMatch(/^web on cmp01: done/)
    expect(await violationsOf(page)).toEqual([])
  })

  it('the page of the instance says when its crash was reported', async () => {
    await page.goto(`${stage.url}/instances/${crash('api', 'cmp02')}`)
    await stage.ended('cmp02')
    await page.reload()
    await page.waitForSelector('.stays')
    expect(await textOf(page, 'main')).toMatch(/its crash was reported at/)
  })
})

describe('the page of a failed nova-compute', () => {
  it('offers nothing that is of a dead host but the word that it is one', async () => {
    report('PROCESS', 'cmp03', { process_name: 'nova-compute', event: 'STOPPED' })
    await stage.until('cmp03', ({ phase }) => phase === 'watching')
    await stage.clock.advance(5_000)
    const text = await open(stage.incident('cmp03')?.id ?? '')
    expect(text).toMatch(/How we know monitor reported it\. Then Lifeboat saw:/)
    expect(text).toMatch(/Its instances Left alone/)
    expect(await textOf(page, '.timeline')).toMatch(/disabled/)
    expect(await page.locator('.todo .acts button').allTextContents()).toEqual([
      'Return the host to service',
      'Attest that the host is dead',
      'Cancel this incident',
    ])
    expect(text.replace('Return the host to service', '')).not.toMatch(ofDeadHosts)
    expect(await violationsOf(page)).toEqual([])
  })

  it('its host can be kept out and returned from its own page, and says which it is', async () => {
    const act = async (title: string, words: string): Promise<void> => {
      await page.getByRole('button', { name: title, exact: true }).click()
      await page.locator('dialog textarea').fill(words)
      await page.locator('dialog button[type=submit]').click()
      await page.locator('dialog').waitFor({ state: 'detached' })
    }
    await page.goto(`${stage.url}/hosts/cmp03`)
    await page.waitForSelector('.acts')
    await act('Keep it out', 'new package')
    await expect.poll(() => textOf(page, 'main')).toMatch(/leaves it so until someone returns it to service/)
    expect(await textOf(page, 'main')).toMatch(/Order ann keeps it out: new package/)
    await act('Return it to service', 'it works')
    await expect.poll(() => textOf(page, 'main')).toMatch(/enables it once its nova-compute has been beating for/)
  })

  it('a word that its host is dead promises what becomes of that, whatever holds the incident of its process', async () => {
    const ann = { by: 'ann', reason: 'new package' }
    const promise = async (): Promise<string> => {
      await Promise.all([page.waitForResponse('**/v1/hosts/cmp03'), open(id)])
      await page.locator('.other-acts > summary').click()
      await page.getByRole('button', { name: 'Attest that the host is dead', exact: true }).click()
      return textOf(page, 'dialog .effect')
    }
    await stage.daemon.operations.returnHost({ ...ann, host: 'cmp03', keepOut: true })
    const id = await stage.until('cmp03', ({ held }) => held?.code === 'CONFIRM_RETURN')
    stage.simulator.crash('cmp03')
    const isSilent = (): boolean => stage.daemon.monitor.verdict('cmp03')?.kind === 'suspect'
    await stage.clock.until(isSilent, 60_000)
    expect(await promise()).toMatch(/evacuates at once/)
    await stage.daemon.operations.pause({ ...ann, until: null })
    expect(await promise()).toMatch(/stays on hold \(paused by ann/)
    await stage.daemon.operations.resume(ann)
  })
})

describe('the page that asks what if', () => {
  it('a guest crashed is opened from the page of its instance, and says what its workflow would decide', async () => {
    const uuid = crash('db', 'cmp04')
    await stage.ended('cmp04')
    await page.goto(`${stage.url}/instances/${uuid}`)
    await page.getByRole('link', { name: 'What if it crashed now' }).click()
    await page.waitForSelector('.long-table')
    const text = await textOf(page, 'main')
    expect(text).toMatch(/What if its guest on cmp04 crashed now/)
    expect(text).toMatch(/1 instance: 1 would be recovered\. Nothing was sent; the real plan is made when it happens\./)
    expect(text).toMatch(/db .* by reboot CRASHED Its guest crashed: its hypervisor says that it does not run/)
    expect(text).not.toMatch(ofDeadHosts)
  })

  it('nova-compute failed says what would become of its service, and leads to the plan of the host', async () => {
    await page.getByRole('link', { name: 'if nova-compute failed' }).click()
    await page.waitForSelector('h1:has-text("What if nova-compute of cmp04 failed now")')
    await page.waitForSelector('main .panel')
    const text = await textOf(page, 'main')
    expect(text).toMatch(/disable Its service would be disabled: nova-compute is down, .* as its segment says\./)
    expect(text).toMatch(
      /Its guests would be left alone\. By rule down\. Nothing was sent; it is decided when it happens\./,
    )
    expect(text).not.toMatch(ofDeadHosts)
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole('link', { name: 'if the host died' }).click()
    await page.waitForSelector('h1:has-text("What if cmp04 died now")')
    await page.waitForSelector('.long-table')
  })
})
