/**
 * How long a page takes in a browser, from following its address until what it is for stands there: Debian's chromium, headless,
 * on the daemon that rows/pages.mjs fills. Script and styles are in the browser's cache from the second load on, as at a desk.
 *
 * The page itself tells when it stands, over a binding of the browser: whoever asks a page from outside while it loads makes the
 * browser read a large script of the asking tool first, and measures that.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import { percentile } from '../figures.mjs'
import { figure } from '../targets.mjs'

const targetMs = 200
/** What is not there by then never comes: the row fails instead of hanging. */
const limitMs = 20_000
/** On the page before: people look at a page before they leave it. Shorter measures the end of its loading too. */
const restMs = 200

/** Runs in each page, before its own scripts. */
function tellWhenThere(selectors) {
  const selector = selectors.find(([path]) => new RegExp(path).test(location.pathname))?.[1]
  if (selector === undefined) return
  const look = () => {
    if (document.querySelector(selector) === null) return false
    globalThis.stands(JSON.stringify({ path: location.pathname, tookMs: performance.now() }))
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
  ['^/incidents/', '.window-table'],
  ['^/hosts/', '.timeline'],
  ['^/plan/', '.window-table, .empty'],
  ['^/segments$', '.facts'],
  ['^/journal$', '.entries'],
  ['^/nothing$', 'main h1'],
]

/** @param options { url, cookie, incident, large, host, entries, repeats } */
export async function pageLoads({ url, cookie, incident, large, host, entries, repeats }) {
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
      ['a host', `/hosts/${host}`],
      ['what if', `/plan/${host}`],
      ['segments', '/segments'],
      ['journal', '/journal'],
      ['with nothing on it (what the browser itself takes)', '/nothing', null],
    ]
    const figures = []
    for (const [what, path, target = targetMs] of pages) {
      const took = []
      for (let n = 0; n <= repeats; n++) {
        // From a short page: leaving a long one is no part of loading another.
        await load('/segments')
        await wait(restMs)
        took.push(await load(path))
      }
      // The first fills the browser's cache, and the daemon's of an incident.
      const [first, ...again] = took
      const note = `${what}: p50 ${percentile(again, 0.5).toFixed(0)} ms of ${again.length}, the first ${first.toFixed(0)} ms`
      const line = { row: 'pages', where: `browser, ${entries} entries`, unit: 'ms', digits: 0, target, note }
      figures.push(figure({ ...line, what: `page ${what}, p95`, value: percentile(again, 0.95) }))
    }
    return figures
  } finally {
    await context.close()
    rmSync(profile, { recursive: true, force: true })
  }
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
