/** Debian's chromium, headless. Each file of tests has a context of its own in it: nothing of one is kept, and it asks nobody for anything. */
import { chromium, type Browser as Chromium, type BrowserContext } from 'playwright-core'

const args = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Frames are painted at once, and small shared memory of a container is no crash.
  '--disable-dev-shm-usage',
]

export interface Browser {
  context: BrowserContext
  close(): Promise<void>
}

/** Files of one worker follow each other within less: a browser that has had no context for so long is ended. */
const idleMs = 5_000
let running: Promise<Chromium> | null = null
let contexts = 0
let idle: NodeJS.Timeout | undefined

export async function openBrowser(): Promise<Browser> {
  clearTimeout(idle)
  contexts++
  // To start it takes longer than most tests do.
  running ??= start()
  const browser = await running
  const context = await browser.newContext({
    // Those of tests are signed by nobody.
    ignoreHTTPSErrors: true,
    viewport: { width: 1280, height: 860 },
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  })
  return {
    context,
    close: async () => {
      await context.close()
      if (--contexts === 0) idle = setTimeout(end, idleMs)
    },
  }
}

function start(): Promise<Chromium> {
  const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
  const started = chromium.launch({ executablePath, headless: true, args })
  // One that crashed fails the file that had it, and not those after it.
  const forget = (): void => {
    if (running === started) running = null
  }
  void started.then((browser) => browser.on('disconnected', forget), forget)
  return started
}

function end(): void {
  const last = running
  running = null
  void last?.then((browser) => browser.close())
}
