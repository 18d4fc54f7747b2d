/** What `lifeboat demo --keep` prints must work in the shell it was printed in, whatever is exported there. */
import { mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { keepingDemo, keepJournal } from '../../src/rehearsal/demo-journal.ts'
import { openJournal } from '../../src/journal/journal.ts'
import type { Commands } from '../../src/cli/composition.ts'
import type { Config } from '../../src/config/index.ts'
import { configFile, fakeJournal, run, standingClock } from './fake-commands.ts'

describe('with --web', () => {
  it('the pages are opened, on a free port or the one asked for', async () => {
    const asked: number[] = []
    const demoPages: Commands['demoPages'] = async (_write, { port }) => void asked.push(port)
    expect((await run(['demo', '--web'], { demoPages })).exit).toBe(0)
    expect((await run(['demo', '--web', '--port', '8080'], { demoPages })).exit).toBe(0)
    expect(asked).toEqual([0, 8080])
  })
  it.each([
    ['--web', '--keep'],
    ['--web', '--hosts', '5'],
    ['--web', '--port', '0'],
    ['--web', '--port', '65536'],
    ['--port', '8080'],
  ])('%s %s %s is a slip', async (...words) => {
    expect((await run(['demo', ...words])).exit).toBe(2)
  })
})

describe('the printed command', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lb demo-'))
  const command = keepJournal(directory, 'i-1', {})

  it.each([
    ['nothing', { LIFEBOAT_CONFIG: '' }],
    ['a configuration with a state_dir', { LIFEBOAT_CONFIG: configFile('mode: armed') }],
    ['a configuration that is not there', { LIFEBOAT_CONFIG: '/nonexistent/lifeboat.yaml' }],
    ['another state directory', { LIFEBOAT_STATE_DIR: '/nonexistent' }],
  ])("reads the demo's journal with %s exported", async (_what, env) => {
    openJournal(join(directory, 'journal.db'), { clock: standingClock }).close()
    const asked: string[] = []
    const openReader = ({ journal }: Config) => {
      asked.push(journal)
      return fakeJournal()
    }
    const [, file = '', rest = ''] = /^lifeboat --config '([^']+)' (.*)$/.exec(command) ?? []
    const { exit, out } = await run(['--config', file, ...rest.split(' ')], { openReader }, { env })
    expect([exit, asked]).toEqual([0, [join(directory, 'journal.db')]])
    expect(out).toContain('markdown of i-1')
  })

  it('stands on a file that nobody else may write, whatever the umask', () => {
    expect(statSync(join(directory, 'lifeboat.yaml')).mode & 0o077).toBe(0)
  })

  it('is called as the demo was', () => {
    const npm = { npm_command: 'run-script' }
    expect(keepJournal(directory, 'i-1', npm)).toMatch(/^npx lifeboat --config /)
    expect([keepingDemo(npm), keepingDemo({})]).toEqual(['npm run demo -- --keep', 'lifeboat demo --keep'])
  })
})
