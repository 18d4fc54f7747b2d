/** By what a daemon knows its own earlier process from one that only looks like it: of a copied directory, of a copied machine. */
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { identityOf, isOfCopy, nameIn, type Identity } from '../../../src/journal/shared/identity.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lifeboat-identity-'))
  writeFileSync(join(directory, 'journal.db'), '')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const start = (name = 'ctl1', boot = 'boot-1', at = directory): Identity =>
  identityOf(name, join(at, 'journal.db'), boot)

const owns = (holder: string, at = directory): boolean => isOfCopy(holder, join(at, 'journal.db'))

function copied(): string {
  const to = mkdtempSync(join(directory, 'copied-'))
  for (const file of readdirSync(directory).filter((each) => each.startsWith('journal.db')))
    copyFileSync(join(directory, file), join(to, file))
  return to
}

describe('the identity of a process', () => {
  it('names its daemon, and fits the column of the store whatever the name', () => {
    const { holder } = start('a'.repeat(60))
    expect(nameIn(holder)).toBe('a'.repeat(40))
    expect(holder.length).toBeLessThanOrEqual(64)
  })

  it('is that of no other process, not even where the two began with the same files', () => {
    start()
    const there = copied()
    expect(start().holder).not.toBe(start('ctl1', 'boot-1', there).holder)
  })
})

describe('an earlier process', () => {
  it('is ours on the same file, under another name too, and this one is not', () => {
    const before = start()
    const now = start('renamed')
    expect([now.wasUs(before.holder), start().wasUs(now.holder), now.wasUs(now.holder)]).toEqual([true, true, false])
  })

  it.each([
    ['a machine that was copied, or has restarted', () => start('ctl1', 'boot-2')],
    ['a system that does not say when it started', () => start('ctl1', '')],
    ['a copied directory', () => start('ctl1', 'boot-1', copied())],
  ])('is not ours for %s: it may be alive', (_where, startThere) => {
    const { holder } = start()
    expect(startThere().wasUs(holder)).toBe(false)
  })

  it('of where a directory was copied from is not ours at a later start either', () => {
    const { holder } = start()
    const there = copied()
    const first = start('ctl1', 'boot-1', there)
    const second = start('ctl1', 'boot-1', there)
    expect([second.wasUs(holder), second.wasUs(first.holder)]).toEqual([false, true])
  })

  it('that is of no journal here is not ours', () => expect(start().wasUs('ctl1/00000000#1')).toBe(false))
})

describe('an order that makes the journal its own', () => {
  it('is known here from then on, also after a restart of the machine, and for other processes here not', () => {
    const { holder, owns: own } = start()
    expect(owns(holder)).toBe(false)
    own()
    start('ctl1', 'boot-2')
    expect([owns(holder), owns(start().holder)]).toEqual([true, false])
  })

  it('is known after others of its kind that were interrupted', () => {
    const first = start()
    first.owns()
    for (let n = 0; n < 5; n++) start().owns()
    expect(owns(first.holder)).toBe(true)
  })

  it('is not known where the directory was copied from before', () => {
    start()
    const there = copied()
    const { holder, owns: own } = start('ctl1', 'boot-1', there)
    own()
    expect([owns(holder, there), owns(holder)]).toEqual([true, false])
  })

  it('of an earlier build, which counted its processes, stays known', () => {
    writeFileSync(join(directory, 'journal.db.identity'), '{"copy":"0123abcd","process":7}\n')
    const given = 'ctl1/0123abcd#5'
    expect(owns(given)).toBe(true)
    expect([start().wasUs(given), owns(given), owns('ctl1/99999999#5')]).toEqual([false, true, false])
  })
})

it.each(['', '{"copy":"zz"}\n', 'null\n'])('a file that cannot be read is one of nobody: %j', (text) => {
  const path = join(directory, 'journal.db.identity')
  writeFileSync(path, text)
  const { holder } = start()
  expect(readFileSync(path, 'utf8')).toContain(holder.slice('ctl1/'.length, 'ctl1/'.length + 8))
})
