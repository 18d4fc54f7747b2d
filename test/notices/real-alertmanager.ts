/** Debian's Alertmanager, for what only it can judge: which alerts stand, what it groups, and what it says when they end. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { Agent } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import axios from 'axios'
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

/** Files in PEM: its own certificate, whose certificates it lets in, and one of those for whoever asks here. */
export interface ItsTls {
  certFile: string
  keyFile: string
  caFile: string
  visitor: { certFile: string; keyFile: string }
}

interface Options {
  asksForLogin?: boolean
  /** It asks for a client certificate, and talks to nobody without one. */
  tls?: ItsTls
}

/** Started on a free port, with short times, and alone. */
export async function realAlertmanager({ asksForLogin = false, tls }: Options = {}): Promise<RealAlertmanager> {
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
    `route: { receiver: oncall, group_by: [alertname, segment], group_wait: 5s, group_interval: 1s, repeat_interval: 1h }
receivers: [{ name: oncall, webhook_configs: [{ url: 'http://127.0.0.1:${called}/', send_resolved: true }] }]
`,
  )
  const web = join(directory, 'web.yml')
  const logins = asksForLogin ? `basic_auth_users: { ${itsLogin.username}: ${hashed} }\n` : ''
  writeFileSync(web, logins + (tls === undefined ? '' : asksForCertificate(tls)))
  const headers = asksForLogin ? authorization(itsLogin) : {}
  const argv = [`--config.file=${file}`, `--storage.path=${directory}`, `--web.listen-address=127.0.0.1:${port}`]
  const child = spawn(program, [...argv, `--web.config.file=${web}`, '--cluster.listen-address='], { stdio: 'ignore' })
  const over = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
  const asked = axios.create({ baseURL: url, headers, ...(tls !== undefined && { httpsAgent: visitor(tls) }) })
  await until(async () => (await asked.get('/-/ready')).status === 200)
  return {
    ...{ url, sentOn },
    standing: async () => (await asked.get<Standing[]>('/api/v2/alerts?active=true')).data,
    stop: async () => {
      child.kill()
      await over
      onCall.closeAllConnections()
      await new Promise((resolve) => onCall.close(resolve))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function asksForCertificate({ certFile, keyFile, caFile }: ItsTls): string {
  const files = `cert_file: ${certFile}, key_file: ${keyFile}, client_ca_file: ${caFile}`
  return `tls_server_config: { ${files}, client_auth_type: RequireAndVerifyClientCert }\n`
}

function visitor({ caFile, visitor: { certFile, keyFile } }: ItsTls): Agent {
  const [ca, cert, key] = [caFile, certFile, keyFile].map((file) => readFileSync(file))
  return new Agent({ ca: ca!, cert: cert!, key: key! })
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
