/**
 * What one recovery on a real Nova shows beside its end: a ClusterLabs fence agent, as Debian ships it, proves the death against the lab's BMC; and one
 * id, from the journal and the daemon's own log, finds the step in the logs of Nova's API and of the compute hosts.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Incident } from '../../src/domain/incident.ts'
import { lab, labAccess } from './lab.ts'
import { LabStage, outcomeOf } from './stage.ts'

const dead = 'cmp01'
let logs: string
let stage: LabStage
let directory: string
let bmc: Server
let id: string
let incident: Incident

beforeAll(async () => {
  logs = (await lab('logs')).trim()
  stage = await LabStage.open('one')
  directory = mkdtempSync(join(tmpdir(), 'lifeboat-agent-'))
  bmc = tlsInFrontOfTheBmc()
  await new Promise<void>((resolve) => bmc.listen(0, '127.0.0.1', resolve))
  stage.freshDaemon({ fencing: { bmc: agent() } })
  id = await stage.watchBeside(stage.tenants.boot('found', dead))
  await lab('crash', dead)
  incident = await stage.daemon.incident(dead, (at) => at.closed !== null)
})
afterAll(async () => {
  // Its daemon asks the agent until it ends.
  await stage.tidy()
  bmc.closeAllConnections()
  await new Promise((resolve) => bmc.close(resolve))
  stage.close()
  rmSync(directory, { recursive: true, force: true })
})

/** fence_redfish speaks only HTTPS; the lab's BMC speaks HTTP. */
function tlsInFrontOfTheBmc(): Server {
  const pem = readFileSync('test/openstack/loopback.pem')
  return createServer({ key: pem, cert: pem }, (incoming, answer) => {
    const { method, url, headers } = incoming
    const onward = request({ host: '127.0.0.1', port: 18090, method, path: url, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(answer)
    })
    incoming.pipe(onward)
  })
}

function agent(): object {
  const { port } = bmc.address() as AddressInfo
  const password = join(directory, 'bmc-password')
  writeFileSync(password, 'lab\n', { mode: 0o600 })
  const device = { ip: '127.0.0.1', ipport: `${port}`, username: 'lab' }
  return {
    kind: 'fence-agent',
    agent: 'fence_redfish',
    options: { ...device, systems_uri: '/redfish/v1/Systems/{host}', ssl_insecure: '1' },
    secret_options_files: { password },
    timeout: '30s',
  }
}

/** Lines of Nova's logs that hold the text, by file. */
function linesWith(text: string): Map<string, string[]> {
  const files = readdirSync(logs).filter((name) => /^(nova-.*|cmp\d+)\.log$/.test(name))
  const found = files.map((name): [string, string[]] => {
    const lines = readFileSync(join(logs, name), 'utf8').split('\n')
    return [name.replace('.log', ''), lines.filter((line) => line.includes(text))]
  })
  return new Map(found.filter(([, lines]) => lines.length > 0))
}

it('fence_redfish proves the host dead, and its instance comes back', () => {
  expect(incident.proof).toMatchObject({ host: dead, method: 'bmc', strength: 'agent-verified' })
  expect(outcomeOf(incident, id)).toMatch(/^recovered /)
})

it("a grep for a step's id finds its request in nova-api and its work on the destination", () => {
  const steps = [...(incident.instances.get(id)?.steps.values() ?? [])]
  const evacuation = steps.find(({ kind }) => kind === 'evacuate')
  const { globalRequestId = null, requestId = null, result } = evacuation ?? {}
  expect(globalRequestId).toMatch(/^req-[0-9a-f-]{36}$/)
  const ours = stage.daemon.output.split('\n').filter((line) => line.includes(String(globalRequestId)))
  expect(ours.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual(
    expect.arrayContaining(['step.intended', 'step.issued', 'step.confirmed']),
  )

  const { host: destination } = result as { host: string }
  const found = linesWith(String(globalRequestId))
  expect([...found.keys()]).toEqual(expect.arrayContaining(['nova-api', destination]))
  expect(found.get('nova-api')?.join('\n')).toContain(`POST /v2.1/servers/${id}/action`)
  // Nova's own id stands beside ours, which is how one leads to the other in both directions.
  expect(found.get('nova-api')?.join('\n')).toContain(`[${globalRequestId} ${requestId} `)
  expect(found.get(destination)?.join('\n')).toMatch(/evacuating|Evacuat|rebuild/i)

  const put = [...incident.hostSteps.values()].find(({ kind }) => kind === 'force-down')
  expect(linesWith(String(put?.globalRequestId)).get('nova-api')?.join('\n')).toContain('PUT /v2.1/os-services/')
})

it('Keystone tells when an application credential ends', async () => {
  const login = async (identity: object): Promise<{ token: string; body: Record<string, unknown> }> => {
    const answer = await fetch(`${labAccess.auth_url}/auth/tokens`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ auth: identity }),
    })
    const { token } = (await answer.json()) as { token: Record<string, unknown> }
    return { token: answer.headers.get('x-subject-token') ?? '', body: token }
  }
  const domain = { name: 'Default' }
  const { username: name, password, project_name: project } = labAccess
  const mine = await login({
    identity: { methods: ['password'], password: { user: { name, password, domain } } },
    scope: { project: { name: project, domain } },
  })
  const user = mine.body['user'] as { id: string; password_expires_at: unknown }
  expect(user).toHaveProperty('password_expires_at')
  const url = `${labAccess.auth_url}/users/${user.id}/application_credentials`
  const ask = (method: string, path: string, token: string, body?: object): Promise<Response> =>
    fetch(`${url}${path}`, {
      method,
      headers: { 'X-Auth-Token': token, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const expires_at = new Date(Date.now() + 86_400_000).toISOString().slice(0, 19)
  const wish = { name: `lifeboat-${Date.now()}`, secret: 'lab', expires_at }
  const made = (await (await ask('POST', '', mine.token, { application_credential: wish })).json()) as {
    application_credential: { id: string }
  }
  const { id } = made.application_credential
  try {
    const theirs = await login({
      identity: { methods: ['application_credential'], application_credential: { id, secret: 'lab' } },
    })
    expect(theirs.body['application_credential']).toMatchObject({ id })
    const shown = (await (await ask('GET', `/${id}`, theirs.token)).json()) as {
      application_credential: { expires_at: string }
    }
    expect(shown.application_credential.expires_at).toContain(expires_at)
  } finally {
    await ask('DELETE', `/${id}`, mine.token)
  }
})
