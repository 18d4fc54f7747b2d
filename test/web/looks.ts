/** What is looked at on every page: that it complains of nothing, and what axe finds. */
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Everything that the browser complains of: errors of scripts, refused content (CSP), failed requests. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  return complaints
}

interface AxeResult {
  violations: { id: string; impact: string; help: string; nodes: { target: string[]; failureSummary: string }[] }[]
}

/** Each violation in one line, in the light and in the dark; all of axe's rules, its best practices too. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axeSource)
  const found: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const { violations } = await page.evaluate<AxeResult>('axe.run(document, { resultTypes: ["violations"] })')
    for (const { id, nodes } of violations)
      for (const { target, failureSummary } of nodes.slice(0, 5))
        found.push(`${colorScheme}: ${id} ${target.join(' ')}: ${failureSummary.replaceAll('\n', ' ')}`)
  }
  await page.emulateMedia({ colorScheme: null })
  return found
}

/** The text as someone reads it: one space where there are many. */
export async function textOf(page: Page, selector: string): Promise<string> {
  return (await page.locator(selector).first().innerText()).replace(/\s+/g, ' ')
}
