/** Instances of every kind on the lab, made through the API as their owners would. */
import { nova, tokenFor, type CloudUnderTest } from '../contract/cloud-under-test.ts'
import { Steps } from '../contract/steps.ts'
import { lab } from './lab.ts'

export const image = '00000000-0000-0000-0000-0000000000a1'

/** Of a server whose guest boots an operating system with a guest agent; it needs a real hypervisor. */
export const imageWithAgent = { imageRef: '00000000-0000-0000-0000-0000000000a3', flavorRef: '2' }

export class Tenants {
  readonly cloud: CloudUnderTest
  readonly steps: Steps
  #asked: Promise<any[]> | null = null

  constructor(cloud: CloudUnderTest) {
    this.cloud = cloud
    this.steps = new Steps(cloud)
  }

  /** Boots on `host` and waits until it runs. */
  async boot(name: string, host: string, extra: Record<string, unknown> = {}): Promise<string> {
    const server = {
      name: `${this.cloud.prefix}-${name}`,
      flavorRef: '1',
      imageRef: image,
      networks: 'none',
      host,
      ...extra,
    }
    const reply = await nova(this.cloud, 'POST', '/servers', { server })
    if (reply.status !== 202) throw new Error(`boot ${name}: ${reply.status} ${reply.text}`)
    await this.#settled(reply.body.server.id, 'active')
    return reply.body.server.id
  }

  /** Boots `count` on `host` at once. */
  async bootMany(count: number, host: string): Promise<string[]> {
    return Promise.all(Array.from({ length: count }, (_, n) => this.boot(`many-${n}`, host)))
  }

  async stopped(name: string, host: string): Promise<string> {
    const id = await this.boot(name, host)
    await this.#into(id, { 'os-stop': null }, 'stopped')
    return id
  }

  async paused(name: string, host: string): Promise<string> {
    const id = await this.boot(name, host)
    await this.#into(id, { pause: null }, 'paused')
    return id
  }

  /** Boots on `from` and resizes to `to`, where it waits for its confirmation. */
  async resized(name: string, from: string, to: string, stopFirst: boolean): Promise<string> {
    const id = stopFirst ? await this.stopped(name, from) : await this.boot(name, from)
    await this.only([from, to], async () => {
      await this.#into(id, { resize: { flavorRef: '2' } }, 'resized')
    })
    const { host } = await this.steps.state(id)
    if (host !== to) throw new Error(`the resize went to ${host}, not ${to}`)
    return id
  }

  async #into(id: string, body: unknown, vmState: string): Promise<void> {
    const reply = await this.steps.act(id, body)
    if (reply.status >= 300) throw new Error(`${JSON.stringify(body)}: ${reply.status} ${reply.text}`)
    await this.#settled(id, vmState)
  }

  /**
   * As Steps.settled. All who wait at the same time look at one list: a request costs Nova's API some 40 ms of a core. One that went to ERROR, as
   * where its host is disabled, stays there.
   */
  async #settled(id: string, vmState: string): Promise<void> {
    await this.steps.until(async () => {
      const server = (await this.#list()).find((at) => at.id === id)
      const state = server?.['OS-EXT-STS:vm_state']
      if (state === 'error' && vmState !== 'error')
        throw new Error(`${server.name} went to ERROR: ${server.fault?.message}`)
      return state === vmState && server['OS-EXT-STS:task_state'] === null
    }, `${id} ${vmState}`)
  }

  #list(): Promise<any[]> {
    this.#asked ??= nova(this.cloud, 'GET', `/servers/detail?all_tenants=1&name=^${this.cloud.prefix}-`)
      .then(({ body }) => body.servers)
      .finally(() => (this.#asked = null))
    return this.#asked
  }

  /** A volume of Cinder's stand-in, booted from. */
  async fromVolume(name: string, host: string, encrypted: boolean): Promise<string> {
    const volume = { name: `${this.cloud.prefix}-${name}`, size: 1, bootable: true, encrypted }
    const made = await fetch('http://127.0.0.1:18090/cinder/v3/any/volumes', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ volume }),
    })
    const { id } = ((await made.json()) as { volume: { id: string } }).volume
    const mapping = {
      uuid: id,
      source_type: 'volume',
      destination_type: 'volume',
      boot_index: 0,
      delete_on_termination: false,
    }
    return this.boot(name, host, { imageRef: '', flavorRef: '5', block_device_mapping_v2: [mapping] })
  }

  /** An instance of the user demo, locked by demo. */
  async lockedByOwner(name: string, host: string): Promise<string> {
    const token = await tokenFor(this.cloud, this.cloud.plainCredentials)
    const server = { name: `${this.cloud.prefix}-${name}`, flavorRef: '1', imageRef: image, networks: 'none' }
    let id = ''
    await this.only([host], async () => {
      const reply = await nova(this.cloud, 'POST', '/servers', { server }, { token })
      if (reply.status !== 202) throw new Error(`boot as demo: ${reply.status} ${reply.text}`)
      id = reply.body.server.id
      await this.#settled(id, 'active')
    })
    const reply = await nova(
      this.cloud,
      'POST',
      `/servers/${id}/action`,
      { lock: { locked_reason: 'hands off, says demo' } },
      { token },
    )
    if (reply.status !== 202) throw new Error(`lock as demo: ${reply.status} ${reply.text}`)
    return id
  }

  /** Its host has just died, Nova does not know it yet, and its owner deletes it: the task stays `deleting`. */
  async deleteOnDeadHost(id: string): Promise<void> {
    await nova(this.cloud, 'DELETE', `/servers/${id}`)
  }

  /** Runs `work` while only these hosts can be scheduled to. */
  async only(hosts: string[], work: () => Promise<void>): Promise<void> {
    const services: { host: string; id: string; status: string }[] = (
      await nova(this.cloud, 'GET', '/os-services?binary=nova-compute')
    ).body.services
    const others = services.filter((service) => !hosts.includes(service.host) && service.status === 'enabled')
    for (const { id } of others)
      await nova(this.cloud, 'PUT', `/os-services/${id}`, { status: 'disabled', disabled_reason: 'test' })
    try {
      await work()
    } finally {
      for (const { id } of others) await nova(this.cloud, 'PUT', `/os-services/${id}`, { status: 'enabled' })
    }
  }
}

/** Which hosts each guest runs on by the hypervisors' own log, and every moment one ran on two. */
export async function truth(): Promise<{
  running: Record<string, string[]>
  doubles: { uuid: string; t: number }[]
  starts: Record<string, [number, string, string][]>
}> {
  return JSON.parse(await lab('truth'))
}
