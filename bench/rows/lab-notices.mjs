/** As rows/notices.mjs on the lab's real Nova: twenty instances of four projects on the host that dies. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { DaemonProcess } from '../daemon-process.mjs'
import { until } from '../figures.mjs'
import { NovaClient } from '../nova.mjs'
import { Receiver } from '../receiver.mjs'
import { freePort } from '../simulated.mjs'
import { access, computeUrl, dead, hosts, image, lab, labConfig, ownServers, prefix, tidy } from './lab.mjs'
import { delays, noticeFigures, receivers } from './notices.mjs'

const projects = 4
const each = 5

/** @param options { runs } */
export async function labNoticeRows({ runs }) {
  const nova = new NovaClient(access, computeUrl)
  const directory = mkdtempSync(join(tmpdir(), 'lifeboat-bench-'))
  const owners = []
  const seen = []
  try {
    await tidy(nova)
    // Never the names of an earlier run: Keystone remembers whom a name meant for a while.
    for (let n = 0; n < projects; n++) owners.push(await project(`${prefix}-owner-${Date.now()}-${n}`))
    writeFileSync(join(directory, 'clouds.yaml'), await lab('clouds'))
    for (let run = 0; run < runs; run++) {
      await boot(nova, owners)
      seen.push(await tellOnce(directory, run))
      await tidy(nova)
    }
  } finally {
    await tidy(nova)
    for (const { remove } of owners) await remove()
    rmSync(directory, { recursive: true, force: true })
  }
  return noticeFigures('lab', { instances: projects * each, projects, seen })
}

async function tellOnce(directory, run) {
  const receiver = await Receiver.start()
  const config = join(directory, 'lifeboat.yaml')
  const port = await freePort()
  const own = { http: { listen: `127.0.0.1:${port}` }, notices: receivers(receiver) }
  writeFileSync(config, stringify({ ...parse(readFileSync(labConfig, 'utf8')), ...own }))
  const env = { OS_CLIENT_CONFIG_FILE: join(directory, 'clouds.yaml') }
  const daemon = new DaemonProcess({ config, stateDir: join(directory, `state-${run}`), port, env })
  try {
    await daemon.start()
    await daemon.watched(hosts)
    await lab('crash', dead)
    await daemon.closed(dead)
    return delays(daemon.entries({ host: dead, kinds: ['verdict.changed'] }), receiver)
  } finally {
    await daemon.stop()
    await receiver.close()
  }
}

/** A project of its own, with a client that acts in it. */
async function project(name) {
  const keystone = new NovaClient(access, access.auth_url)
  const { id } = (await keystone.call('POST', '/projects', { project: { name } })).project
  const { roles } = await keystone.call('GET', '/roles?name=admin')
  const { users } = await keystone.call('GET', `/users?name=${access.username}`)
  await keystone.call('PUT', `/projects/${id}/users/${users[0].id}/roles/${roles[0].id}`)
  return {
    nova: new NovaClient({ ...access, project_name: name }, computeUrl),
    remove: () => keystone.call('DELETE', `/projects/${id}`),
  }
}

async function boot(nova, owners) {
  const server = (n) => ({ name: `${prefix}-${n}`, flavorRef: '1', imageRef: image, networks: 'none', host: dead })
  const orders = Array.from({ length: projects * each }, (_, n) =>
    owners[n % projects].nova.call('POST', '/servers', { server: server(n) }),
  )
  await Promise.all(orders)
  await until(`${projects * each} servers on ${dead}`, 120_000, async () => {
    const servers = await ownServers(nova)
    return servers.filter(({ status }) => status === 'ACTIVE').length === projects * each
  })
}
