import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page, Request } from 'playwright-core'
import type { NewEntry } from '../../src/domain/entry.ts'
import { complaintsOf, textOf, violationsOf } from './looks.ts'
import { beatMs, mixedInstances, Stage } from './stage.ts'
import { tooSmallOn } from './targets.ts'

let stage: Stage
let page: Page
let complaints: string[]
let incident = ''

beforeAll(async () => {
  stage = await Stage.open({ hosts: 6, readiness: true })
  stage.add(...mixedInstances('cmp01', 'cmp02'))
  stage.simulator.crash('cmp01')
  incident = await stage.ended('cmp01')
  page = await stage.page('admin')
  complaints = complaintsOf(page)
})
afterAll(() => stage.close())

const pages: [name: string, path: () => string, ready: string, heading: RegExp][] = [
  ['overview', () => '/', '.fleet', /./],
  ['incidents', () => '/incidents', '.list', /Incidents/],
  ['incident', () => `/incidents/${incident}`, '.long-table', /cmp01/],
  ['an instance', () => `/incidents/${incident}?instance=${lineOf('hsm')}`, 'dialog .steps', /cmp01/],
  ['host', () => '/hosts/cmp01', '.timeline', /cmp01/],
  ['hosts', () => '/hosts', '.long-table', /Hosts/],
  ['segments', () => '/segments', '.facts', /Segments/],
  ['what if', () => '/plan/cmp03', '.long-table, .empty', /What if cmp03 died now/],
  ['maintenance', () => '/maintenance', '#calendar', /Maintenance/],
  ['notices', () => '/notices', '#receivers', /Notices/],
  ['journal', () => '/journal', '.entries', /Journal/],
  ['login', () => '/login', '.login form', /Log in/],
]

function lineOf(name: string): string {
  return stage.daemon.review.incident(incident).lines.find((line) => line.name === name)?.id ?? ''
}

it('a page asks once who looks at it, as it begins', async () => {
  const asked: string[] = []
  const note = (request: Request): void => void asked.push(new URL(request.url()).pathname)
  page.on('request', note)
  await page.goto(stage.url)
  await page.waitForSelector('.live-mark.live')
  page.off('request', note)
  expect(asked.filter((path) => path === '/v1/me')).toHaveLength(1)
})

describe.each(pages)('the page %s', (_name, path, ready, heading) => {
  it('opens by its address, says what it is, and the browser complains of nothing', async () => {
    complaints.length = 0
    await page.goto(stage.url + path())
    await page.waitForSelector(ready)
    expect(await textOf(page, 'h1')).toMatch(heading)
    expect(await page.title()).toMatch(/ · Lifeboat$/)
    expect(complaints).toEqual([])
  })

  it('has no violation that axe finds', async () => {
    expect(await violationsOf(page)).toEqual([])
  })

  it.each([360, 960])('fits a screen of %i pixels without scrolling sideways', async (width) => {
    await page.setViewportSize({ width, height: 740 })
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    expect(await violationsOf(page)).toEqual([])
    await page.setViewportSize({ width: 1280, height: 860 })
    expect(wide).toBeLessThanOrEqual(0)
  })

  it('has nothing on a phone that is too small for a finger', async () => {
    const browser = await page.context().newCDPSession(page)
    await browser.send('Emulation.setTouchEmulationEnabled', { enabled: true })
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await page.evaluate(() => matchMedia('(pointer: coarse)').matches)).toBe(true)
    const small = await tooSmallOn(page)
    await browser.send('Emulation.setTouchEmulationEnabled', { enabled: false })
    await page.setViewportSize({ width: 1280, height: 860 })
    expect(small).toEqual([])
  })
})

describe('the page of an incident answers alone', () => {
  beforeAll(async () => {
    await page.goto(`${stage.url}/incidents/${incident}`)
    await page.waitForSelector('.long-table')
  })

  it('what died, how we know, whether it was fenced and by what, what came back when, what did not and why', async () => {
    const answers = await textOf(page, '.answers')
    expect(answers).toMatch(/What died cmp01 of segment simulated, host-down at (?:\w+ \w+ )?\d\d:\d\d:\d\d/)
    expect(answers).toMatch(/How we know .*no heartbeat for .*network found it dead/)
    expect(answers).toMatch(
      /Was it fenced proven dead by bmc at (?:\w+ \w+ )?\d\d:\d\d:\d\d: its power was read back as off/,
    )
    expect(answers).toMatch(
      /What came back \d+ of 17 instances, from (?:\w+ \w+ )?\d\d:\d\d:\d\d to (?:\w+ \w+ )?\d\d:\d\d:\d\d/,
    )
    expect(answers).toMatch(
      /What did not, and why .*1 failed hsm API_REFUSED.*vTPM.*1 left broken ERROR_BEFORE.*1 left opted-out WISH_LEAVE/,
    )
  })

  it('what must I do: most urgent first, with commands to copy behind the button', async () => {
    const items = page.locator('.todo ol > li')
    expect(await items.first().innerText()).toMatch(/not recovered.*API_REFUSED/)
    await items.first().locator('summary').click()
    expect(await page.locator('.todo .command').first().innerText()).toMatch(/openstack .*evacuate/)
  })

  it('a command is copied; where the browser refuses, that is seen and said', async () => {
    await stage.browser.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const button = page.locator('.todo .command button').first()
    await button.click()
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(/^openstack .*evacuate/)
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new DOMException('no', 'NotAllowedError'))
    })
    await button.click()
    await expect.poll(() => button.innerText()).toContain('Not copied')
    expect(await button.locator('.copy-icon.failed').count()).toBe(1)
    await expect.poll(() => textOf(page, 'body > #app > [role=status]')).toContain('could not be copied')
    expect(await violationsOf(page)).toEqual([])
    await page.reload()
    await page.waitForSelector('.long-table')
  })

  it('each instance with its steps, what was sent and Nova’s request id', async () => {
    await page.getByPlaceholder('Name, id, host, reason').fill('web-1')
    await page.getByRole('link', { name: 'web-1', exact: true }).click()
    await page.waitForSelector('dialog .steps')
    const sheet = page.locator('dialog')
    await sheet.locator('.steps summary').first().click()
    const text = await sheet.innerText()
    expect(text).toMatch(/req-[0-9a-f-]{36}/)
    expect(text).toMatch(/"landing": "as-before"/)
    const issued = sheet.locator('.timeline li', { hasText: 'issued' }).first()
    expect((await issued.innerText()).match(/req-/g)).toHaveLength(1)
    expect(text).toMatch(/Before[\s\S]*"host": "cmp01"/)
    expect(page.url()).toContain('instance=')
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('web-1')
    await page.getByRole('button', { name: 'Show all' }).click()
  })

  it('the state that each is in now: one that landed stopped and was started runs', async () => {
    const now = (name: string) =>
      page.locator('.long-table [role="row"], .long-table tr', { hasText: name }).first().innerText()
    expect(await now('vault')).toMatch(/recovered on cmp0\d\s+active/)
    expect(await now('batch-nightly')).toMatch(/recovered on cmp0\d\s+stopped/)
    // One that was paused was not "to run": what it was and what it is to be are two things.
    expect(await now('build-paused')).toMatch(/^build-paused\s[^]*\spaused\s+target: stopped\s/)
  })

  it('says a thing once: the sentence that repeats the answers is for paper, and a step is called by its name', async () => {
    expect(await page.locator('.headline').isVisible()).toBe(false)
    const told = await textOf(page, '.timeline')
    expect(told).toContain('hsm evacuate failed (API_REFUSED): ')
    expect(told).not.toContain('evacuate-running')
  })

  it('plots of heartbeats and probe readings, each with a table that says the same', async () => {
    expect(await page.locator('.plot canvas').count()).toBe(2)
    await page.getByText('As tables').click()
    const tables = await textOf(page, '.tables')
    expect(tables).toMatch(/Heartbeats .*still silent/)
    expect(tables).toMatch(/network .*dead/)
  })

  it('is filtered, searched and sorted; the address says so', async () => {
    await page.locator('.groups button', { hasText: 'API_REFUSED' }).click()
    await expect.poll(rows).toEqual(['hsm'])
    expect(page.url()).toContain('code=API_REFUSED')
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByPlaceholder('Name, id, host, reason').fill('WEB')
    await expect.poll(rows).toEqual(['web-1', 'web-2'])
    await page.getByRole('button', { name: 'Instance', exact: true }).click()
    await page.getByRole('button', { name: 'Instance', exact: true }).click()
    await expect.poll(rows).toEqual(['web-2', 'web-1'])
    await page.reload()
    await page.waitForSelector('.long-table')
    await expect.poll(rows).toEqual(['web-2', 'web-1'])
    await page.getByRole('button', { name: 'Show all' }).click()
  })

  it('its rows are reached by the keyboard, and the skip link leads past the frame', async () => {
    await page.goto(`${stage.url}/incidents/${incident}`)
    await page.waitForSelector('.long-table')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    const seen = new Set<string>()
    for (let n = 0; n < 120; n++) {
      await page.keyboard.press('Tab')
      seen.add(await focused())
    }
    for (const name of ['hsm', 'web-1', 'worker-7']) expect([...seen]).toContain(name)
  })

  it('is exported: a page for those who were not there, everything as Markdown, and JSON with the hashes', async () => {
    const exported = page.locator('.menu', { hasText: 'Export' })
    for (const [format, wanted] of [
      ['Post-mortem', /^# Post-mortem: cmp01 failed/],
      ['Full Markdown', /^# Incident .*cmp01/],
      ['JSON', /"hash"/],
    ] as const) {
      await exported.locator('summary').click()
      expect(await violationsOf(page)).toEqual([])
      expect(await stage.turns(downloaded(format))).toMatch(wanted)
      expect(await exported.getAttribute('open')).toBe(null)
    }
    await exported.locator('summary').click()
    await page.keyboard.press('Escape')
    expect(await focused()).toMatch(/^Export/)
  })

  async function downloaded(link: string): Promise<string> {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: link }).click(),
    ])
    let text = ''
    for await (const chunk of await download.createReadStream()) text += String(chunk)
    return text
  }

  it('is whole on paper: every instance, no buttons', async () => {
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
    await page.emulateMedia({ media: 'print' })
    expect((await rows()).length).toBe(17)
    expect(await page.locator('.headline').isVisible()).toBe(true)
    expect(await page.locator('.acts').first().isVisible()).toBe(false)
    await page.emulateMedia({ media: 'screen' })
    await page.evaluate(() => dispatchEvent(new Event('afterprint')))
  })
})

describe('the overview, while something is over and not done with', () => {
  it('says so, names it with its numbers, and leads to what must be done', async () => {
    await page.goto(stage.url)
    await page.waitForSelector('.fleet')
    expect(await textOf(page, 'h1')).toBe('1 instance not recovered: a person must act')
    const notice = page.locator('.unsigned.bad').first()
    expect(await notice.innerText()).toMatch(/^cmp01: 1 failed, 2 left/)
    expect(await textOf(page, '.list')).toContain('not signed off')
    await page.goto(`${stage.url}/incidents?state=unsigned`)
    await page.waitForSelector('.list')
    expect(await page.locator('.list tbody tr').count()).toBe(1)
    await page.goto(stage.url)
    await notice.getByRole('link').click()
    await page.waitForSelector('.todo ol')
    expect(await textOf(page, '.todo')).toMatch(/sign this incident off/)
  })

  it('until someone signs for it; and never says that all is well while Nova cannot be read', async () => {
    stage.daemon.review.signOff(incident, { by: 'ann', text: 'hsm was rebuilt by its owner' })
    await page.goto(stage.url)
    await page.waitForSelector('.fleet')
    await expect.poll(() => textOf(page, 'h1')).toBe('Calm; 1 host not healthy')
    expect(await textOf(page, '.list')).toContain('signed off by ann')
    await page.route('**/v1/incidents?*', (route) => route.abort('connectionreset'))
    await page.goto(stage.url)
    await page.waitForSelector('.fleet')
    expect(await textOf(page, 'main')).not.toContain('All is well')
    await page.unroute('**/v1/incidents?*')
  })
})

it('the page of a host that is out does not say that its heartbeats are there', async () => {
  await stage.clock.advance(3 * beatMs)
  await page.goto(`${stage.url}/hosts/cmp01`)
  await page.waitForSelector('.timeline')
  const text = await textOf(page, 'main')
  expect(text).toMatch(/silent for/)
  expect(text).toContain('Lifeboat asks no probe while a host is away')
  expect(await page.locator('.page-head .tag').first().innerText()).toMatch(/away$/)
})

describe('the journal', () => {
  it('is filtered by kind and host, and each entry has an address', async () => {
    await page.goto(`${stage.url}/journal?kinds=fencing&host=cmp01`)
    await page.waitForSelector('.entries')
    const kinds = await page.locator('.entries summary code').allInnerTexts()
    expect(new Set(kinds)).toEqual(new Set(['fence.attempt', 'proof.recorded', 'service.marked']))
    const first = await page.locator('.entries .seq').last().innerText()
    await page.goto(`${stage.url}/journal?seq=${first.slice(1)}`)
    await page.waitForSelector('.entry-inside')
    expect(await page.locator('.entries .seq').first().innerText()).toBe(first)
    expect(await textOf(page, '.entry-inside')).toMatch(/Hash/)
  })

  it('gives its times their day once that is over, on a page that stays open', async () => {
    await page.clock.install()
    await page.goto(`${stage.url}/journal`)
    const first = page.locator('.entries time').first()
    await first.waitFor()
    const before = await first.innerText()
    // The date of an answer would tell the page that the day has not changed.
    await page.route('**/v1/**', (route) => route.abort('connectionreset'))
    await page.clock.fastForward('24:00:00')
    await expect.poll(() => first.innerText()).toMatch(new RegExp(`^\\w+ \\w+ ${before}$`))
    await page.unroute('**/v1/**')
    await page.clock.resume()
  })

  it('is filtered by the name of an instance as by its UUID', async () => {
    const sequences = async (instance: string): Promise<string[]> => {
      await page.goto(`${stage.url}/journal?instance=${instance}`)
      await page.waitForSelector('.entries')
      return page.locator('.entries .seq').allInnerTexts()
    }
    const byId = await sequences(lineOf('web-1'))
    expect(byId.length).toBeGreaterThan(2)
    expect(await sequences('web-1')).toEqual(byId)
  })

  it('says of a name that no instance has which come close', async () => {
    await page.goto(`${stage.url}/journal?instance=web`)
    await page.waitForSelector('[role=alert] li')
    expect(await textOf(page, '[role=alert]')).toMatch(
      /^Not found No incident is about an instance web; these come close .*web-1, on cmp01 when that failed \([\w :]+\) .*web-2, /,
    )
    expect(await violationsOf(page)).toEqual([])
  })

  it('proves its chain', async () => {
    await page.getByRole('button', { name: 'Verify the chain' }).click()
    const entries = String(stage.journal.head().seq)
    await expect.poll(() => textOf(page, '.verify')).toMatch(new RegExp(`${entries} entries hold`))
  })

  it('goes back page by page to the first entry', async () => {
    await page.goto(`${stage.url}/journal`)
    const older = page.getByRole('link', { name: 'Older' })
    await older.waitFor()
    while ((await older.count()) > 0) {
      const before = await page.locator('.entries .seq').first().innerText()
      await older.click()
      await expect.poll(() => page.locator('.entries .seq').first().innerText()).not.toBe(before)
    }
    expect(await page.locator('.entries .seq').last().innerText()).toBe('#1')
  })
})

it.each([
  ['/incidents/none', 'All incidents', /Incidents/],
  ['/hosts/none', 'All hosts', /Hosts/],
])('a page of nothing says so and leads to all there are: %s', async (path, all, heading) => {
  await page.goto(stage.url + path)
  expect(await textOf(page, 'h1')).toMatch(/^There is no such/)
  expect(await violationsOf(page)).toEqual([])
  await page.getByRole('main').getByRole('link', { name: all }).click()
  await expect.poll(() => textOf(page, 'h1')).toMatch(heading)
})

it('axe finds what is wrong when something is', async () => {
  await page.goto(stage.url)
  await page.waitForSelector('.fleet')
  await page.evaluate(() => document.querySelector('main')?.append(document.createElement('button')))
  expect(await violationsOf(page)).toContainEqual(expect.stringContaining('button-name'))
})

it('light and dark are chosen by hand too, and remembered', async () => {
  await page.goto(`${stage.url}/journal`)
  await page.waitForSelector('.entries')
  await page.emulateMedia({ colorScheme: 'light' })
  const ground = (): Promise<string> => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
  const light = await ground()
  const button = page.getByRole('button', { name: /^Theme/ })
  await button.click()
  await button.click()
  expect(await button.getAttribute('aria-label')).toContain('dark')
  expect(await ground()).not.toBe(light)
  await page.reload()
  await page.waitForSelector('.entries')
  expect(await ground()).not.toBe(light)
  await page.getByRole('button', { name: /^Theme/ }).click()
})

function rows(): Promise<string[]> {
  // Not the inner text: that is empty until the browser has drawn the row.
  return page.locator('.long-table tbody a.primary-text').allTextContents()
}

function focused(): Promise<string> {
  return page.evaluate(() => (document.activeElement as HTMLElement | null)?.innerText ?? '')
}

it('the overview names what is not signed off however many incidents came since, and counts what it does not name', async () => {
  const { journal } = stage
  const [plan] = journal.read({ incident, kinds: ['plan.made'], limit: 1 })
  const opened = { segment: 'az1', failure: 'host', mode: 'armed', openedBy: 'x', workflowDigest: '', verdict: null }
  const over = (host: string, nth: number, outcome: 'failed' | 'left' | null): NewEntry[] => {
    const of = { incident: `later-${nth}`, host }
    const instance = { ...of, instance: plan?.instance ?? '' }
    const line = { outcome, code: 'X', message: 'so', after: null }
    return [
      { kind: 'incident.opened', ...of, data: opened },
      ...(outcome === null ? [] : [{ kind: 'plan.made', ...instance, data: plan?.data }]),
      ...(outcome === null ? [] : [{ kind: 'outcome.recorded', ...instance, data: line }]),
      { kind: 'incident.closed', ...of, data: { outcome: 'done', message: 'over', counts: {} } },
    ] as NewEntry[]
  }
  journal.append(over('cmp05', 0, 'failed'))
  for (let nth = 1; nth < 105; nth++) journal.append(over('cmp06', nth, nth < 4 ? 'left' : null))
  await page.goto(stage.url)
  await page.waitForSelector('.fleet')
  await expect.poll(() => textOf(page, 'h1')).toBe('1 instance not recovered: a person must act')
  expect(await page.locator('section[aria-label="Over, and not all back"] .unsigned').count()).toBe(3)
  await page.getByRole('link', { name: 'all that are not signed off' }).click()
  await page.waitForSelector('.list')
  expect(await page.locator('.list tbody tr').count()).toBe(4)
  expect(await page.locator('.list tbody').innerText()).toContain('cmp05')
})

it('the overview lists what is open however many incidents came since', async () => {
  const { journal } = stage
  const opened = { segment: 'az1', failure: 'host', mode: 'armed', openedBy: 'x', workflowDigest: '', verdict: null }
  const open = (id: string, host: string): NewEntry =>
    ({ kind: 'incident.opened', incident: id, host, data: opened }) as NewEntry
  journal.append([open('open-for-long', 'cmp04')])
  for (let nth = 0; nth < 101; nth++) {
    const closed = { outcome: 'done', message: 'over', counts: {} }
    const of = { incident: `since-${nth}`, host: 'cmp06' }
    journal.append([open(of.incident, of.host), { kind: 'incident.closed', ...of, data: closed } as NewEntry])
  }
  await page.goto(stage.url)
  await page.waitForSelector('#open')
  await expect.poll(() => page.getByRole('table', { name: 'Open incidents' }).innerText()).toContain('cmp04')
})

it('the address of a filtered journal has real time: it means the same in every zone', async () => {
  await page.goto(`${stage.url}/journal`)
  await page.getByLabel('From').fill('2026-11-23T02:00')
  await page.getByLabel('From').blur()
  await expect.poll(() => new URL(page.url()).searchParams.get('since')).toMatch(/^2026-11-2\dT\d\d:00:00\.000Z$/)
  expect(await page.getByLabel('From').inputValue()).toBe('2026-11-23T02:00')
})
