import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { expect, it } from 'vitest'
import type { Clock } from '../../src/domain/clock.ts'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import { run } from '../../src/system/run.ts'

const limits = { clock, limitMs: 60_000, outputRead: 1_000 }

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

it('one that leaves something running with its output open has ended all the same, and what it said is told', async () => {
  const argv = ['/bin/sh', '-c', 'echo taken; sleep 30 & echo $!; exit 0']
  const { output, ...ending } = await run({ ...limits, argv })
  const [said, pid] = output.trim().split('\n')
  expect({ ...ending, said }).toEqual({ exit: 0, how: 'by itself', said: 'taken' })
  process.kill(Number(pid))
})

it('nor does its limit, which runs out while its output is waited for, make it one that did not end', async () => {
  const timers = new Map<number, () => void>()
  const byHand: Clock = {
    ...clock,
    after: (ms, fire) => {
      timers.set(ms, fire)
      return () => void timers.delete(ms)
    },
  }
  const [limitMs, graceMs] = [500, 1_000]
  const ending = run({ ...limits, clock: byHand, limitMs, argv: ['/bin/sh', '-c', 'sleep 20 & exit 0'] })
  await expect.poll(() => timers.has(graceMs)).toBe(true)
  timers.get(limitMs)?.()
  timers.get(graceMs)?.()
  expect(await ending).toEqual({ exit: 0, output: '', how: 'by itself' })
})

/** In a process of its own, which is built: `npm run build`, as `npm test` does. */
const leaving = (argv: string, limitMs: number) => `
  import { run } from '${new URL('../../dist/system/run.js', import.meta.url).href}'
  const clock = {
    now: () => 0,
    wall: () => 0,
    after: (ms, fire) => {
      const timer = setTimeout(fire, ms)
      return () => clearTimeout(timer)
    },
  }
  console.log((await run({ argv: ['/bin/sh', '-c', ${JSON.stringify(argv)}], clock, limitMs: ${limitMs}, outputRead: 1000 })).how)
`

it.each([
  ['ended', 'setsid sleep 120 & exit 0', 30_000, 'by itself\n'],
  ['was killed', 'setsid sleep 120 & sleep 120', 1_500, 'out of time\n'],
])('what one that %s left in a group of its own does not hold up the end of the daemon', (_why, argv, limitMs, how) => {
  const order = ['--input-type=module', '-e', leaving(argv, limitMs)]
  const { status, stdout } = spawnSync(process.execPath, order, { encoding: 'utf8', timeout: 60_000 })
  expect({ status, stdout }).toEqual({ status: 0, stdout: how })
})

/** In a process of its own, which is built: `npm run build`, as `npm test` does. */
const starved = `
  import { openSync } from 'node:fs'
  import { run } from '${new URL('../../dist/system/run.js', import.meta.url).href}'
  const clock = { now: () => 0, wall: () => 0, after: () => () => undefined }
  let ending
  try {
    for (;;) openSync('/dev/null', 'r')
  } catch {
    ending = run({ argv: ['/bin/true'], clock, limitMs: 1000, outputRead: 1000 })
  }
  process.exitCode = (await ending).how === 'not started' ? 3 : 4
`

it('without a file descriptor to spare none is started, and the daemon lives on', () => {
  const argv = ['-c', 'ulimit -n 64; exec "$0" --input-type=module -e "$1"', process.execPath, starved]
  expect(spawnSync('/bin/sh', argv, { encoding: 'utf8' })).toMatchObject({ status: 3, stderr: '' })
})
