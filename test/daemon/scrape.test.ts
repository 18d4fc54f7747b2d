/** What Prometheus gets from a daemon as it runs: a process over a simulated cloud, scraped over HTTP. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock as clock } from '../../src/system/system-clock.ts'
import { sleep } from '../../src/domain/clock.ts'
import { startSimulator, type Simulator } from '../../src/simulator/index.ts'
import { catalogue } from '../../src/telemetry/metrics.ts'
import { promtool, withoutPromtool } from '../telemetry/promtool.ts'

/** What is tested is built: `npm run build`, as `npm test` does. */
const program = fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'lifeboat-scrape-'))
let simulator: Simulator
let daemon: ChildProcess
let output = ''
let scrape = ''

/** A port that was free a moment ago. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

/** A scrape of a daemon that has polled and looked at its cloud. */
async function settledScrape(port: number): Promise<string> {
  for (let tries = 0; tries < 200; tries++) {
    const text = await fetch(`http://127.0.0.1:${port}/metrics`).then(
      (answer) => answer.text(),
      () => '',
    )
    if (/^lifeboat_polls_total\{result="ok"\}/m.test(text) && /^lifeboat_cloud_info\{/m.test(text)) return text
    if (daemon.exitCode !== null) throw new Error(`the daemon ended: ${output}`)
    await sleep(clock, 100)
  }
  throw new Error(`no poll within the time: ${output}`)
}

beforeAll(async () => {
  simulator = await startSimulator({ clock, hosts: 3 })
  const port = await freePort()
  const config = join(directory, 'lifeboat.yaml')
  const lines = [
    'mode: armed',
    `state_dir: ${directory}/state`,
    `http: { listen: 127.0.0.1:${port} }`,
    'web: { listen: false }',
  ]
  writeFileSync(config, `${[...lines, 'log: { format: oslo }', 'monitor: { poll_interval: 200ms }'].join('\n')}\n`)
  const access = Object.entries(simulator.cloud()).map(([key, value]) => [`OS_${key.toUpperCase()}`, String(value)])
  daemon = spawn(process.execPath, [program, 'run', '--config', config], {
    env: { PATH: process.env['PATH'], ...Object.fromEntries(access) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [daemon.stdout, daemon.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  scrape = await settledScrape(port)
})
afterAll(async () => {
  daemon.kill('SIGKILL')
  await simulator.close()
  rmSync(directory, { recursive: true, force: true })
})

const sample = (series: string): number => {
  const line = scrape.split('\n').find((text) => text.startsWith(`${series} `))
  return line === undefined ? NaN : Number(line.slice(series.length + 1))
}

test.skipIf(withoutPromtool)('promtool finds nothing to say against it', () => {
  expect(promtool(['check', 'metrics'], scrape)).toBe('')
})

test('it holds the catalogue and nothing else', () => {
  const served = [...scrape.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`)
  expect(served.sort()).toEqual(
    Object.values(catalogue)
      .map(({ name, type }) => `${name} ${type}`)
      .sort(),
  )
})

test('what every alert of the daemon itself rests on is there', () => {
  const now = clock.wall() / 1000
  expect(sample('lifeboat_armed')).toBe(1)
  expect(sample('lifeboat_paused')).toBe(0)
  expect(sample('lifeboat_frozen')).toBeGreaterThanOrEqual(0)
  expect(Math.abs(now - sample('lifeboat_poll_timestamp_seconds'))).toBeLessThan(30)
  expect(sample('lifeboat_cloud_lands_stopped')).toBe(1)
  expect(sample('lifeboat_cloud_info{max_microversion="2.100"}')).toBe(1)
  expect(sample('lifeboat_journal_writable')).toBe(1)
  expect(sample('lifeboat_journal_size_bytes')).toBeGreaterThan(4_096)
  expect(sample('lifeboat_journal_free_bytes')).toBeGreaterThan(0)
  expect(sample('lifeboat_memory_resident_bytes')).toBeGreaterThan(10_000_000)
  expect(sample('lifeboat_memory_soft_limit_bytes')).toBeGreaterThan(sample('lifeboat_memory_resident_bytes'))
  // Not known yet, or without an end: not said, so that no alert takes a zero for an answer.
  expect(scrape).not.toMatch(/^lifeboat_(credential_expiry|journal_last_verify)\S* /m)
})

test('its log has the shape of oslo.log on every line', () => {
  const lines = output.split('\n').filter((line) => line !== '')
  expect(lines.length).toBeGreaterThan(2)
  for (const line of lines)
    expect(line).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \d+ [A-Z]+ lifeboat\.[\w.-]+ \[.*\] /)
})
