/** The manual pages say all that the help says. */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { pathOf } from '../../src/cli/described.ts'
import { leaves } from '../../src/reference/manual/command-page.ts'
import { configPage } from '../../src/reference/manual/config-page.ts'
import { bareTree } from '../../src/reference/cli-reference.ts'
import { plain, sentence } from '../../src/reference/manual/scdoc.ts'
import { workflowPage } from '../../src/reference/manual/workflow-page.ts'
import { runCli } from '../../src/cli/index.ts'
import { unpainted } from '../../src/cli/output/words.ts'
import type { Terminal } from '../../src/cli/index.ts'
import { fakeCommands } from './fake-commands.ts'

/** Without the escapes of scdoc. */
const page = readFileSync('docs/man/lifeboat.1.scd', 'utf8').replace(/\\(.)/g, '$1')

async function helpOf(command: Command): Promise<string> {
  let out = ''
  const terminal: Terminal = {
    env: {},
    stdout: (text: string) => void (out += text),
    stderr: () => undefined,
    paint: unpainted,
    screen: null,
    onInterrupt: () => () => undefined,
  }
  await runCli([...pathOf(command).split(' ').slice(1), '--help'], terminal, fakeCommands())
  return out
}

describe('lifeboat(1)', () => {
  it.each(leaves(bareTree()).map((command) => [pathOf(command), command] as const))(
    'has every option that `%s --help` prints',
    async (path, command) => {
      const part = page.split(/^## /m).find((text) => text.startsWith(`${path}\n`))
      // Those of every command have a part of their own.
      const [own = ''] = (await helpOf(command)).split('\nGlobal Options:')
      const flags = [...own.matchAll(/^ {2,}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag)
      expect(part).toBeDefined()
      expect(flags.filter((flag) => flag !== '--help' && !part?.includes(`*${flag}*`))).toEqual([])
    },
  )

  it('leaves out what is for developers', () => expect(page).not.toContain('lifeboat generate'))
})

describe('lifeboat.yaml(5)', () => {
  it('says type, range and default of an option', () => {
    const part = configPage({
      properties: { depth: { properties: { of: { type: 'integer', minimum: 1, maximum: 9, default: 3 } } } },
    })
    expect(part).toContain('*depth.of*\n\tWhole number, 1 to 9. Default: 3.')
  })

  it('names kinds and user-given keys in the paths', () => {
    const tcp = { properties: { kind: { const: 'tcp' }, port: { type: 'integer' } }, required: ['kind', 'port'] }
    const part = configPage({ properties: { probes: { additionalProperties: { oneOf: [tcp] } } } })
    expect(part).toContain('## probes.NAME, kind: tcp\n\n*probes.NAME.port*\n\tWhole number. Required.')
  })
})

describe('lifeboat-workflow(5)', () => {
  it('has the sections, tables and code of the README', () => {
    const part = workflowPage(
      '# T\n\nIntro `a_b`.\n\n## Keys\n\n| Key | Meaning |\n|---|---|\n| `x` | yes |\n\n    code\n',
    )
    expect(part).toContain('Intro *a\\_b*.')
    expect(part).toContain('# KEYS\n\n*x*\n\tyes\n\n```\ncode\n```')
  })
})

it('text is never taken for markup', () => expect(plain('a_b *c* #d')).toBe('a\\_b \\*c\\* \\#d'))
it('a value at the head of a description stays as it is written', () => {
  expect(sentence('observe: decide')).toBe('observe: decide.')
  expect(sentence('run the daemon')).toBe('Run the daemon.')
})
