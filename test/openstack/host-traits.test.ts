/** Placement's traits of a host: found by the host of its hypervisors' service, whatever the node is called. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RehearsedCloud, failure, fault } from './rehearsed-cloud.ts'

let cloud: RehearsedCloud
beforeEach(async () => {
  cloud = await RehearsedCloud.open()
})
afterEach(() => cloud.shut())

const hypervisors = 'GET /v2.1/os-hypervisors/detail'
const traits = (id: string): string => `GET /placement/resource_providers/${id}/traits`
const node = (id: string, host: string): unknown => ({ id, hypervisor_hostname: `${id}.example`, service: { host } })

function client(): ReturnType<RehearsedCloud['client']> {
  const endpoint = { interfaces: ['public'], region: null, override: null }
  return cloud.client({
    endpoints: { compute: endpoint, volume: endpoint, placement: { ...endpoint, override: `${cloud.url}/placement` } },
  })
}

describe('the traits of a host', () => {
  it('are those of its node, asked for at a version that reads no uptimes', async () => {
    cloud.on(hypervisors, () => ({ json: { hypervisors: [node('n1', 'cmp1'), node('n2', 'cmp10')] } }))
    cloud.on(traits('n1'), () => ({
      json: { traits: ['HW_CPU', 'COMPUTE_STATUS_DISABLED'], resource_provider_generation: 1 },
    }))
    expect([...(await client().hostTraits('cmp1'))]).toEqual(['HW_CPU', 'COMPUTE_STATUS_DISABLED'])
    const [asked] = cloud.requests(hypervisors)
    expect(Object.fromEntries(asked?.query ?? [])).toEqual({ hypervisor_hostname_pattern: 'cmp1' })
    expect(asked?.microversion).toBe('compute 2.87')
    expect(cloud.requests(traits('n1'))[0]?.microversion).toBe('placement 1.6')
  })

  it('are those of all its nodes', async () => {
    cloud.on(hypervisors, () => ({ json: { hypervisors: [node('n1', 'ironic'), node('n2', 'ironic')] } }))
    cloud.on(traits('n1'), () => ({ json: { traits: ['A'] } }))
    cloud.on(traits('n2'), () => ({ json: { traits: ['B'] } }))
    expect([...(await client().hostTraits('ironic'))]).toEqual(['A', 'B'])
  })

  it.each([
    ['the pattern fits nothing', fault(404, 'No hypervisor matching')],
    ['the pattern fits only others', { json: { hypervisors: [node('n9', 'other')] } }],
  ])('are found among all hypervisors when %s', async (_name, nothing) => {
    cloud.on(hypervisors, ({ query }) =>
      query.has('hypervisor_hostname_pattern')
        ? nothing
        : { json: { hypervisors: [node('n9', 'other'), node('n1', 'cmp1.dc')] } },
    )
    cloud.on(traits('n1'), () => ({ json: { traits: ['A'] } }))
    expect([...(await client().hostTraits('cmp1.dc'))]).toEqual(['A'])
    const [first, second] = cloud.requests(hypervisors)
    expect(first?.query.get('hypervisor_hostname_pattern')).toBe('cmp1')
    expect(second?.query.get('limit')).toBe('1000')
  })

  it('are an error when there is no such hypervisor, or Placement says no', async () => {
    cloud.on(hypervisors, () => ({ json: { hypervisors: [] } }))
    expect(await failure(client().hostTraits('cmp1'))).toMatchObject({ code: 'NOT_FOUND' })
    cloud.on(hypervisors, () => ({ json: { hypervisors: [node('n1', 'cmp1')] } }))
    cloud.on(traits('n1'), () => fault(403, 'no'))
    expect(await failure(client().hostTraits('cmp1'))).toMatchObject({ code: 'AUTH_FORBIDDEN' })
  })

  it('are an error without Placement in the catalogue, and Nova is still reached', async () => {
    cloud.on(hypervisors, () => ({ json: { hypervisors: [node('n1', 'cmp1')] } }))
    expect(await failure(cloud.client().hostTraits('cmp1'))).toMatchObject({ code: 'CATALOG_MISSING' })
  })
})
