/** Debian's Alertmanager, for what only it can judge: which alerts stand, what it groups, and what it says when they end. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { authorization } from '../../src/domain/http-login.ts'

const program = 'prometheus-alertmanager'
/** CI sets it, so that a machine without an Alertmanager fails there instead of passing over these tests. */
const required = process.env['LIFEBOAT_REQUIRE_ALERTMANAGER'] === '1'

/** Whether the tests with an Alertmanager are to be passed over: only outside of CI. */
export const withoutAlertmanager = spawnSync(program, ['--version']).status !== 0 && !required

export interface Standing {
  labels: Record<string, string>
  annotations: Record<string, string>
  startsAt: string
  endsAt: string
  generatorURL: string
}

/** What it sends on, as its own webhooks have it. */
export interface SentOn {
  status: 'firing' | 'resolved'
  groupLabels: Record<string, string>
  alerts: { status: string; labels: Record<string, string> }[]
}

export interface RealAlertmanager {
  url: string
  /** Whoever is on call. */
  sentOn: SentOn[]
  standing: () => Promise<Standing[]>
  stop: () => Promise<void>
}

/** What one with `asksForLogin` lets in, and how its file has the password (bcrypt). */
export const itsLogin = { username: 'lifeboat', password: 'correct-horse-battery' }
const hashed = '$2b$04$abcdefghijklmnopqrstuupOWRSKKNe562z1DsLEArFuJDHVyRIMa'

/** Started on a free port, with short times, and alone. */
export async function realAlertmanager({ asksForLogin = false } = {}): Promise<RealAlertmanager> {
  const directory = mkdtempSync(join(tmpdir(), 'lifeboat-alertmanager-'))
  const sentOn: SentOn[] = []
  const onCall = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      sentOn.push(JSON.parse(body) as SentOn)
      response.end()
    })
  })
  await new Promise<void>((resolve) => onCall.listen(0, '127.0.0.1', resolve))
  const { port: called } = onCall.address() as AddressInfo
  const port = await freePort()
  const file = join(directory, 'alertmanager.yml')
  writeFileSync(
    file,
    `route: { receiver: oncall, group_by: [alertname, segment], group_wait: 1s, group_interval: 1s, repeat_interval: 1h }
receivers: [{ name: oncall, webhook_configs: [{ url: 'http://127.0.0.1:${called}/', send_resolved: true }] }]
`,
  )
  const web = join(directory, 'web.yml')
  writeFileSync(web, asksForLogin ? `basic_auth_users: { ${itsLogin.username}: ${hashed} }\n` : '')
  const headers = asksForLogin ? authorization(itsLogin) : {}
  const argv = [`--config.file=${file}`, `--storage.path=${directory}`, `--web.listen-address=127.0.0.1:${port}`]
  const child = spawn(program, [...argv, `--web.config.file=${web}`, '--cluster.listen-address='], { stdio: 'ignore' })
  const over = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = `http://127.0.0.1:${port}`
  await until(async () => (await fetch(`${url}/-/ready`, { headers })).ok)
  return {
    ...{ url, sentOn },
    standing: async () => (await fetch(`${url}/api/v2/alerts?active=true`, { headers })).json() as Promise<Standing[]>,
    stop: async () => {
      child.kill()
      await over
      onCall.closeAllConnections()
      await new Promise((resolve) => onCall.close(resolve))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await isSo().catch(() => false)) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('Alertmanager is not ready')
}
