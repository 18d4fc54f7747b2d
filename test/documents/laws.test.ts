/** docs/laws.md against the source that cites it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = readFileSync(join(root, 'docs/laws.md'), 'utf8')
const sections = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf(':')), section] as const),
)

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

describe('docs/laws.md', () => {
  it('has every law that the source cites, and none that nothing cites', () => {
    const citations = new Map(
      ['src', 'test', 'docs', 'bench', 'recovery-workflows'].flatMap((folder) => [...cited(folder)]),
    )
    expect([...citations.keys()].toSorted()).toEqual([...sections.keys()].toSorted())
  })

  it.each([...sections])('%s says why and where, and names tests that exist', (_number, section) => {
    expect(section).toMatch(/^\*Why\.\* \S/m)
    expect(section).toMatch(/^\*Where\.\* \S/m)
    const paths = [...section.matchAll(/`((?:src|test)\/[\w./-]+)`/g)].map(([, path]) => path ?? '')
    for (const path of paths) expect(existsSync(join(root, path)), path).toBe(true)
    expect(paths.filter((path) => path.endsWith('.test.ts'))).not.toEqual([])
  })
})
