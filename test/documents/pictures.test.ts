/** The pictures in README.md show the pages as they are. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { folder, record, shownNow } from '../../scripts/pictures/shown.mjs'
import { textOf } from './files.ts'

const pictures = readdirSync(folder).filter((name) => name.endsWith('.webp'))

describe('the pictures in README.md', () => {
  it('show the pages and the demo as they are now: `npm run pictures` makes them again', () => {
    expect(JSON.parse(readFileSync(record, 'utf8'))).toEqual(shownNow())
  })

  it('are the ones that are there', () => {
    const named = [...textOf('README.md').matchAll(/docs\/pictures\/([\w.-]+)/g)].map(([, name]) => name)
    expect(named.toSorted()).toEqual(pictures.toSorted())
  })

  it.each(pictures)('load quickly: %s', (name) => {
    expect(statSync(new URL(name, folder)).size).toBeLessThan(name === 'recovery.webp' ? 1_500_000 : 150_000)
  })
})
