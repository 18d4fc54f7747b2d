/** Drives the lab's real Nova (test/lab): starts it when it does not answer, breaks its hosts, reads its truth, tidies up. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { nova, type CloudUnderTest } from '../contract/cloud-under-test.ts'

const run = promisify(execFile)
export const labCommand = fileURLToPath(new URL('../lab/lab', import.meta.url))

export const labComputeUrl = 'http://127.0.0.1:18774/v2.1'
export const labIdentityUrl = 'http://127.0.0.1:15000/v3'

/** Runs one verb of the lab and gives what it printed. */
export async function lab(...words: string[]): Promise<string> {
  return labWith({}, ...words)
}

/** Its own waits end after at most 300 s, one after another. What stands still longer would stand still until the whole run is cut off. */
const verbLimitMs = 600_000

/** The same with variables of its environment: LAB_HYPERVISOR. */
export async function labWith(variables: Record<string, string>, ...words: string[]): Promise<string> {
  const env = { ...process.env, ...variables }
  const { stdout } = await run(labCommand, words, { maxBuffer: 64 * 1024 * 1024, env, timeout: verbLimitMs })
  return stdout
}

/** The daemon's access, in the words of clouds.yaml. */
export const labAccess = {
  auth_url: labIdentityUrl,
  username: 'instanceha',
  password: 'lab',
  project_name: 'service',
  user_domain_name: 'Default',
  project_domain_name: 'Default',
  region_name: 'RegionOne',
}

async function answers(url: string): Promise<boolean> {
  try {
    await (await fetch(url, { signal: AbortSignal.timeout(5_000) })).text()
    return true
  } catch {
    // Refused or silent: the lab is not up, which is what the caller asks.
    return false
  }
}

/** The lab as a cloud under test. `prefix` names the servers that are this run's own. */
export async function labCloud(
  prefix: string,
  hosts: [string, string, string] = ['cmp01', 'cmp02', 'cmp03'],
): Promise<CloudUnderTest> {
  if (!(await answers(labComputeUrl)) || !(await answers(labIdentityUrl))) await lab('up', '4')
  const root = (await (await fetch(`${labComputeUrl}/`)).json()) as { version: { version: string } }
  const cloud: CloudUnderTest = {
    name: `Nova with ${root.version.version}`,
    computeUrl: labComputeUrl,
    identityUrl: labIdentityUrl,
    credentials: { username: labAccess.username, password: labAccess.password, project: labAccess.project_name },
    plainCredentials: { username: 'demo', password: 'lab', project: 'demo' },
    maxMinor: Number(root.version.version.split('.')[1]),
    hosts,
    quietHost: 'cmp04',
    // Each poll costs Nova's API some 40 ms of one of the machine's cores, which the recovery under test needs too.
    pace: { pollMs: 250, limitMs: 240_000, rpcTimeoutMs: 30_000, lifecycleDelayMs: 15_000 },
    prefix,
    crash: async (host) => {
      await lab('crash', host)
    },
    isolate: async (host) => {
      await lab('isolate', host)
    },
    start: async (host) => {
      await lab('start', host)
    },
    crashGuest: async (id, how) => {
      await lab('crash-guest', id, ...(how === undefined ? [] : [how]))
    },
    pauseGuest: async (id) => {
      await lab('pause-guest', id)
    },
    fault: async (host, fault) => {
      const { fail = null, stopFail = null, slow = false, slowMove = false } = fault ?? {}
      const lasting = [`slow=${slow ? 200 : null}`, `slow_move=${slowMove ? 200 : null}`]
      await lab('fault', host, `fail=${fail}`, `stop_fail=${stopFail}`, ...lasting)
    },
    truth: async () => JSON.parse(await lab('truth')),
    tidy: () => tidy(cloud),
  }
  return cloud
}

/** Takes back every fault and deletes this run's servers, then brings every host of the run back. */
async function tidy(cloud: CloudUnderTest): Promise<void> {
  await Promise.all([lab('well', ...cloud.hosts, cloud.quietHost), deleteServers(cloud)])
  await bringBack(cloud, [...new Set(cloud.hosts)])
}

async function deleteServers(cloud: CloudUnderTest): Promise<void> {
  const list = await nova(cloud, 'GET', `/servers/detail?all_tenants=1&name=^${cloud.prefix}-`)
  await Promise.all(list.body.servers.map(({ id }: { id: string }) => nova(cloud, 'DELETE', `/servers/${id}`)))
}

/** Hosts without faults are up and enabled afterwards, as docs/nova.md §4.4 orders it. An instance that left several records needs several starts. */
export async function bringBack(cloud: CloudUnderTest, hosts: readonly string[]): Promise<void> {
  let away = hosts
  for (let attempt = 0; attempt < 4; attempt++) {
    const before = (await Promise.all(away.map((host) => serviceOf(cloud, host)))).filter(
      ({ state, forced_down, status }) => state !== 'up' || forced_down || status !== 'enabled',
    )
    if (before.length === 0) return
    await lab('start', ...before.map(({ host }) => host))
    const isBack = await Promise.all(before.map((service) => letIn(cloud, service)))
    away = before.flatMap(({ host }, index) => (isBack[index] === true ? [] : [host]))
    if (away.length === 0) return
    await lab('isolate', ...away)
  }
  throw new Error(`${away.join(', ')} does not come back`)
}

async function serviceOf(cloud: CloudUnderTest, host: string): Promise<any> {
  return (await nova(cloud, 'GET', `/os-services?host=${host}`)).body.services[0]
}

/** Of a host that was just started, and what Nova said of it before. False: it needs one more start. */
async function letIn(cloud: CloudUnderTest, { host, id, updated_at: before }: any): Promise<boolean> {
  const remaining = `/os-migrations?source_compute=${host}&migration_type=evacuation&status=done`
  await until(async () => (await serviceOf(cloud, host)).updated_at > before, 180_000)
  await until(async () => (await nova(cloud, 'GET', remaining)).body.migrations.length === 0, 5_000)
  const reply = await nova(cloud, 'PUT', `/os-services/${id}`, { forced_down: false, status: 'enabled' })
  if (reply.status !== 200) return false
  await until(async () => (await serviceOf(cloud, host)).state === 'up', 180_000)
  return true
}

async function until(condition: () => Promise<boolean>, limitMs: number): Promise<boolean> {
  const end = Date.now() + limitMs
  while (Date.now() < end) {
    if (await condition()) return true
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  return false
}
