/** What the pictures in README.md show: the built pages, and the demo's story. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

export const folder = new URL('../../docs/pictures/', import.meta.url)

/** In the folder of the pictures: what they showed when they were made. */
export const record = new URL('made-from.json', folder)

const assets = new URL('../../dist/web/assets/', import.meta.url)
const story = ['scripts/pictures.mjs', 'src/rehearsal/demo-cloud.ts']

/** Needs a build. The builder names each file by its content. */
export function shownNow() {
  const pages = readdirSync(assets)
    .filter((name) => /\.(css|js|svg)$/.test(name))
    .toSorted()
  const hash = createHash('sha256')
  for (const path of story) hash.update(readFileSync(new URL(`../../${path}`, import.meta.url)))
  return { pages, story: hash.digest('hex') }
}
