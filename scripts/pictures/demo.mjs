/** `lifeboat demo --web` as people start it, and a browser in which its link was opened. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'

/** The same wherever it is made. */
const looks = { locale: 'en-GB', timezoneId: 'Europe/Berlin', colorScheme: 'light' }

/** Gives a page on which all is well, the ms from the start of the demo until then, and what ends both. */
export async function openDemo({ viewport, deviceScaleFactor }) {
  const profile = mkdtempSync(join(tmpdir(), 'lifeboat-pictures-'))
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--hide-scrollbars'],
    ...looks,
    viewport,
    deviceScaleFactor,
  })
  const page = await context.newPage()
  const began = performance.now()
  const demo = spawn('npm', ['run', '-s', 'demo', '--', '--web'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const close = async () => {
    await context.close()
    // npm and the program that it started.
    if (demo.pid !== undefined && demo.exitCode === null) process.kill(-demo.pid, 'SIGTERM')
    rmSync(profile, { recursive: true, force: true })
  }
  try {
    const link = await printedLink(demo)
    await page.goto(link)
    await page.locator('.plugs button').waitFor()
    const clickableMs = performance.now() - began
    return { context, page, url: new URL(link).origin, clickableMs, close }
  } catch (thrown) {
    await close()
    throw thrown
  }
}

/** Throws when the demo ends before it has one. */
function printedLink(demo) {
  return new Promise((resolve, reject) => {
    let said = ''
    demo.stdout.on('data', (more) => {
      said += more
      const link = /http:\S+\/open\/\S+/.exec(said)
      if (link !== null) resolve(link[0])
    })
    demo.once('exit', (code) => reject(new Error(`the demo ended with ${code}: ${said}`)))
  })
}
