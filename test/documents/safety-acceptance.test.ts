/** docs/development/safety-acceptance.md against the scenarios, the laws and the tests that it names. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root, textOf } from './files.ts'

const rows = [
  ...textOf('docs/development/safety-acceptance.md').matchAll(/^\| (\d+) +\| (.+) +\| (.+) +\| (.+) +\|$/gm),
]
const table = rows.map(([, number = '', , scenarios = '', held = '']) => ({ number, scenarios, held }))

const asked = textOf('test/properties/laws.ts')
const laws = readdirSync(join(root, 'test/properties'))
  .filter((file) => /^laws-of-\w+\.ts$/.test(file))
  .map((file) => textOf(`test/properties/${file}`))
  .join('\n')

const quoted = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '')

describe('docs/development/safety-acceptance.md', () => {
  it('counts what must not happen again', () => {
    expect(table.map(({ number }) => number)).toEqual(Array.from({ length: 21 }, (_, n) => String(n + 1)))
  })

  it.each(table)('row $number names scenarios that exist, or says why there is none', ({ scenarios }) => {
    const names = quoted(scenarios)
    expect(names.filter((name) => !existsSync(join(root, 'test/scenarios', name, 'scenario.yaml')))).toEqual([])
    if (names.length === 0) expect(scenarios).toMatch(/^none: \S/)
  })

  it.each(table)(
    'row $number names laws that every generated script is asked for, and tests that exist',
    ({ held }) => {
      const names = quoted(held.replaceAll(/"[^"]*"/g, ''))
      if (names.length === 0) expect(held).toBe('the scenario alone')
      const isLaw = (name: string): boolean =>
        laws.includes(`export function ${name}(`) && asked.includes(`    ...${name}(`)
      expect(names.filter((name) => !(name.includes('/') ? existsSync(join(root, name)) : isLaw(name)))).toEqual([])
      let path = ''
      for (const [, file, title] of held.matchAll(/`([^`]+)`|"([^"]+)"/g)) {
        if (file !== undefined) path = file
        else expect(textOf(path)).toContain(`'${title}'`)
      }
      for (const [, file = ''] of held.matchAll(/`(test\/[^`]+)`/g)) expect(held).toContain(`\`${file}\` "`)
    },
  )
})
