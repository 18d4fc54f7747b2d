/** The command as a process in a pipe, whose reader goes away while nothing happens. */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { openJournal } from '../../src/journal/journal.ts'
import { configFile, standingClock } from './fake-commands.ts'

/** What is tested is built: `npm run build`, as `npm test` does. */
const program = fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url))

it('what is followed ends with its reader, although there is no news that it could fail to write', () => {
  const config = configFile('')
  const journal = openJournal(join(dirname(config), 'journal.db'), { clock: standingClock })
  journal.append([{ kind: 'daemon.started', data: { version: '0.1.0', mode: 'observe', pid: 1 } }])
  const command = `${process.execPath} ${program} journal list --follow -f value -c Kind --config ${config}`
  try {
    const { status, stdout, stderr, signal } = spawnSync('bash', ['-c', `set -o pipefail; ${command} | head -1`], {
      ...{ encoding: 'utf8', timeout: 60_000 },
    })
    expect({ status, stdout, stderr, signal }).toEqual({
      status: 0,
      stdout: 'daemon.started\n',
      stderr: '',
      signal: null,
    })
  } finally {
    journal.close()
    rmSync(dirname(config), { recursive: true })
  }
})
