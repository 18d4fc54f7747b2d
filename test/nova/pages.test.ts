/**
 * A recovery on a real Nova, watched in a browser by someone who has the incident's page and nothing else. What the page says is
 * held against Nova's own answers: where each instance is, in what state, and which request of Nova's sent it there.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import type { IncidentReview, InstanceReview } from '../../src/domain/review.ts'
import { nova, tokenFor } from '../contract/cloud-under-test.ts'
import { openBrowser, type Browser } from '../web/browser.ts'
import { complaintsOf, textOf } from '../web/looks.ts'
import { until } from './daemon-process.ts'
import { lab } from './lab.ts'
import { LabStage } from './stage.ts'

const dead = 'cmp01'
const pages = 'http://127.0.0.1:9394'
let stage: LabStage
let browser: Browser

beforeAll(async () => {
  stage = await LabStage.open('pages')
  browser = await openBrowser()
})
afterEach(() => stage.tidy())
afterAll(async () => {
  await browser.close()
  stage.close()
})

it('the page of an incident answers what died, how it is known, the fence, what came back, what did not and what to do', async () => {
  const { tenants, cloud } = stage
  stage.freshDaemon({ web: { listen: '127.0.0.1:9394' } })
  const boots = Promise.all([
    tenants.bootMany(4, dead),
    tenants.stopped('stopped', dead),
    tenants.boot('opted-out', dead, { metadata: { HA_Enabled: 'False' } }),
    tenants.paused('paused', dead),
  ])
  const [running, stopped, optedOut, paused] = await stage.watchBeside(boots)

  const token = await tokenFor(cloud)
  const page = await browser.context.newPage()
  const complaints = complaintsOf(page)
  const strangers: string[] = []
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== pages) strangers.push(request.url())
  })
  await logIn(page, token)
  // Anyone who is not logged in is answered 401, and the browser says so.
  complaints.length = 0
  expect(await textOf(page, 'h1')).toMatch(/All is well/)

  await lab('crash', dead)
  await page.locator('.list a.primary-text', { hasText: dead }).first().click({ timeout: 60_000 })
  await page.waitForSelector('.answers')
  // Nothing is pressed from here on: the page moves on by itself.
  await expect.poll(() => textOf(page, '.head-line'), { timeout: 120_000, interval: 250 }).toMatch(/done/)
  await expect.poll(() => textOf(page, '.answers'), { timeout: 20_000 }).toMatch(/6 of 7 instances/)
  const id = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '')
  const review = await read<IncidentReview>(page, `/v1/incidents/${id}/review`)

  expect(review, page.url()).toMatchObject({ id, host: dead })
  const answers = await textOf(page, '.answers')
  expect(answers).toMatch(/What died cmp01 of segment lab, host-down at (?:\w+ \w+ )?\d\d:\d\d:\d\d/)
  expect(answers).toMatch(/How we know .*no heartbeat for [\d.]+ (?:min|s) .*agent said dead.*ping said dead/)
  expect(answers).toMatch(
    /Was it fenced proven dead by bmc at (?:\w+ \w+ )?\d\d:\d\d:\d\d: its power was read back as off/,
  )
  expect(answers).toMatch(/What did not, and why .*1 left \S+ WISH_LEAVE/)
  expect(await textOf(page, '.todo')).toMatch(/One instance is left where it was \(WISH_LEAVE\)/)
  expect(await textOf(page, '.todo')).toMatch(/cmp01 is still down/)
  expect(JSON.parse(await lab('bmc', dead))).toMatchObject({ power: 'Off' })
  expect(await page.locator('.plot canvas').count()).toBe(2)
  expect(review.evidence.gaps.at(-1)).toMatchObject({ open: true })
  expect(review.evidence.readings.filter(({ answer }) => answer === 'dead').length).toBeGreaterThan(1)

  const shots = process.env['SHOTS'] ?? mkdtempSync(join(tmpdir(), 'lifeboat-pages-'))
  await page.screenshot({ path: join(shots, 'recovery.png'), fullPage: true })

  for (const instance of [...running, stopped, paused]) {
    const { host, status } = await serverOf(instance)
    expect(host).not.toBe(dead)
    const row = await rowOf(page, instance)
    expect(row).toContain(`recovered on ${host}`)
    expect(status).toBe(running.includes(instance) ? 'ACTIVE' : 'SHUTOFF')
    expect(row).toMatch(running.includes(instance) ? /target: running/ : /target: stopped/)
    expect(await requestsShown(page, id, instance)).toEqual(await evacuationRequests(instance))
  }
  expect((await serverOf(optedOut)).host).toBe(dead)
  expect(await rowOf(page, optedOut)).toMatch(/left.*WISH_LEAVE/s)

  await signOff(page, 'Read whole: six are back, one was never to be moved')
  expect(
    stage.has(({ kind, actor }) => kind === 'review.signed-off' && actor.includes(stage.cloud.credentials.username)),
  ).toBe(true)
  expect(complaints).toEqual([])
  expect(strangers).toEqual([])
})

/** As a person does who has a token of the cloud at hand. */
async function logIn(page: Page, token: string): Promise<void> {
  await page.goto(pages)
  await page.getByRole('button', { name: /token/i }).click()
  await page.getByLabel(/^Token/).fill(token)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.waitForSelector('.fleet')
}

async function read<T>(page: Page, path: string): Promise<T> {
  const answer = await page.request.get(pages + path)
  expect(answer.status()).toBe(200)
  return (await answer.json()) as T
}

async function serverOf(id: string): Promise<{ host: string; status: string }> {
  const { body } = await nova(stage.cloud, 'GET', `/servers/${id}`)
  return { host: body.server['OS-EXT-SRV-ATTR:host'], status: body.server.status }
}

/** What Nova itself has on record of who asked for the evacuation, oldest first. */
async function evacuationRequests(id: string): Promise<string[]> {
  const { body } = await nova(stage.cloud, 'GET', `/servers/${id}/os-instance-actions`)
  const actions = body.instanceActions as { action: string; request_id: string }[]
  return actions.filter(({ action }) => action === 'evacuate').map(({ request_id }) => request_id)
}

const rowOf = (page: Page, id: string): Promise<string> =>
  page
    .locator('.long-table tbody tr', { has: page.locator(`a[href*="instance=${id}"]`) })
    .first()
    .innerText()

/** The ids of Nova's requests that the evacuate steps of one instance show, each step opened. */
async function requestsShown(page: Page, incident: string, id: string): Promise<string[]> {
  const { steps } = await read<InstanceReview>(page, `/v1/incidents/${incident}/instances/${id}`)
  await page.locator(`.long-table a[href*="instance=${id}"]`).click()
  const sheet = page.locator('dialog')
  await sheet.locator('.steps').waitFor()
  const closed = sheet.locator('.steps details:not([open]) > summary')
  while ((await closed.count()) > 0) await closed.first().click()
  const text = await sheet.innerText()
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'detached' })
  const sent = steps.flatMap(({ kind, requestId }) => (kind === 'evacuate' && requestId !== null ? [requestId] : []))
  expect(sent.filter((request) => !text.includes(request))).toEqual([])
  return sent
}

async function signOff(page: Page, words: string): Promise<void> {
  await page.getByRole('button', { name: 'Sign off' }).click()
  await page.locator('dialog textarea').fill(words)
  await page.locator('dialog button[type=submit]').click()
  await expect
    .poll(() => textOf(page, 'section:has(#review)'), { timeout: 10_000 })
    .toMatch(new RegExp(`Signed off by ${stage.cloud.credentials.username}`))
  await until('the journal has it', () => Promise.resolve(stage.has(({ kind }) => kind === 'review.signed-off')))
}
