/** The documents whose sentences are held by tests, docs/laws.md first, against the source that cites them and the tests that they cite. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root, textOf } from './files.ts'

/** By what stands before the colon of their heading. */
function sectionsOf(page: string): Map<string, string> {
  const sections = textOf(page).split(/^## /m).slice(1)
  return new Map(sections.map((section) => [section.slice(0, section.indexOf(':')), section]))
}

const laws = sectionsOf('docs/laws.md')
const promises = sectionsOf('docs/development/masakari-acceptance.md')

/** `law L3`, `laws L2, L3` and `(L5, L9)`. */
const citation = /(?:laws? |\()(L\d+(?:(?:, | and )L\d+)*)/g

function cited(folder: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const file of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
    if (!/\.(ts|tsx|mjs|yaml|md)$/.test(file)) continue
    for (const [, numbers] of readFileSync(join(root, folder, file), 'utf8').matchAll(citation))
      for (const number of (numbers ?? '').split(/, | and /)) found.set(number, `${folder}/${file}`)
  }
  return found
}

/** The files and folders that a section names, and what it says in quotes of its tests: a title, each of the file before it. */
function citationsOf(section: string): { paths: string[]; titles: { path: string; title: string }[] } {
  const paths = [...section.matchAll(/`((?:src|test|bench)\/[\w./-]+)`/g)].map(([, path]) => path ?? '')
  const titles: { path: string; title: string }[] = []
  let last = ''
  const [, tests = ''] = section.split('*Tests.*')
  for (const [, path, title] of tests.matchAll(/`([^`]+)`|"([^"]+)"/g))
    if (path !== undefined) last = path
    else titles.push({ path: last, title: (title ?? '').replace(/\s+/g, ' ') })
  return { paths, titles }
}

function expectToExist({ paths, titles }: ReturnType<typeof citationsOf>): void {
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
  const isThere = (path: string, title: string): boolean =>
    ["'", '"'].some((quote) => textOf(path).includes(quote + title + quote))
  expect(titles.filter(({ path, title }) => !isThere(path, title))).toEqual([])
}

describe('docs/laws.md', () => {
  it('has every law that the source cites, and none that nothing cites', () => {
    const citations = new Map(
      ['src', 'test', 'docs', 'bench', 'recovery-workflows'].flatMap((folder) => [...cited(folder)]),
    )
    expect([...citations.keys()].toSorted()).toEqual([...laws.keys()].toSorted())
  })

  it.each([...laws])('%s says why and where, and names tests that exist', (_number, section) => {
    expect(section).toMatch(/^\*Why\.\* \S/m)
    expect(section).toMatch(/^\*Where\.\* \S/m)
    const citations = citationsOf(section)
    expectToExist(citations)
    expect(citations.paths.filter((path) => path.endsWith('.test.ts'))).not.toEqual([])
  })
})

describe('docs/development/masakari-acceptance.md', () => {
  it('counts its promises', () => {
    expect([...promises.keys()]).toEqual(Array.from({ length: 25 }, (_, n) => String(n + 1)))
  })

  it.each([...promises])('promise %s names tests, titles and scenarios that exist', (_number, section) => {
    const citations = citationsOf(section)
    expectToExist(citations)
    expect(citations.paths).not.toEqual([])
  })
})
