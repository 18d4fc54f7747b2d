/** The built program on another machine: a network namespace, from which a route leads to the daemon's TLS and to Keystone's. Needs root. */
import { execFile, execFileSync } from 'node:child_process'
import process from 'node:process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { personLogin } from '../../src/openstack/person-login.ts'
import { systemClock } from '../../src/system/system-clock.ts'
import { elsewhere, type Elsewhere } from '../cli/elsewhere.ts'

const isRoot = process.getuid?.() === 0
const machine = `lifeboat-cli-${process.pid}`
/** Of a net for documentation, which leads nowhere else. */
const [daemonSide, personSide] = ['203.0.113.1', '203.0.113.2']
const cable = `lb${process.pid}`
const program = new URL('../../dist/bundle/main.js', import.meta.url).pathname

const ip = (words: string): void => void execFileSync('ip', words.split(' '), { stdio: 'pipe' })

/** As a person there. In the background: the daemon that answers is in this process. */
function there(argv: string[], env: Record<string, string>): Promise<{ exit: number; out: string; err: string }> {
  const words = ['netns', 'exec', machine, process.execPath, program, ...argv]
  return new Promise((resolve) => {
    execFile('ip', words, { env: { PATH: process.env['PATH'], ...env } }, (error, out, err) =>
      resolve({ exit: Number(error?.code ?? 0), out, err }),
    )
  })
}

describe.skipIf(!isRoot)('on another machine (needs root: it is a network namespace)', () => {
  let daemon: Elsewhere
  beforeAll(async () => {
    ip(`netns add ${machine}`)
    ip(`link add ${cable} type veth peer name eth0 netns ${machine}`)
    ip(`addr add ${daemonSide}/30 dev ${cable}`)
    ip(`link set ${cable} up`)
    ip(`-n ${machine} addr add ${personSide}/30 dev eth0`)
    ip(`-n ${machine} link set eth0 up`)
    daemon = await elsewhere({ host: daemonSide })
  })
  afterAll(async () => {
    try {
      // Not there where it could not be started.
      await (daemon as Elsewhere | undefined)?.close()
    } finally {
      ip(`netns del ${machine}`)
    }
  })

  it('lifeboat status --url shows the daemon, with a password for Keystone and one file of CAs for both', async () => {
    const env = { ...daemon.env('rita'), OS_CACERT: daemon.cacert }
    const { exit, out, err } = await there(['status', '--url', daemon.url, '-f', 'value', '-c', 'Mode'], env)
    expect({ exit, out, err }).toEqual({ exit: 0, out: 'armed\n', err: '' })
  })

  it('lifeboat status --url shows the daemon to a token, and needs no way to Keystone', async () => {
    const asked = { env: { ...daemon.env('rita'), OS_CACERT: daemon.cacert }, cacert: null, limitMs: 15_000 }
    const login = personLogin(asked, systemClock)
    const env = { OS_TOKEN: await login.token(), OS_CACERT: daemon.cacert }
    const { exit, out, err } = await there(['status', '--url', daemon.url, '-f', 'value', '-c', 'Mode'], env)
    expect({ exit, out, err }).toEqual({ exit: 0, out: 'armed\n', err: '' })
  })

  it('an order arrives under the name of the token', async () => {
    const env = { ...daemon.env('olaf'), OS_CACERT: daemon.cacert, LIFEBOAT_URL: daemon.url }
    expect(await there(['pause', '--reason', 'work in rack 4'], env)).toMatchObject({ exit: 0, err: '' })
    expect(daemon.asked).toContainEqual(['pause', expect.objectContaining({ by: 'olaf', reason: 'work in rack 4' })])
  })

  it('says that there is no way to a daemon behind no route', async () => {
    const { exit, err } = await there(['status', '--url', 'https://198.51.100.1:9394'], { OS_TOKEN: 't' })
    expect(exit).toBe(69)
    expect(err).toContain('there is no way to https://198.51.100.1:9394')
  })
})
