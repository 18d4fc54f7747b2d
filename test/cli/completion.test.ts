/** The completion scripts, run by the shells they are for; a shell that is not installed is left out. */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { completionScript } from '../../src/cli/commands/completion.ts'
import { spotsOf } from '../../src/cli/completion/spots.ts'
import { bareTree } from '../../src/reference/cli-reference.ts'
import { run } from './fake-commands.ts'

const program = bareTree()
const directory = mkdtempSync(join(tmpdir(), 'lb-complete-'))
const installed = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0

function written(name: string, text: string): string {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}

// Stands for the daemon's answers, and says how it was asked.
const lifeboat = written(
  'lifeboat',
  `#!/bin/sh
case "$*" in
  '--config /etc/other.yaml complete hosts') echo other01 ;;
  '--url https://ha.example:9394 --cacert /ca.pem complete hosts') echo far01 ;;
  'complete hosts') printf 'cmp01\\ncmp02\\n' ;;
  'complete segments') printf 'ceph\\nrack b\\ndefault:nova\\ndefault:west\\n' ;;
  'complete incidents') echo 20260102T030405Z-cmp01 ;;
  'complete scenarios') echo host-crashes ;;
esac
`,
)
chmodSync(lifeboat, 0o755)
const env = {
  ...process.env,
  PATH: `${directory}:${process.env['PATH'] ?? ''}`,
  HOME: directory,
  XDG_CONFIG_HOME: directory,
}

/** What stands before the cursor -> what is offered. The last word is the one under way. */
const cases: [string[], string[]][] = [
  [['ho'], ['host']],
  [
    ['host', ''],
    ['maintenance', 'show', 'return', 'list'],
  ],
  [
    ['host', 'show', ''],
    ['cmp01', 'cmp02'],
  ],
  [['host', 'show', 'cmp01', ''], []],
  [['--config', '/etc/other.yaml', 'host', 'show', ''], ['other01']],
  [['--url', 'https://ha.example:9394', '--cacert', '/ca.pem', 'host', 'show', ''], ['far01']],
  [
    ['host', 'list', '--format', ''],
    ['table', 'json', 'yaml', 'csv', 'value'],
  ],
  [['status', '-c', 'Ver'], ['Version']],
  [
    ['journal', 'list', '--host', ''],
    ['cmp01', 'cmp02'],
  ],
  [['incident', 'show', '--watch', '5', ''], ['20260102T030405Z-cmp01']],
  [
    ['recover', '--proof', 'I pulled it', 'c'],
    ['cmp01', 'cmp02'],
  ],
  [['rehearse', ''], ['host-crashes']],
  [['completion', 'f'], ['fish']],
  [['import-masakari', '--apply'], ['--apply-maintenance']],
]

describe.skipIf(!installed('bash'))('bash', () => {
  const script = written('complete.bash', completionScript(program, 'bash'))
  const offered = (words: string[]): string[] => {
    const quoted = ['lifeboat', ...words].map((word) => `'${word}'`).join(' ')
    const source = `source ${script}; COMP_WORDS=(${quoted}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _lifeboat; printf '%s\\n' "\${COMPREPLY[@]}"`
    const text = execFileSync('bash', ['--norc', '-c', source], { env, encoding: 'utf8' })
    return text.split('\n').filter((word) => word !== '' && word !== 'help')
  }
  it.each(cases)('%j', (words, expected) => expect(offered(words)).toEqual(expected))
  it('values after an equals sign, which bash takes apart', () =>
    expect(offered(['host', 'list', '--format', '=', 'js'])).toEqual(['json']))
  it('words with blanks come escaped', () => {
    expect(offered(['status', '-c', 'Last'])).toEqual(['Last\\ Poll'])
    expect(offered(['segment', 'show', 'ra'])).toEqual(['rack\\ b'])
  })
  it.each([
    [
      ['segment', 'show', 'default', ':'],
      ['nova', 'west'],
    ],
    [['segment', 'show', 'default', ':', 'we'], ['west']],
    [['pause', '--segment', '=', 'default', ':', 'no'], ['nova']],
    [['pause', '--segment', 'default', ':', 'nova', '--rea'], ['--reason']],
    [
      ['segment', 'show', 'def'],
      ['default:nova', 'default:west'],
    ],
  ])('names with a colon, at which bash takes them apart: %j', (words, expected) =>
    expect(offered(words)).toEqual(expected),
  )
  it('files where a file is wanted', () => expect(offered(['--config', `${directory}/complete.b`])).toEqual([script]))
})

describe.skipIf(!installed('zsh'))('zsh', () => {
  const script = written('complete.zsh', completionScript(program, 'zsh'))
  // The widgets of zsh's own completion, replaced by printing: they need a terminal.
  const stubs = `compadd() { while [[ $1 == -* ]]; do [[ $1 == -- ]] && { shift; break }; shift; done; print -rl -- "$@" }
_describe() { [[ $1 == -o ]] && shift; print -rl -- \${(@)\${(P)2}%%:*} }
_files() { print FILES }
compset() { PREFIX=\${PREFIX#*=} }
compdef() { : }
source ${script}
`
  const offered = (words: string[]): string[] => {
    const quoted = ['lifeboat', ...words].map((word) => `'${word}'`).join(' ')
    const source = `${stubs}words=(${quoted}); CURRENT=$#words; PREFIX=$words[-1]; _lifeboat`
    const text = execFileSync('zsh', ['-f', '-c', source], { env, encoding: 'utf8' })
    // zsh leaves out by itself what does not begin as the word under way.
    const under = words.at(-1)?.replace(/^--\w+=/, '') ?? ''
    return text.split('\n').filter((word) => word !== '' && word !== 'help' && word.startsWith(under))
  }
  it.each(cases)('%j', (words, expected) => expect(offered(words)).toEqual(expected))
  it('values after an equals sign', () => expect(offered(['host', 'list', '--format=js'])).toEqual(['json']))
})

describe.skipIf(!installed('fish'))('fish', () => {
  const script = written('complete.fish', completionScript(program, 'fish'))
  const offered = (words: string[]): string[] => {
    const line = ['lifeboat', ...words].map((word) => (word.includes(' ') ? `'${word}'` : word)).join(' ')
    const source = `source ${script}; complete -C ${JSON.stringify(line)}`
    const text = execFileSync('fish', ['--no-config', '-c', source], { env, encoding: 'utf8' })
    return text
      .split('\n')
      .map((word) => word.split('\t')[0] ?? '')
      .filter((word) => word !== '' && word !== 'help')
  }
  it.each(cases)('%j', (words, expected) => expect(offered(words).sort()).toEqual(expected.toSorted()))
})

describe('the model', () => {
  it('knows every command and every option of the tree', () => {
    const spots = spotsOf(program)
    expect(spots.map(({ path }) => path)).toContain('maintenance start')
    const start = spots.find(({ path }) => path === 'maintenance start')
    expect(start?.flags.flatMap(({ names }) => names)).toEqual(
      expect.arrayContaining(['--host', '--segment', '--cloud', '--reason', '--for', '--format', '--help']),
    )
  })
  it('hides what the help hides', () => {
    expect(spotsOf(program)[0]?.commands.map(({ name }) => name)).not.toContain('complete')
  })
})

describe('lifeboat complete', () => {
  it('is silent and fine when no daemon answers', async () => {
    expect(await run(['complete', 'hosts'])).toEqual({ exit: 0, out: '', err: '' })
  })
  it('needs no daemon for scenarios', async () => {
    expect((await run(['complete', 'scenarios'])).out).toBe('host-crashes\n')
  })
  it('a shell that there is not is a slip', async () => expect((await run(['completion', 'tcsh'])).exit).toBe(2))
})
