/** A ClusterLabs fence agent, as Debian ships it, against the lab's BMC: the same recovery with another proof. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CloudUnderTest } from '../contract/cloud-under-test.ts'
import { DaemonProcess } from './daemon-process.ts'
import { lab, labCloud } from './lab.ts'
import { Tenants } from './tenants.ts'

const host = 'cmp01'
let cloud: CloudUnderTest
let directory: string
let bmc: Server

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

beforeAll(async () => {
  cloud = await labCloud('agent')
  await cloud.tidy()
  directory = mkdtempSync(join(tmpdir(), 'lifeboat-agent-'))
  bmc = tlsInFrontOfTheBmc()
  await new Promise<void>((resolve) => bmc.listen(0, '127.0.0.1', resolve))
})

afterAll(async () => {
  bmc.closeAllConnections()
  await new Promise((resolve) => bmc.close(resolve))
  await cloud.tidy()
  rmSync(directory, { recursive: true, force: true })
})

it('fence_redfish proves the host dead, and its instance comes back', async () => {
  const { port } = bmc.address() as AddressInfo
  const config = join(directory, 'lifeboat.yaml')
  const secret = join(directory, 'bmc-password')
  writeFileSync(secret, 'lab\n', { mode: 0o600 })
  const agent = [
    '  bmc:',
    '    kind: fence-agent',
    '    agent: fence_redfish',
    `    options: { ip: 127.0.0.1, ipport: '${port}', username: lab, systems_uri: '/redfish/v1/Systems/{host}', ssl_insecure: '1' }`,
    `    secret_options_files: { password: ${secret} }`,
    '    timeout: 30s',
  ]
  const shipped = readFileSync('config/lab.yaml', 'utf8')
  writeFileSync(config, shipped.replace(/ {2}bmc:\n(?: {4}.*\n)+/, `${agent.join('\n')}\n`))
  const clouds = join(directory, 'clouds.yaml')
  writeFileSync(clouds, await lab('clouds'))
  const tenants = new Tenants(cloud)
  const daemon = new DaemonProcess({ cloudsFile: clouds, config })
  try {
    const id = await daemon.watchBeside(tenants.boot('fenced', host))
    await lab('crash', host)
    const incident = await daemon.incident(host, (at) => at.closed !== null)
    expect(incident.proof).toMatchObject({ host, method: 'bmc', strength: 'agent-verified' })
    expect(incident.instances.get(id)?.outcome?.outcome).toBe('recovered')
  } finally {
    await daemon.stop()
    rmSync(daemon.stateDir, { recursive: true, force: true })
  }
})
