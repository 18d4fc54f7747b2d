/** Every relative link of every document leads somewhere, and every document that anything names is there. */
import { existsSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { files, root, textOf } from './files.ts'

const pages = files.filter((path) => path.endsWith('.md'))
const fenced = /^```[\s\S]*?^```/gm

/** A page without its code, where brackets are code and not links. */
function prose(page: string): string {
  return textOf(page)
    .replace(fenced, '')
    .replace(/`[^`\n]*`/g, '')
}

/** What GitHub makes of a heading: `Find a step in Nova's own log` -> `find-a-step-in-novas-own-log`. */
function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
}

function anchors(page: string): string[] {
  return [
    ...textOf(page)
      .replace(fenced, '')
      .matchAll(/^#{1,6} (.+)$/gm),
  ].map(([, heading = '']) => anchor(heading))
}

/** What is wrong with a link, none or one. */
function faults(from: string, link: string): string[] {
  const [path = '', fragment] = link.split('#')
  const target = path === '' ? from : normalize(join(dirname(from), path))
  if (!existsSync(join(root, target))) return [`${from}: ${link}: there is no ${target}`]
  if (fragment === undefined) return []
  if (statSync(join(root, target)).isDirectory() || !target.endsWith('.md')) return [`${from}: ${link}: no headings`]
  return anchors(target).includes(fragment) ? [] : [`${from}: ${link}: ${target} has no such heading`]
}

describe('documents', () => {
  it.each(pages)('%s links only to what is there', (page) => {
    const links = [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
    expect(links.filter((link) => !/^[a-z]+:/.test(link)).flatMap((link) => faults(page, link))).toEqual([])
  })

  it('source, configuration and alerts name only documents and headings that are there', () => {
    const named = /\bdocs\/[\w./-]+\.(?:md|json|svg|png)(?:#[\w-]+)?/g
    const found = files
      .filter((path) => path !== 'CHANGELOG.md')
      .flatMap((path) =>
        [...textOf(path).matchAll(named)].flatMap(([link]) =>
          faults('README.md', link).map((one) => `${path}: ${one}`),
        ),
      )
    expect(found).toEqual([])
  })

  it('docs/README.md leads to every document', () => {
    const index = textOf('docs/README.md')
    const own = pages.filter((path) => /^docs\/(?!decisions\/|README)/.test(path))
    expect(own.filter((path) => !index.includes(`](${path.slice('docs/'.length)})`))).toEqual([])
  })
})
