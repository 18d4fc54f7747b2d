/**
 * How long a page takes in a browser, from following its address until what it is for stands there: Debian's chromium, headless,
 * on the daemon that rows/pages.mjs fills. Script and styles are in the browser's cache from the second load on, as at a desk.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { percentile } from '../figures.mjs'
import { figure } from '../targets.mjs'

const targetMs = 200
/** What is not there by then never comes: the row fails instead of hanging. */
const limitMs = 20_000

/** Resolves, in the page, once an element is there: its time since the navigation began. */
const whenThere = ({ selector, limitMs }) =>
  new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`${location.pathname} shows no ${selector}`)), limitMs)
    const look = () => {
      if (document.querySelector(selector) === null) return false
      resolve(performance.now())
      return true
    }
    if (!look())
      new MutationObserver((_, observer) => look() && observer.disconnect()).observe(document, {
        childList: true,
        subtree: true,
      })
  })

/** @param options { url, cookie, incident, large, host, entries, repeats } */
export async function pageLoads({ url, cookie, incident, large, host, entries, repeats }) {
  const profile = mkdtempSync(join(tmpdir(), 'lifeboat-bench-'))
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
  const context = await chromium.launchPersistentContext(profile, { executablePath, args: ['--no-sandbox'] })
  try {
    const [name, value] = cookie.split('=')
    await context.addCookies([{ name, value, url }])
    const page = await context.newPage()
    const pages = [
      ['overview', '/', '.fleet'],
      ['incidents', '/incidents', '.list'],
      ['an incident', `/incidents/${incident}`, '.window-table'],
      ['an incident of 2,000 instances', `/incidents/${large}`, '.window-table'],
      ['a host', `/hosts/${host}`, '.timeline'],
      ['what if', `/plan/${host}`, '.window-table, .empty'],
      ['segments', '/segments', '.facts'],
      ['journal', '/journal', '.entries'],
    ]
    const figures = []
    for (const [what, path, ready] of pages) {
      const took = []
      for (let n = 0; n <= repeats; n++) {
        // From a short page: leaving a long one is no part of loading another.
        await page.goto(`${url}/segments`)
        await page.goto(url + path, { waitUntil: 'commit' })
        took.push(await page.evaluate(whenThere, { selector: ready, limitMs }))
      }
      // The first fills the browser's cache, and the daemon's of an incident.
      const [first, ...again] = took
      const note = `${what}: p50 ${percentile(again, 0.5).toFixed(0)} ms of ${again.length}, the first ${first.toFixed(0)} ms`
      const line = { row: 'pages', where: `browser, ${entries} entries`, unit: 'ms', digits: 0, target: targetMs, note }
      figures.push(figure({ ...line, what: `page ${what}, p95`, value: percentile(again, 0.95) }))
    }
    return figures
  } finally {
    await context.close()
    rmSync(profile, { recursive: true, force: true })
  }
}
