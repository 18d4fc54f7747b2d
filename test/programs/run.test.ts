import { execFileSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import process from 'node:process'
import { expect, it } from 'vitest'
import { systemClock as clock } from '../../src/daemon/system-clock.ts'
import { run, type ProgramEnding } from '../../src/programs/run.ts'

const limits = { clock, limitMs: 5_000, outputRead: 1_000 }

it('a program is given its input, and its output and exit code are told', async () => {
  const argv = ['/bin/sh', '-c', 'cat; exit 3']
  expect(await run({ ...limits, argv, stdin: 'said' })).toEqual({ exit: 3, output: 'said', how: 'by itself' })
})

it.each([
  ['is not there', ['/nowhere/program'], 'ENOENT'],
  ['would lie in a file', ['/etc/passwd/program'], 'ENOTDIR'],
  ['is given more than the system takes', ['/bin/true', 'x'.repeat(3_000_000)], 'E2BIG'],
])('one that %s was not started', async (_why, argv, code) => {
  expect(await run({ ...limits, argv })).toMatchObject({
    ...{ exit: null, how: 'not started' },
    output: expect.stringContaining(code) as string,
  })
})

it('without a file descriptor to spare none is started, and the daemon lives on', async () => {
  // This process alone, and it ends with this file.
  execFileSync('prlimit', ['--pid', String(process.pid), '--nofile=256:'])
  const taken: number[] = []
  let ending: Promise<ProgramEnding>
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'))
  } catch {
    ending = run({ ...limits, argv: ['/bin/true'] })
  } finally {
    for (const descriptor of taken) closeSync(descriptor)
  }
  expect(await ending).toMatchObject({
    exit: null,
    how: 'not started',
    output: expect.stringContaining('EMFILE') as string,
  })
})
