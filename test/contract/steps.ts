/** The moves that the contract's sentences are made of: boot, wait, force down, evacuate, look. */
import { nova, placement, type CloudUnderTest, type Reply } from './cloud-under-test.ts'

export class Steps {
  readonly cloud: CloudUnderTest
  private made = 0

  constructor(cloud: CloudUnderTest) {
    this.cloud = cloud
  }

  async boot(host: string): Promise<string> {
    const id = await this.order(host)
    await this.until(async () => (await this.show(id)).status === 'ACTIVE', `${id} ACTIVE`)
    return id
  }

  /** Boots a server of a user without the admin role, on a host that the scheduler chooses. */
  async bootPlain(token: string): Promise<string> {
    const id = await this.order(null, token)
    await this.settled(id, 'active')
    return id
  }

  /** Orders a server, and waits for nothing. Without a host the scheduler chooses one. */
  async order(host: string | null, token?: string): Promise<string> {
    const name = `${this.cloud.prefix}-${++this.made}`
    const wanted = { name, flavorRef: '1', imageRef: '00000000-0000-0000-0000-0000000000a1', networks: 'none' }
    const server = { ...wanted, ...(host !== null && { host }) }
    const reply = await nova(this.cloud, 'POST', '/servers', { server }, { ...(token !== undefined && { token }) })
    if (reply.status !== 202) throw new Error(`boot: ${reply.status} ${reply.text}`)
    return reply.body.server.id
  }

  async show(id: string, minor = 90): Promise<any> {
    const reply = await nova(this.cloud, 'GET', `/servers/${id}`, undefined, { minor })
    if (reply.status !== 200) throw new Error(`show ${id}: ${reply.status} ${reply.text}`)
    return reply.body.server
  }

  act(id: string, body: unknown, minor = 90, token?: string): Promise<Reply> {
    const who = token === undefined ? {} : { token }
    return nova(this.cloud, 'POST', `/servers/${id}/action`, body, { minor, ...who })
  }

  async state(id: string): Promise<{ vm: string; task: string | null; power: number; host: string; status: string }> {
    const server = await this.show(id)
    return {
      vm: server['OS-EXT-STS:vm_state'],
      task: server['OS-EXT-STS:task_state'],
      power: server['OS-EXT-STS:power_state'],
      host: server['OS-EXT-SRV-ATTR:host'],
      status: server.status,
    }
  }

  /** Runs an action that must be accepted, and waits for the vm_state that it leads to, task none. */
  async into(id: string, body: unknown, vmState: string): Promise<void> {
    const reply = await this.act(id, body)
    if (reply.status >= 300) throw new Error(`${JSON.stringify(body)}: ${reply.status} ${reply.text}`)
    await this.settled(id, vmState)
  }

  async settled(id: string, vmState: string): Promise<void> {
    await this.until(async () => {
      const { vm, task } = await this.state(id)
      return vm === vmState && task === null
    }, `${id} ${vmState}`)
  }

  async service(host: string, minor = 90): Promise<any> {
    const reply = await nova(this.cloud, 'GET', `/os-services?binary=nova-compute&host=${host}`, undefined, { minor })
    return reply.body.services[0]
  }

  async put(host: string, change: Record<string, unknown>): Promise<Reply> {
    return nova(this.cloud, 'PUT', `/os-services/${(await this.service(host)).id}`, change)
  }

  /** The host dies and Nova is told so. */
  async kill(host: string): Promise<void> {
    await this.cloud.crash(host)
    const reply = await this.put(host, { forced_down: true })
    if (reply.status !== 200) throw new Error(`force down: ${reply.text}`)
  }

  /** Return of a host as docs/nova.md §4.4 orders it. */
  async bringBack(host: string): Promise<void> {
    await this.cloud.fault(host, null)
    const before = (await this.service(host)).updated_at
    await this.cloud.start(host)
    await this.until(async () => {
      const done = await this.migrations(`source_compute=${host}&migration_type=evacuation&status=done`)
      return done.length === 0 && (await this.service(host)).updated_at > before
    }, `${host} has settled its evacuations`)
    await this.put(host, { forced_down: false, status: 'enabled' })
    await this.until(async () => (await this.service(host)).state === 'up', `${host} up`)
  }

  diagnostics(id: string, options: Parameters<typeof nova>[4] = {}): Promise<Reply> {
    return nova(this.cloud, 'GET', `/servers/${id}/diagnostics`, undefined, options)
  }

  async migrations(query: string, minor = 90): Promise<any[]> {
    const reply = await nova(this.cloud, 'GET', `/os-migrations?${query}`, undefined, { minor })
    if (reply.status !== 200) throw new Error(`migrations: ${reply.text}`)
    return reply.body.migrations
  }

  /** Hosts on which Placement has something allocated to the instance. */
  async allocated(id: string): Promise<string[]> {
    const providers = (await placement(this.cloud, '/resource_providers')).body.resource_providers
    const { allocations } = (await placement(this.cloud, `/allocations/${id}`)).body
    const nameOf = (uuid: string): string => providers.find((at: any) => at.uuid === uuid).name
    return Object.keys(allocations).map(nameOf).sort()
  }

  /** POST evacuate; gives its request id. */
  async evacuate(id: string, minor: number, body: Record<string, unknown> = {}): Promise<string> {
    const reply = await this.act(id, { evacuate: body }, minor)
    if (reply.status !== 200) throw new Error(`evacuate: ${reply.status} ${reply.text}`)
    return reply.headers.get('x-openstack-request-id') ?? ''
  }

  /** Waits for the newest evacuation of the instance to end and gives its record. */
  async evacuated(id: string): Promise<any> {
    let newest: any
    await this.until(async () => {
      newest = (await this.migrations(`instance_uuid=${id}&migration_type=evacuation`))[0]
      return ['done', 'completed', 'failed', 'error'].includes(newest?.status)
    }, `evacuation of ${id} over`)
    // Task and vm state lag the record on failure (docs/nova.md §2.5).
    if (newest.status !== 'done') await this.until(async () => (await this.state(id)).vm === 'error', `${id} in ERROR`)
    return newest
  }

  /** Waits until the compute's event of an evacuation has its result. */
  async action(id: string, requestId: string): Promise<any> {
    let action: any
    await this.until(async () => {
      const reply = await nova(this.cloud, 'GET', `/servers/${id}/os-instance-actions/${requestId}`)
      action = reply.body?.instanceAction
      return action?.events.length > 0 && action.events.every((event: any) => event.result !== null)
    }, `action ${requestId} over`)
    return action
  }

  async until(condition: () => Promise<boolean>, what: string): Promise<void> {
    const { pollMs, limitMs } = this.cloud.pace
    const end = Date.now() + limitMs
    while (!(await condition())) {
      if (Date.now() > end) throw new Error(`${this.cloud.name}: not within ${limitMs} ms: ${what}`)
      await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
  }
}
