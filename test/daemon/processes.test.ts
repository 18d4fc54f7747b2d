/** The daemon as real processes: one journal has one daemon, and a start that fails leaves nothing that looks like a run. */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import { requestHeader } from '../../src/domain/review.ts'
import { openJournal } from '../../src/journal/journal.ts'
import { openJournalReader } from '../../src/journal/reader.ts'
import { startSimulator, type Simulator } from '../../src/simulator/index.ts'

/** What is tested is built: `npm run build`, as `npm test` does. */
const program = fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url))

const directory = mkdtempSync(join(tmpdir(), 'lifeboat-processes-'))
const children: ChildProcess[] = []
let simulator: Simulator

beforeAll(async () => {
  expect(existsSync(program), 'npm run build').toBe(true)
  simulator = await startSimulator({ clock, hosts: 2 })
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await simulator.close()
  rmSync(directory, { recursive: true, force: true })
})

interface Run {
  child: ChildProcess
  config: string
  output: () => string
  /** Waits for a text in what it printed. */
  says: (text: string) => Promise<void>
  ended: Promise<number | null>
}

function run(
  stateDir: string,
  http = 'false',
  environment: Record<string, string> = {},
  web = 'false',
  more = '',
): Run {
  const config = join(directory, `${children.length}.yaml`)
  const listeners = `http: { listen: ${http} }\nweb: { listen: ${web} }\n`
  writeFileSync(config, `mode: observe\nstate_dir: ${stateDir}\n${listeners}${more}`)
  const access = Object.entries(simulator.cloud()).map(([key, value]) => [`OS_${key.toUpperCase()}`, String(value)])
  const child = spawn(process.execPath, [program, 'run', '--config', config], {
    env: { PATH: process.env['PATH'], ...Object.fromEntries(access), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  let text = ''
  let listen: () => void = () => undefined
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      listen()
    })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const says = (wanted: string): Promise<void> =>
    new Promise((resolve, reject) => {
      listen = () => text.includes(wanted) && resolve()
      listen()
      void ended.then((code) => reject(new Error(`it ended with ${code} and never said ${wanted}: ${text}`)))
    })
  return { child, config, output: () => text, says, ended }
}

test('a second daemon on one journal is refused by the pid of the first, also over another path and while that one stands still', async () => {
  const state = join(directory, 'state')
  const link = join(directory, 'link')
  const first = run(state)
  await first.says('daemon.started')
  symlinkSync(state, link)
  // Stopped, not ended: its lock is as good as ever, and it will go on acting when it is continued.
  first.child.kill('SIGSTOP')
  const others = [run(state), run(link)]
  for (const other of others) {
    expect(await other.ended).toBe(74)
    expect(other.output()).toContain(`process ${first.child.pid} on `)
    expect(other.output()).toContain('is writing this journal already: only one daemon may')
  }
  first.child.kill('SIGCONT')
  first.child.kill('SIGTERM')
  expect(await first.ended).toBe(0)
  const journal = openJournalReader(join(state, 'journal.db'))
  const entries = journal.read()
  expect(entries.map(({ kind }) => kind).filter((kind) => kind.startsWith('daemon.'))).toEqual([
    'daemon.started',
    'daemon.stopped',
  ])
  expect(journal.verify().broken).toBeNull()
  journal.close()
  // The heads that the log has kept are those of the chain: an entry that is changed later no longer leads to them.
  const heads = first
    .output()
    .split('\n')
    .flatMap((line) => (/"event":"journal\.(opened|closed)"/.test(line) ? [JSON.parse(line) as { head: string }] : []))
  expect(heads.map(({ head }) => head)).toEqual(['0'.repeat(64), entries.at(-1)?.hash])
})

test('a start that fails on a port that is taken leaves no row of a run', async () => {
  const state = join(directory, 'taken')
  const holder = createServer()
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve))
  const { port } = holder.address() as AddressInfo
  const failed = run(state, `'127.0.0.1:${port}'`)
  expect(await failed.ended).not.toBe(0)
  expect(failed.output()).toContain(String(port))
  holder.close()
  const journal = openJournalReader(join(state, 'journal.db'))
  expect(
    journal
      .read()
      .map(({ kind }) => kind)
      .filter((kind) => kind.startsWith('daemon.')),
  ).toEqual([])
  journal.close()
})

test('a damaged journal is refused with the exit code of the journal and a word on how to go on', async () => {
  const state = join(directory, 'taken')
  writeFileSync(join(state, 'journal.db'), 'rubbish '.repeat(1_000))
  const refused = run(state)
  expect(await refused.ended).toBe(74)
  expect(refused.output()).toContain('To go on: move the damaged file')
})

test('the copy of a shared journal is refused by a daemon with a journal of its own, and stays as it is', async () => {
  const state = join(directory, 'copy')
  mkdirSync(state)
  const journal = openJournal(join(state, 'journal.db'), { clock })
  journal.append([{ kind: 'journal.moved', data: { to: 'shared', holder: 'ctl1/0#1', by: 'ann', reason: 'x' } }])
  const head = journal.head()
  journal.close()
  const refused = run(state)
  expect(await refused.ended).toBe(78)
  expect(refused.output()).toContain('lifeboat journal move --to own')
  const after = openJournalReader(join(state, 'journal.db'))
  expect(after.head()).toEqual(head)
  after.close()
})

test('SIGHUP reads the configuration again, keeps the old one when it is broken, and tells systemd of both', async () => {
  const state = join(directory, 'hup')
  const bin = join(directory, 'bin')
  const told = join(directory, 'told')
  mkdirSync(bin)
  writeFileSync(join(bin, 'systemd-notify'), `#!/bin/sh\necho "$*" >> ${told}\n`, { mode: 0o755 })
  const path = `${bin}:${process.env['PATH'] ?? ''}`
  const daemon = run(state, 'false', { NOTIFY_SOCKET: '/nowhere', PATH: path })
  await daemon.says('daemon.started')
  const text = readFileSync(daemon.config, 'utf8')
  writeFileSync(daemon.config, text.replace('mode: observe', 'mode: armd'))
  daemon.child.kill('SIGHUP')
  await daemon.says('the current one stays in force (reload ordered by')
  // The fragment beside it wins, and is new since the start.
  mkdirSync(daemon.config.replace('.yaml', '.d'))
  writeFileSync(join(daemon.config.replace('.yaml', '.d'), '10-armed.yaml'), 'mode: armed\nlog: { level: debug }\n')
  writeFileSync(daemon.config, text.replace('listen: false', "listen: '127.0.0.1:1'"))
  daemon.child.kill('SIGHUP')
  await daemon.says(': mode, log.level; waiting for the next start: http.listen')
  await daemon.says('"event":"poll.ended"')
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended).toBe(0)
  const journal = openJournalReader(join(state, 'journal.db'))
  const own = journal.read({ kinds: ['config.refused', 'config.reloaded', 'mode.changed'] })
  expect(own.map(({ kind, actor }) => `${kind} ${actor}`)).toEqual([
    'config.refused signal:SIGHUP',
    'config.reloaded signal:SIGHUP',
    'mode.changed signal:SIGHUP',
  ])
  journal.close()
  const notices = readFileSync(told, 'utf8').split('\n')
  expect(notices.filter((line) => /READY|RELOADING/.test(line))).toEqual([
    'READY=1 STATUS=Watching, observe',
    expect.stringMatching(/^RELOADING=1 MONOTONIC_USEC=\d+ /),
    'READY=1 STATUS=Watching, observe',
    expect.stringMatching(/^RELOADING=1 MONOTONIC_USEC=\d+ /),
    'READY=1 STATUS=Watching, armed',
  ])
})

test('a daemon that stands by reads its configuration again at SIGHUP, and its metrics and systemd hear how that went', async () => {
  const told = join(directory, 'told-standby')
  const bin = join(directory, 'bin-standby')
  mkdirSync(bin)
  writeFileSync(join(bin, 'systemd-notify'), `#!/bin/sh\necho "$*" >> ${told}\n`, { mode: 0o755 })
  const path = `${bin}:${process.env['PATH'] ?? ''}`
  // Nobody listens there: it follows, and is not active.
  const sharing = "\nshared_journal: { nodes: ['127.0.0.1:1'], password: x, name: ctl2 }\n"
  const daemon = run(
    join(directory, 'standby'),
    "'127.0.0.1:0'",
    { NOTIFY_SOCKET: '/nowhere', PATH: path },
    'false',
    sharing,
  )
  await daemon.says('"event":"shared_journal.unavailable"')
  const [, address = ''] = /Metrics and health listen at (http:[^"]*)"/.exec(daemon.output()) ?? []
  const succeeded = async (): Promise<string | undefined> =>
    /^lifeboat_config_last_reload_successful (\d)$/m.exec(await (await fetch(`${address}/metrics`)).text())?.[1]
  const text = readFileSync(daemon.config, 'utf8')
  writeFileSync(daemon.config, text.replace('mode: observe', 'mode: armd'))
  daemon.child.kill('SIGHUP')
  await daemon.says('"event":"config.refused"')
  expect(await succeeded()).toBe('0')
  writeFileSync(daemon.config, text.replace('mode: observe', 'mode: armed'))
  daemon.child.kill('SIGHUP')
  await daemon.says('Configuration of a standby reloaded by SIGHUP: mode')
  expect(await succeeded()).toBe('1')
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended).toBe(0)
  const notices = readFileSync(told, 'utf8').split('\n')
  expect(notices.filter((line) => line.includes('READY'))).toEqual(Array(3).fill('READY=1 STATUS=Standing by'))
})

test('the log says where the pages are, and a reload changes who may use them', async () => {
  const daemon = run(join(directory, 'pages'), 'false', {}, "'127.0.0.1:0'")
  await daemon.says('daemon.started')
  const [place] = daemon
    .output()
    .split('\n')
    .flatMap((line) => (line.includes('"listener":"web"') ? [JSON.parse(line) as Record<string, string>] : []))
  const { address = '', msg } = place ?? {}
  expect(msg).toMatch(/^Pages and REST API listen at http:\/\/127\.0\.0\.1:\d+, without TLS$/)
  const { username: user, password } = simulator.cloud()
  const begun = await fetch(`${address}/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', [requestHeader]: '1' },
    body: JSON.stringify({ user, password }),
  })
  expect([begun.status, await begun.json()]).toEqual([201, expect.objectContaining({ role: 'admin' })])
  const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? ''
  const text = readFileSync(daemon.config, 'utf8')
  writeFileSync(daemon.config, text.replace('web: {', 'web: { roles: { someone-else: admin },'))
  daemon.child.kill('SIGHUP')
  await daemon.says(': web.roles.someone-else (new)')
  expect((await fetch(`${address}/v1/me`, { headers: { cookie } })).status).toBe(403)
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended).toBe(0)
})
