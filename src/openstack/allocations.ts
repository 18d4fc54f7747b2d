/**
 * On which hosts Placement has something allocated to an instance. Its providers are Nova's hypervisors, by id, and only Nova
 * names the host of their service: that listing is kept, and read again when Placement names a provider that is not in it.
 */
import { z } from 'zod'
import type { CallOptions } from '../domain/cloud.ts'
import type { HostName } from '../domain/service.ts'
import { calls } from './call-table.ts'
import { allNodes } from './host-traits.ts'
import type { Session } from './session.ts'

const allocationsAnswer = z.object({ allocations: z.record(z.string(), z.unknown()) })

export class Allocations {
  readonly #session: Session
  #hosts: ReadonlyMap<string, HostName> = new Map()
  /** A listing under way: many instances may ask at once. */
  #listing: Promise<void> | null = null

  constructor(session: Session) {
    this.#session = session
  }

  /** Providers that no hypervisor has are left out. Throws LifeboatError, CATALOG_MISSING without Placement. */
  async hostsOf(consumer: string, options?: CallOptions): Promise<HostName[]> {
    const asked = { call: calls.listAllocations, ids: { id: consumer } }
    const { data } = await this.#session.read(asked, allocationsAnswer, options)
    const providers = Object.keys(data.allocations)
    if (providers.some((id) => !this.#hosts.has(id))) {
      this.#listing ??= this.#list(options).finally(() => (this.#listing = null))
      await this.#listing
    }
    return [...new Set(providers.flatMap((id) => this.#hosts.get(id) ?? []))].sort()
  }

  async #list(options?: CallOptions): Promise<void> {
    const nodes = await allNodes(this.#session, options)
    this.#hosts = new Map(nodes.map(({ id, service }) => [id, service.host]))
  }
}
