/** docs/nova.md is cited by the number of a fact or of a section: each of them is there. */
import { expect, it } from 'vitest'
import { files, textOf } from './files.ts'

const page = textOf('docs/nova.md')
const facts = [...page.matchAll(/^\| (\d+) \| /gm)].map(([, number = '']) => number)
const sections = [...page.matchAll(/^##+ (\d+(?:\.\d+)?)\.? /gm)].map(([, number = '']) => number)

/** Numbers that a citation has and the page has not, each with its file. */
function unknown(citation: RegExp, known: readonly string[]): string[] {
  return files
    .filter((path) => !path.startsWith('test/documents/'))
    .flatMap((path) =>
      [...textOf(path).matchAll(citation)]
        .flatMap(([text]) => text.match(/\d+(?:\.\d+)?/g) ?? [])
        .filter((number) => !known.includes(number))
        .map((number) => `${path}: ${number}`),
    )
}

it('has every fact that is cited', () => {
  expect(facts).toHaveLength(12)
  expect(unknown(/\bfacts? \d+(?:(?:, | and )\d+)*/g, facts)).toEqual([])
})

it('has every section that is cited', () => {
  expect(unknown(/§\d+(?:\.\d+)?/g, sections)).toEqual([])
})
