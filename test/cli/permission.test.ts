/** The command line in the hands of someone who may not read everything. Only root can play another user. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { afterEach, describe, expect, it } from 'vitest'
import { LifeboatError } from '../../src/domain/errors.ts'
import { mayNotRead } from '../../src/cli/permission.ts'
import { fakeJournal, run } from './fake-commands.ts'

const nobody = 65_534
const directory = mkdtempSync(join(tmpdir(), 'lb-permission-'))
afterEach(() => {
  process.seteuid?.(0)
  rmSync(directory, { recursive: true, force: true })
})

describe.skipIf(process.getuid?.() !== 0)('a file in a directory of others', () => {
  it('is forbidden, and one that is not there is not', async () => {
    const own = join(directory, 'journal.db')
    writeFileSync(own, '')
    const config = join(mkdtempSync(join(tmpdir(), 'lb-permission-config-')), 'lifeboat.yaml')
    writeFileSync(config, `state_dir: ${directory}\n`)
    chmodSync(join(config, '..'), 0o755)
    chmodSync(directory, 0o700)
    // What the real one says of a file that it cannot see.
    const openReader = () => {
      throw new LifeboatError('JOURNAL_UNAVAILABLE', `There is no journal at ${own}`)
    }
    const list = () => run(['incident', 'list', '--config', config], { openReader })
    process.seteuid?.(nobody)
    expect([mayNotRead(own), mayNotRead('/nowhere/at/all')]).toEqual([true, false])
    const { exit, err } = await list()
    expect([exit, err]).toEqual([77, expect.stringContaining(`lifeboat: you may not read the journal (${own})`)])
    process.seteuid?.(0)
    expect((await list()).exit).toBe(74)
    expect((await run(['incident', 'list', '--config', config], { openReader: () => fakeJournal({}) })).exit).toBe(0)
    rmSync(join(config, '..'), { recursive: true })
  })
})
