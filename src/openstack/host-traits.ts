/**
 * What Placement says of a host: the traits of its nodes. A resource provider's uuid is the hypervisor's id in Nova, and only
 * the details of the hypervisors name the host of their service: a node is often called otherwise (docs/nova.md §1.7).
 */
import { z } from 'zod'
import type { CallOptions } from '../domain/cloud.ts'
import { LifeboatError, ensureError } from '../domain/errors.ts'
import type { HostName } from '../domain/service.ts'
import { calls } from './call-table.ts'
import { forHypervisors } from './microversions.ts'
import { allPages, pageSize } from './paging.ts'
import type { Session } from './session.ts'

const hypervisor = z.object({ id: z.string(), service: z.object({ host: z.string() }) })
const hypervisorsAnswer = z.object({
  hypervisors: z.array(hypervisor),
  hypervisors_links: z.array(z.unknown()).optional(),
})
const traitsAnswer = z.object({ traits: z.array(z.string()) })

/** @throws LifeboatError NOT_FOUND when Nova shows no hypervisor of that host */
export async function hostTraits(session: Session, host: HostName, options?: CallOptions): Promise<Set<string>> {
  const traits = new Set<string>()
  for (const id of await nodesOf(session, host, options)) {
    const { data } = await session.read({ call: calls.listTraits, ids: { id } }, traitsAnswer, options)
    for (const trait of data.traits) traits.add(trait)
  }
  return traits
}

async function nodesOf(session: Session, host: HostName, options?: CallOptions): Promise<string[]> {
  // Most nodes are called after their host; where they are not, every hypervisor is looked through.
  const [shortName = host] = host.split('.')
  const near = await listed(session, { hypervisor_hostname_pattern: shortName }, options).catch((thrown: unknown) => {
    // A pattern that fits nothing is a 404.
    if (ensureError(thrown).code === 'NOT_FOUND') return []
    throw thrown
  })
  const found = near.filter(({ service }) => service.host === host)
  const nodes =
    found.length > 0 ? found : (await allNodes(session, options)).filter(({ service }) => service.host === host)
  if (nodes.length === 0) throw new LifeboatError('NOT_FOUND', `Nova shows no hypervisor on ${host}`)
  return nodes.map(({ id }) => id)
}

/** Every hypervisor of the cloud. */
export async function allNodes(session: Session, options?: CallOptions): Promise<z.infer<typeof hypervisor>[]> {
  const fetch = async (marker?: string) => {
    const query = { limit: String(pageSize), ...(marker === undefined ? {} : { marker }) }
    const { data } = await session.read(
      { call: calls.listHypervisors, query, pick: forHypervisors },
      hypervisorsAnswer,
      options,
    )
    const linked = (data.hypervisors_links ?? []).length > 0
    return { items: data.hypervisors, linked, marker: data.hypervisors.at(-1)?.id }
  }
  return allPages(calls.listHypervisors.route, fetch, ({ id }) => id)
}

async function listed(
  session: Session,
  query: Record<string, string>,
  options?: CallOptions,
): Promise<z.infer<typeof hypervisor>[]> {
  const ask = { call: calls.listHypervisors, query, pick: forHypervisors }
  return (await session.read(ask, hypervisorsAnswer, options)).data.hypervisors
}
