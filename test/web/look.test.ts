import { it } from 'vitest'
import { mixedInstances, Stage, beatMs } from './stage.ts'
const shots = process.env['SHOTS'] ?? '/tmp/s/shots'
it('looks', async () => {
  const stage = await Stage.open({ hosts: 24 })
  try {
    stage.add(...mixedInstances('cmp01', 'cmp02'))
    const page = await stage.page('admin')
    page.on('console', (m) => console.log('console', m.type(), m.text()))
    page.on('pageerror', (e) => console.log('pageerror', e.message))
    await page.goto(stage.url)
    await page.waitForSelector('.fleet')
    await page.screenshot({ path: `${shots}/overview-calm.png` })
    stage.simulator.crash('cmp01')
    await stage.until('cmp01', (i) => i.phase === 'recovering')
    await stage.clock.advance(2_000)
    await page.waitForTimeout(600)
    await page.screenshot({ path: `${shots}/overview-live.png` })
    await page.goto(`${stage.url}/incidents/${encodeURIComponent(stage.incident('cmp01')!.id)}`)
    await page.waitForSelector('.answers')
    await page.waitForTimeout(800)
    await page.screenshot({ path: `${shots}/incident-live.png`, fullPage: true })
    const id = await stage.ended('cmp01')
    await page.waitForTimeout(1500)
    await page.screenshot({ path: `${shots}/incident.png`, fullPage: true })
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.waitForTimeout(400)
    await page.screenshot({ path: `${shots}/incident-dark.png`, fullPage: true })
    await page.locator('.window-table a').first().click()
    await page.waitForTimeout(600)
    await page.screenshot({ path: `${shots}/sheet-dark.png` })
    await page.keyboard.press('Escape')
    await page.emulateMedia({ colorScheme: 'light' })
    await page.setViewportSize({ width: 390, height: 844 })
    await page.waitForTimeout(400)
    await page.screenshot({ path: `${shots}/incident-phone.png`, fullPage: true })
    await page.setViewportSize({ width: 1280, height: 860 })
    for (const path of ['/', '/incidents', '/hosts/cmp01', '/segments', '/journal', '/plan/cmp02', '/login']) {
      await page.goto(stage.url + path)
      await page.waitForTimeout(900)
      await page.screenshot({ path: `${shots}/page${path.replaceAll('/', '-')}.png` })
    }
    console.log(id)
  } finally {
    await stage.close()
  }
}, 120_000)
