/** Where the lines go: the process's own standard output, as it is built. */
import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { expect, test } from 'vitest'

/** What is tested is built: `npm run build`, as `npm test` does. */
const built = new URL('../../dist/telemetry/logger.js', import.meta.url).href
const program = `
  import { createLogger } from '${built}'
  const clock = { now: () => 0, wall: () => 0 }
  for (const format of ['json', 'oslo']) {
    const logger = createLogger({ level: 'info', format, clock })
    for (let line = 0; line < 100; line++) logger.log('info', 'test', 'x'.repeat(50_000))
  }
  process.stderr.write('still there')
`

test('a log on a full disk ends no daemon', () => {
  const full = openSync('/dev/full', 'w')
  try {
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      ...{ encoding: 'utf8', stdio: ['ignore', full, 'pipe'] },
    })
    expect([status, stderr]).toEqual([0, 'still there'])
  } finally {
    closeSync(full)
  }
})
