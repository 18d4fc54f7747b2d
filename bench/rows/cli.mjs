/**
 * Row cli: what one call of the command line costs, in processor time: user and system, of the process and whatever it starts.
 * Wall time says little on a machine that does something else too. In turn with an earlier build, if one is given.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { median, spread } from '../figures.mjs'
import { SimulatedCloud } from '../simulated.mjs'
import { builds } from '../builds.mjs'
import { figure } from '../targets.mjs'

/** What a shell completes by, what people ask first, and what an empty program costs on this machine. */
const calls = [
  { what: 'lifeboat --version', args: ['--version'], target: 0.2 },
  { what: 'lifeboat status', args: ['status'], target: 0.35 },
]

/** @param options { runs, beside }: `beside` is the main.js of an earlier build, or undefined */
export async function cliRows({ runs, beside }) {
  const cloud = await SimulatedCloud.start({ hosts: 4 })
  const daemon = cloud.daemon()
  try {
    await daemon.start()
    await daemon.watched(4)
    const env = { ...process.env, LIFEBOAT_CONFIG: cloud.config, LIFEBOAT_STATE_DIR: join(cloud.directory, 'state') }
    const measured = [
      { what: 'node with nothing to do', where: 'here', argv: ['-e', '0'], target: null, seen: [] },
      ...calls.flatMap(({ what, args, target }) =>
        builds(beside).map(({ main, where }) => ({ what, where, argv: [main, ...args], target, seen: [] })),
      ),
    ]
    for (let run = 0; run < runs; run++) for (const { argv, seen } of measured) seen.push(cpuSecondsOf(argv, env))
    return measured.map(({ what, where, target, seen }) =>
      figure({
        row: 'cli',
        what: `${what}: processor time`,
        where,
        value: median(seen),
        unit: 's',
        digits: 2,
        target,
        note: `${what}: ${spread(seen, 2)} s (min / median / max of ${runs})`,
      }),
    )
  } finally {
    await daemon.stop()
    await cloud.close()
  }
}

/** The shell's own count of what its children used. */
function cpuSecondsOf(argv, env) {
  const script = '"$@" >/dev/null || exit; times'
  const text = execFileSync('bash', ['-c', script, 'bash', process.execPath, ...argv], { env, encoding: 'utf8' })
  const [, children] = text.trim().split('\n')
  return children.split(' ').reduce((sum, each) => sum + secondsOf(each), 0)
}

/** Of 0m0.123s */
function secondsOf(text) {
  const [, minutes, seconds] = /^(\d+)m([\d.]+)s$/.exec(text)
  return Number(minutes) * 60 + Number(seconds)
}
