/**
 * The pictures in README.md, from `npm run demo -- --web` of this checkout: a rack loses its power, a person decides, and its
 * instances come back. Needs a build, and Debian's chromium and webp. Prints how soon the demo could be clicked.
 */
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openDemo } from './pictures/demo.mjs'
import { Film } from './pictures/film.mjs'
import { folder, record, shownNow } from './pictures/shown.mjs'

const desk = { width: 1000, height: 640 }
const phone = { width: 390, height: 780 }
const host = 'cmp07'

const { context, page, url, clickableMs, close } = await openDemo({ viewport: desk, deviceScaleFactor: 1.5 })
try {
  const film = new Film(page)
  const plugs = page.getByRole('complementary', { name: 'Simulated cloud' })
  await page.getByRole('heading', { level: 1, name: 'All is well' }).waitFor()
  await pullRack(film, plugs)
  const held = await incidentOf(host)
  await still('held', '/', { ready: '84 instances', last: '.segment' })
  await still('phone', `/incidents/${held}`, { size: phone, ready: 'Or run the command' })
  await decide(film)
  await watch(film)
  film.write(fileURLToPath(new URL('recovery.webp', folder)))
  await still('incident', `/incidents/${held}`, { ready: 'The host now', last: '.answers', below: 34 })
  await plugs.getByRole('button', { name: 'rack b put back' }).click()
  await still('hosts', '/hosts', { ready: 'host failures now', last: 'tbody tr:nth-child(7)', below: 0 })
  writeFileSync(record, `${JSON.stringify(shownNow(), null, 2)}\n`)
} finally {
  await close()
}
process.stdout.write(`The demo could be clicked after ${(clickableMs / 1_000).toFixed(1)} s.\n`)

async function pullRack(film, plugs) {
  await film.still(1_500)
  await film.point(plugs.getByRole('combobox'))
  await plugs.getByRole('combobox').selectOption('rack:b')
  await film.still(600)
  await film.click(plugs.getByRole('button', { name: 'Pull the plug' }))
  await film.until(page.getByText('84 instances'), 3)
  await film.still(3_000)
}

async function decide(film) {
  await film.click(page.getByRole('button', { name: 'Override the brake for all 7' }))
  await film.still(1_000)
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill('I stand before rack b: its power is off')
  await film.still(1_500)
  await film.click(dialog.getByRole('button', { name: /^Override/ }))
}

async function watch(film) {
  const incident = page.getByRole('link', { name: host }).first()
  await film.until(page.getByText('recovering'), 2)
  await film.point(incident)
  await incident.click()
  await page.locator('.answers').waitFor()
  await film.until(page.getByRole('button', { name: 'Sign off', disabled: false }), 2)
  await film.still(3_000)
  await page.locator('.lanes').evaluate((lanes) => lanes.scrollIntoView({ block: 'center' }))
  await film.still(4_000)
}

async function incidentOf(wanted) {
  const incidents = await (await page.request.get(`${url}/v1/incidents`)).json()
  return incidents.find((incident) => incident.host === wanted).id
}

/** A page of its own, so that the film goes on where it was. It is cut below the first `last`. */
async function still(name, path, { ready, last, below = 16, size = desk }) {
  const other = await context.newPage()
  await other.setViewportSize(size)
  await other.goto(url + path)
  await other.getByText(ready).first().waitFor({ timeout: 180_000 })
  const end = last === undefined ? null : await other.locator(last).first().boundingBox()
  const clip = { x: 0, y: 0, ...size, ...(end !== null && { height: Math.ceil(end.y + end.height) + below }) }
  const taken = join(tmpdir(), `lifeboat-${process.pid}-${name}.png`)
  await other.screenshot({ path: taken, clip, fullPage: last !== undefined })
  await other.close()
  const picture = fileURLToPath(new URL(`${name}.webp`, folder))
  execFileSync('cwebp', ['-quiet', '-lossless', '-z', '9', taken, '-o', picture])
  rmSync(taken)
}
