/**
 * How long a page takes in a browser, from following its address until what it is for stands there: Debian's chromium, headless,
 * on the daemon that rows/pages.mjs fills. Script and styles are in the browser's cache from the second load on, as at a desk.
 *
 * The page itself tells when it stands, over a binding of the browser: anyone who asks a page from outside while it loads makes the
 * browser read a large script of the asking tool first, and measures that.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import { percentile, stolenMs } from '../figures.mjs'
import { figure } from '../targets.mjs'

const targetMs = 200
/** What is not there by then never comes: the row fails instead of hanging. */
const limitMs = 20_000
/** On the page before: people look at a page before they leave it. Shorter measures the end of its loading too. */
const restMs = 200
/** A load during which neighbours of this machine took more of it than this says how busy they are: it is told apart. */
const stolenLimitMs = 10

/** Runs in each page, before its own scripts. */
function tellWhenThere(selectors) {
  const selector = selectors.find(([path]) => new RegExp(path).test(location.pathname))?.[1]
  if (selector === undefined) return
  const look = () => {
    if (document.querySelector(selector) === null) return false
    const path = location.pathname + location.search
    globalThis.stands(JSON.stringify({ path, tookMs: performance.now() }))
    return true
  }
  if (!look())
    new MutationObserver((_, observer) => look() && observer.disconnect()).observe(document, {
      childList: true,
      subtree: true,
    })
}

/** What a page is for, by its path. */
const selectors = [
  ['^/$', '.fleet'],
  ['^/incidents$', '.list'],
  ['^/incidents/[^/]+/compare/', '.compared'],
  ['^/incidents/[^/]+/compare$', '.offers'],
  // Of many that are all recovered the rows are folded.
  ['^/incidents/', '.long-table, .fold'],
  ['^/instances/', '.stays'],
  ['^/hosts$', '.long-table'],
  ['^/hosts/', '.timeline'],
  ['^/plan/', '.long-table, .empty'],
  ['^/segments$', '.facts'],
  ['^/maintenance$', '#calendar'],
  ['^/notices$', '#receivers'],
  ['^/journal$', '.entries'],
  ['^/nothing$', 'main h1'],
]

/** @param options { url, cookie, incident, instance, large, host, entries, repeats } */
export async function pageLoads({ url, cookie, incident, instance, large, host, entries, repeats }) {
  const profile = mkdtempSync(join(tmpdir(), 'lifeboat-bench-'))
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
  const context = await chromium.launchPersistentContext(profile, { executablePath, args: ['--no-sandbox'] })
  try {
    const [name, value] = cookie.split('=')
    await context.addCookies([{ name, value, url }])
    const load = await loader(context, url)
    const pages = [
      ['overview', '/'],
      ['incidents', '/incidents'],
      ['an incident', `/incidents/${incident}`],
      ['an incident of 2,000 instances', `/incidents/${large}`],
      ['the same by name, unfolded', `/incidents/${large}?sort=name`],
      ['which incident to compare with', `/incidents/${incident}/compare`],
      ['two incidents side by side, one of 2,000', `/incidents/${incident}/compare/${large}`],
      ['an instance', `/instances/${instance}`],
      ['hosts', '/hosts'],
      ['a host', `/hosts/${host}`],
      ['what if', `/plan/${host}`],
      ['segments', '/segments'],
      ['maintenance', '/maintenance'],
      ['notices', '/notices'],
      ['journal', '/journal'],
      ['with nothing on it (what the browser itself takes)', '/nothing', null],
    ]
    const took = new Map(pages.map(([what]) => [what, []]))
    // In rounds: a minute that neighbours of this machine take is then a part of each page's figure, and not the whole of one's.
    for (let n = 0; n <= repeats; n++)
      for (const [what, path] of pages) {
        // From a short page: leaving a long one is no part of loading another.
        await load('/segments')
        await wait(restMs)
        const before = stolenMs()
        const tookMs = await load(path)
        took.get(what).push({ tookMs, own: stolenMs() - before <= stolenLimitMs })
      }
    return pages.map(([what, , target = targetMs]) => {
      // The first fills the browser's cache, and the daemon's of an incident.
      const [first, ...again] = took.get(what)
      const own = again.filter((one) => one.own)
      const line = { row: 'pages', where: `browser, ${entries} entries`, unit: 'ms', digits: 0, target }
      const note = `${what}: ${spreadOf(own)}, all of them ${spreadOf(again)}, the first ${first.tookMs.toFixed(0)} ms`
      return figure({ ...line, note, what: `page ${what}, p95`, value: tookOf(own, 0.95) })
    })
  } finally {
    await context.close()
    rmSync(profile, { recursive: true, force: true })
  }
}

const tookOf = (loads, share) =>
  percentile(
    Array.from(loads, ({ tookMs }) => tookMs),
    share,
  )

function spreadOf(loads) {
  const [middle, slow, slowest] = [0.5, 0.95, 1].map((share) => tookOf(loads, share).toFixed(0))
  return `p50 ${middle}, p95 ${slow}, slowest ${slowest} ms of ${loads.length}`
}

/** Gives what loads a page and resolves with the ms that it took. */
async function loader(context, url) {
  const page = await context.newPage()
  const browser = await context.newCDPSession(page)
  await browser.send('Runtime.enable')
  await browser.send('Page.enable')
  await browser.send('Runtime.addBinding', { name: 'stands' })
  const source = `(${tellWhenThere})(${JSON.stringify(selectors)})`
  await browser.send('Page.addScriptToEvaluateOnNewDocument', { source })
  return async (path) => {
    const limit = new AbortController()
    const stands = new Promise((resolve) => {
      browser.on('Runtime.bindingCalled', function told({ payload }) {
        const said = JSON.parse(payload)
        if (said.path !== path) return
        browser.off('Runtime.bindingCalled', told)
        resolve(said.tookMs)
      })
    })
    await browser.send('Page.navigate', { url: url + path })
    const late = wait(limitMs, null, { signal: limit.signal }).then(
      () => Promise.reject(new Error(`${path} shows nothing of what it is for`)),
      () => new Promise(() => undefined),
    )
    return Promise.race([stands, late]).finally(() => limit.abort())
  }
}
