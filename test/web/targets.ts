/** How much room a finger has: in a file of its own, for it runs in the browser and the suite on the lab reads looks.ts too. */
import type { Page } from 'playwright-core'

/** What can be pressed and is under 24 pixels high or wide (WCAG 2.5.8); links within a sentence are as high as its lines. */
export function tooSmallOn(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('a, button, summary, select, input, textarea')].flatMap((one) => {
      const pressed = one.closest('label') ?? one
      const { width, height } = pressed.getBoundingClientRect()
      const isSeen =
        one.checkVisibility({ visibilityProperty: true }) && one.closest('.visually-hidden, .skip') === null
      const sentence =
        one.tagName === 'A' && getComputedStyle(one).display === 'inline' && one.closest('p, dd, .told, .head-facts')
      if (!isSeen || sentence || (width >= 24 && height >= 24)) return []
      return [`${one.tagName} ${one.className} ${one.textContent}: ${Math.round(width)} x ${Math.round(height)}`]
    }),
  )
}
