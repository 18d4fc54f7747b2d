/** Where Placement has something allocated to an instance, told as hosts: its providers are Nova's hypervisors. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { RehearsedCloud, failure, fault } from './rehearsed-cloud.ts'

let cloud: RehearsedCloud
beforeEach(async () => {
  cloud = await RehearsedCloud.open()
})
afterEach(() => cloud.shut())

const hypervisors = 'GET /v2.1/os-hypervisors/detail'
const allocations = 'GET /placement/allocations/i-1'
const node = (id: string, host: string): unknown => ({ id, hypervisor_hostname: `${id}.example`, service: { host } })

function client(): ReturnType<RehearsedCloud['client']> {
  const endpoint = { interfaces: ['public'], region: null, override: null }
  return cloud.client({
    endpoints: { compute: endpoint, volume: endpoint, placement: { ...endpoint, override: `${cloud.url}/placement` } },
  })
}

const held = (...ids: string[]) => ({
  json: { allocations: Object.fromEntries(ids.map((id) => [id, { resources: { VCPU: 1 } }])) },
})

it('names the host of each provider, whatever the node is called', async () => {
  cloud.on(allocations, () => held('n2', 'n1'))
  cloud.on(hypervisors, () => ({ json: { hypervisors: [node('n1', 'cmp1'), node('n2', 'cmp2'), node('n3', 'cmp3')] } }))
  expect(await client().allocatedHosts('i-1')).toEqual(['cmp1', 'cmp2'])
  expect(cloud.requests(allocations)[0]?.microversion).toBe('placement 1.6')
})

it('asks Nova for its hypervisors once, and again for a provider that was not among them', async () => {
  const api = client()
  cloud.on(allocations, () => held('n1'))
  cloud.on(hypervisors, () => ({ json: { hypervisors: [node('n1', 'cmp1')] } }))
  await Promise.all([api.allocatedHosts('i-1'), api.allocatedHosts('i-1')])
  expect(cloud.requests(hypervisors)).toHaveLength(1)
  cloud.on(allocations, () => held('n1', 'n2'))
  cloud.on(hypervisors, () => ({ json: { hypervisors: [node('n1', 'cmp1'), node('n2', 'cmp2')] } }))
  expect(await api.allocatedHosts('i-1')).toEqual(['cmp1', 'cmp2'])
  expect(cloud.requests(hypervisors)).toHaveLength(2)
})

it('leaves out a provider that is no hypervisor, and says that Placement refused', async () => {
  cloud.on(hypervisors, () => ({ json: { hypervisors: [node('n1', 'cmp1')] } }))
  cloud.on(allocations, () => held('n1', 'a-gpu'))
  expect(await client().allocatedHosts('i-1')).toEqual(['cmp1'])
  cloud.on(allocations, () => fault(403, 'no'))
  expect(await failure(client().allocatedHosts('i-1'))).toMatchObject({ code: 'AUTH_FORBIDDEN' })
})
