import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CallOptions, Cloud } from '../../src/domain/cloud.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import { callTable } from '../../src/openstack/call-table.ts'
import { computeBase, versionAddresses } from '../../src/openstack/compute-root.ts'
import { RehearsedCloud, failure, fault } from './rehearsed-cloud.ts'

let cloud: RehearsedCloud
beforeEach(async () => {
  cloud = await RehearsedCloud.open()
  cloud.on(action, () => ({ status: 202 }))
})
afterEach(() => cloud.shut())

const action = 'POST /v2.1/servers/i1/action'

describe('evacuate', () => {
  it.each([
    ['stopped', '2.100', '2.95'],
    ['stopped', '2.95', '2.95'],
    ['as-before', '2.100', '2.94'],
    ['as-before', '2.93', '2.93'],
    ['as-before', '2.53', '2.53'],
  ] as const)('%s on a cloud with %s goes at %s, never with force or a host', async (landing, max, sent) => {
    cloud.max = max
    expect(await cloud.client().evacuate('i1', { landing })).toEqual({ requestId: 'req-1' })
    expect(cloud.requests(action)).toMatchObject([{ microversion: `compute ${sent}`, body: { evacuate: {} } }])
    expect(cloud.requests(action)[0]?.body).toEqual({ evacuate: {} })
  })

  it('stopped is refused before it is sent where the cloud has no 2.95', async () => {
    cloud.max = '2.93'
    const client = cloud.client()
    expect(await client.capabilities()).toEqual({ computeMaxMicroversion: '2.93', landsStopped: false })
    const error = await failure(client.evacuate('i1', { landing: 'stopped' }))
    expect(error).toMatchObject({ code: 'MICROVERSION_UNSUPPORTED', certainty: 'not-applied' })
    expect(cloud.requests(action)).toHaveLength(0)
  })

  it.each([
    [400, 'Compute service of cmp01 is still in use.', 'HOST_STILL_UP', 'not-applied'],
    [
      400,
      'Starting with microversion 2.95, evacuate API will stop instance on destination. Required version for compute 62',
      'MICROVERSION_UNSUPPORTED',
      'not-applied',
    ],
    [400, 'something new', 'API_REFUSED', 'not-applied'],
    [403, "Policy doesn't allow os_compute_api:os-evacuate to be performed.", 'AUTH_FORBIDDEN', 'not-applied'],
    [404, 'Instance i1 could not be found.', 'INSTANCE_GONE', 'not-applied'],
    [409, "Cannot 'evacuate' instance i1 while it is in vm_state resized", 'INSTANCE_BUSY', 'not-applied'],
    // Nova checks the RPC pin after it has written task state and migration.
    [409, 'Evacuate to stopped is not supported by the pinned RPC version', 'INSTANCE_BUSY', 'unknown'],
  ])('answered with %i "%s" is %s, %s', async (status, message, code, certainty) => {
    cloud.on(action, () => fault(status, message))
    const error = await failure(cloud.client().evacuate('i1', { landing: 'stopped' }))
    expect(error).toMatchObject({ code, certainty })
    expect(error.message).toContain(message)
    expect(error.details['requestId']).toBe('req-1')
  })
})

describe('a plain refusal', () => {
  it.each([
    [
      'Evacuating instance i1 with vTPM is not supported.',
      'Evacuating instance i1 with vTPM is not supported (Nova refuses POST /servers/{id}/action)',
    ],
    ['', 'Nova refuses POST /servers/{id}/action'],
  ])('that says "%s" begins with that, and keeps it for machines', async (said, message) => {
    cloud.on(action, () => fault(400, said))
    const error = await failure(cloud.client().evacuate('i1', { landing: 'stopped' }))
    expect(error).toMatchObject({ code: 'API_REFUSED', message })
    expect(error.details['said']).toBe(said === '' ? undefined : said)
  })
})

describe('the microversion', () => {
  it.each([
    ['2.52', '2.1'],
    ['2.100', '2.60'],
  ])('range up to %s from %s is not enough', async (max, min) => {
    Object.assign(cloud, { max, min })
    expect(await failure(cloud.client().capabilities())).toMatchObject({ code: 'MICROVERSION_UNSUPPORTED' })
  })

  it('is negotiated again after 406, and the call goes once more', async () => {
    const client = cloud.client()
    await client.capabilities()
    cloud.max = '2.60'
    cloud.on(action, (asked) => (asked.microversion === 'compute 2.60' ? { status: 202 } : fault(406, 'not supported')))
    await client.stop('i1')
    expect(cloud.requests(action).map((asked) => asked.microversion)).toEqual(['compute 2.90', 'compute 2.60'])
  })

  it('refused although discovery still shows it is an error, not a loop', async () => {
    cloud.on(action, () => fault(406, 'not supported'))
    expect(await failure(cloud.client().stop('i1'))).toMatchObject({
      code: 'MICROVERSION_UNSUPPORTED',
      certainty: 'not-applied',
    })
    expect(cloud.requests(action)).toHaveLength(1)
  })

  it('is asked for again after a while, so that an upgrade is noticed', async () => {
    cloud.max = '2.93'
    const client = cloud.client()
    await client.capabilities()
    cloud.max = '2.95'
    cloud.clock.advance(11 * 60_000)
    expect((await client.capabilities()).landsStopped).toBe(true)
  })

  it('is found in the list above when the v2.1 root does not show it', async () => {
    cloud.on('GET /v2.1/', () => ({ status: 404, text: 'no' }))
    cloud.on('GET /v2.1', () => ({ status: 404, text: 'no' }))
    cloud.on('GET /', () => ({
      status: 300,
      json: {
        versions: [
          { id: 'v2.0', version: '', min_version: '' },
          { id: 'v2.1', version: '2.96', min_version: '2.1' },
        ],
      },
    }))
    expect((await cloud.client().capabilities()).computeMaxMicroversion).toBe('2.96')
  })

  it.each([
    ['http://nova:8774/v2.1', 'http://nova:8774/v2.1'],
    ['http://nova:8774/v2.1/abc', 'http://nova:8774/v2.1/abc'],
    ['http://nova:8774/v2/abc', 'http://nova:8774/v2.1'],
    ['https://api/compute', 'https://api/compute/v2.1'],
    ['http://nova:8774', 'http://nova:8774/v2.1'],
  ])('is looked for from the endpoint %s', (endpoint, base) => {
    expect(computeBase(endpoint)).toBe(base)
    expect(versionAddresses(endpoint)[0]).toMatch(/\/v2\.1\/$/)
    expect(versionAddresses(endpoint)[2]).not.toContain('v2')
  })
})

describe('the other orders', () => {
  it.each<[string, (client: Cloud) => Promise<unknown>, unknown]>([
    ['start', (client) => client.start('i1'), { 'os-start': null }],
    ['stop', (client) => client.stop('i1'), { 'os-stop': null }],
    ['lock', (client) => client.lock('i1', 'x'.repeat(300)), { lock: { locked_reason: 'x'.repeat(255) } }],
    ['unlock', (client) => client.unlock('i1'), { unlock: null }],
    ['resetState', (client) => client.resetState('i1'), { 'os-resetState': { state: 'active' } }],
    ['confirmResize', (client) => client.confirmResize('i1'), { confirmResize: null }],
  ])('%s sends what Nova expects and gives back the request id', async (_name, order, body) => {
    expect(await order(cloud.client())).toEqual({ requestId: 'req-1' })
    expect(cloud.requests(action).map((asked) => [asked.body, asked.microversion])).toEqual([[body, 'compute 2.90']])
  })

  it('lock leaves out the reason where Nova has none (below 2.73)', async () => {
    cloud.max = '2.72'
    await cloud.client().lock('i1', 'why')
    expect(cloud.requests(action)[0]?.body).toEqual({ lock: null })
  })

  it('updateService sends only what changes and gives back the whole record', async () => {
    const service = { id: 's1', binary: 'nova-compute', host: 'cmp01', zone: 'nova', status: 'disabled', state: 'down' }
    cloud.on('PUT /v2.1/os-services/s1', () => ({
      json: { service: { ...service, forced_down: true, updated_at: 't' } },
    }))
    const record = await cloud
      .client()
      .updateService('s1', { forcedDown: true, status: 'disabled', disabledReason: 'dead' })
    expect(cloud.requests('PUT /v2.1/os-services/s1')[0]?.body).toEqual({
      forced_down: true,
      status: 'disabled',
      disabled_reason: 'dead',
    })
    expect(record).toMatchObject({ id: 's1', status: 'disabled', forcedDown: true, updatedAt: 't' })
  })

  it('an id cannot leave its place in the path', async () => {
    await failure(cloud.client().stop('../os-services?x='))
    expect(cloud.asked.at(-1)?.path).toBe('/v2.1/servers/..%2Fos-services%3Fx%3D/action')
  })
})

it('every call of the table says why it is made, and every call that changes something names its policy', () => {
  for (const call of callTable) {
    expect(call.why).not.toBe('')
    if (call.write) expect(call.policy).toMatch(/^os_compute_api:/)
  }
  expect(callTable.filter((call) => call.write)).toHaveLength(9)
})

describe('the last moment before an order leaves', () => {
  const orders: [string, (client: Cloud, options: CallOptions) => Promise<unknown>][] = [
    ['evacuate', (client, options) => client.evacuate('i1', { landing: 'as-before' }, options)],
    ['start', (client, options) => client.start('i1', undefined, options)],
    ['stop', (client, options) => client.stop('i1', options)],
    ['lock', (client, options) => client.lock('i1', 'ours', options)],
    ['unlock', (client, options) => client.unlock('i1', options)],
    ['resetState', (client, options) => client.resetState('i1', options)],
    ['confirmResize', (client, options) => client.confirmResize('i1', options)],
    ['updateService', (client, options) => client.updateService('s1', { forcedDown: true }, options)],
  ]
  const heldBack = (): never => {
    throw new LifeboatError('HELD_BACK', 'not sent')
  }

  it.each(orders)('is asked before %s, with token and version at hand', async (_name, order) => {
    const seen: string[] = []
    const mayLeave = (): never => {
      seen.push(...cloud.asked.map(({ method, path }) => `${method} ${path}`))
      return heldBack()
    }
    expect(await failure(order(cloud.client(), { mayLeave }))).toMatchObject({
      code: 'HELD_BACK',
      certainty: 'not-applied',
    })
    expect(seen.some((line) => line.includes('auth/tokens'))).toBe(true)
    expect(cloud.asked.filter(({ method, path }) => method !== 'GET' && !path.includes('auth/tokens'))).toEqual([])
  })

  it('is asked again before the second request, when the first was refused for its token', async () => {
    cloud.on(action, () => fault(401, 'expired'))
    const mayLeave = (): void => {
      if (cloud.requests(action).length === 1) heldBack()
    }
    const error = await failure(cloud.client().stop('i1', { mayLeave }))
    expect([error.code, cloud.requests(action).length]).toEqual(['HELD_BACK', 1])
  })
})
