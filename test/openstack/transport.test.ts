import http from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { OpenStackCloud } from '../../src/openstack/cloud-client.ts'
import { RehearsedCloud, failure, fault, serverJson, type Reply } from './rehearsed-cloud.ts'

let cloud: RehearsedCloud
beforeEach(async () => {
  cloud = await RehearsedCloud.open()
})
afterEach(() => cloud.shut())

const action = 'POST /v2.1/servers/i1/action'
const services = 'GET /v2.1/os-services'

/** Lets the clock reach the time limit once the request has arrived. */
async function expireWhenAsked(route: string): Promise<void> {
  while (cloud.requests(route).length === 0) await new Promise((resolve) => setImmediate(resolve))
  cloud.clock.advance(61_000)
}

describe('a write whose answer is lost', () => {
  it('is CONNECTION_LOST with unknown effect when the connection breaks after sending, and is not sent again', async () => {
    cloud.on(action, () => ({ instead: 'reset' }))
    const error = await failure(cloud.client().stop('i1'))
    expect(error).toMatchObject({ code: 'CONNECTION_LOST', certainty: 'unknown', retry: 'never' })
    expect(cloud.requests(action)).toHaveLength(1)
  })

  it('is API_TIMEOUT with unknown effect when no answer comes in time', async () => {
    cloud.on(action, () => ({ instead: 'hang' }))
    const call = failure(cloud.client().stop('i1'))
    await expireWhenAsked(action)
    expect(await call).toMatchObject({ code: 'API_TIMEOUT', certainty: 'unknown', retry: 'never' })
  })

  it('is CANCELLED with unknown effect when its caller gives up after sending', async () => {
    const controller = new AbortController()
    cloud.on(action, () => ({ instead: 'hang' }))
    const call = failure(cloud.client().stop('i1', { signal: controller.signal }))
    while (cloud.requests(action).length === 0) await new Promise((resolve) => setImmediate(resolve))
    controller.abort()
    expect(await call).toMatchObject({ code: 'CANCELLED', certainty: 'unknown' })
  })

  it.each<[string, Reply, true | undefined]>([
    ['500 of the service itself', fault(500, 'Unexpected API Error'), true],
    [
      '500 with a page of a proxy',
      { status: 500, text: '<html>oops</html>', headers: { 'x-openstack-request-id': '' } },
      undefined,
    ],
    ['504', fault(504, 'gateway'), undefined],
  ])('is known to be over only where the service itself has answered: %s', async (_what, answer, served) => {
    cloud.on(action, () => answer)
    const error = await failure(cloud.client().evacuate('i1', { landing: 'stopped' }))
    expect(error.details['served']).toBe(served)
  })

  it.each([500, 502, 504])('is API_FAULT with unknown effect after %i, and is not sent again', async (status) => {
    cloud.on(action, () => fault(status, 'trouble'))
    const error = await failure(cloud.client().stop('i1'))
    expect(error).toMatchObject({ code: 'API_FAULT', certainty: 'unknown', retry: 'never' })
    expect(cloud.requests(action)).toHaveLength(1)
  })
})

describe('a write that cannot have been carried out', () => {
  it('is CANCELLED, not applied, when its caller had given up before', async () => {
    const error = await failure(cloud.client().stop('i1', { signal: AbortSignal.abort() }))
    expect(error).toMatchObject({ code: 'CANCELLED', certainty: 'not-applied' })
    expect(cloud.requests(action)).toHaveLength(0)
  })

  it('is API_UNAVAILABLE, not applied, when nobody listens', async () => {
    const client = cloud.client({})
    await client.capabilities()
    const { port } = cloud
    await cloud.shut()
    const error = await failure(client.stop('i1'))
    expect(error).toMatchObject({ code: 'API_UNAVAILABLE', certainty: 'not-applied', retry: 'backoff' })
    expect(error.message).toContain(`127.0.0.1:${port}`)
    cloud = await RehearsedCloud.open()
  })

  it('is API_UNAVAILABLE, not applied, after 503', async () => {
    cloud.on(action, () => fault(503, 'later'))
    expect(await failure(cloud.client().stop('i1'))).toMatchObject({
      code: 'API_UNAVAILABLE',
      certainty: 'not-applied',
    })
    expect(cloud.requests(action)).toHaveLength(1)
  })

  it.each([413, 429])('is API_THROTTLED with the asked pause after %i', async (status) => {
    cloud.on(action, () => ({ ...fault(status, 'slower'), headers: { 'retry-after': '7' } }))
    const error = await failure(cloud.client().stop('i1'))
    expect(error).toMatchObject({ code: 'API_THROTTLED', certainty: 'not-applied', retry: 'after' })
    expect(error.details['retryAfterMs']).toBe(7000)
  })
})

describe('a read', () => {
  it.each([429, 502, 503, 504])('is asked again after %i and succeeds', async (status) => {
    cloud.on(services, (_asked, nth) => (nth < 3 ? fault(status, 'passing') : { json: { services: [] } }))
    expect((await cloud.client().listServices()).services).toEqual([])
    expect(cloud.requests(services)).toHaveLength(3)
  })

  it('is asked again after a broken connection, three times at the most', async () => {
    cloud.on(services, () => ({ instead: 'reset' }))
    expect(await failure(cloud.client().listServices())).toMatchObject({
      code: 'CONNECTION_LOST',
      certainty: 'not-applied',
    })
    expect(cloud.requests(services)).toHaveLength(3)
  })

  it('is not asked again after 500', async () => {
    cloud.on(services, () => fault(500, 'broken'))
    expect(await failure(cloud.client().listServices())).toMatchObject({ code: 'API_FAULT', certainty: 'not-applied' })
    expect(cloud.requests(services)).toHaveLength(1)
  })

  it('waits as long as Retry-After says, and passes a long one on instead of waiting', async () => {
    cloud.on(services, (_asked, nth) =>
      nth === 1 ? { ...fault(503, 'x'), headers: { 'retry-after': '4' } } : { json: { services: [] } },
    )
    const before = cloud.clock.now()
    const client = cloud.client()
    await client.listServices()
    expect(cloud.clock.now() - before).toBeGreaterThanOrEqual(4000)
    cloud.on(services, () => ({ ...fault(503, 'x'), headers: { 'retry-after': '600' } }))
    expect((await failure(client.listServices())).details['retryAfterMs']).toBe(600_000)
    expect(cloud.requests(services)).toHaveLength(3)
  })

  it.each([
    [services, (client: OpenStackCloud) => client.listServices()],
    ['GET /v2.1/os-aggregates', (client: OpenStackCloud) => client.listAggregates()],
  ])('of a poll is asked anew each five seconds while nobody answers: %s', async (route, read) => {
    cloud.on(route, (_asked, nth) => (nth < 3 ? { instead: 'hang' } : { json: { services: [], aggregates: [] } }))
    const reading = read(cloud.client())
    for (const asked of [1, 2]) {
      while (cloud.requests(route).length < asked) await new Promise((resolve) => setImmediate(resolve))
      cloud.clock.advance(4_999)
      await new Promise((resolve) => setTimeout(resolve, 20))
      expect(cloud.requests(route)).toHaveLength(asked)
      cloud.clock.advance(1)
    }
    await reading
    expect(cloud.requests(route)).toHaveLength(3)
    await expect.poll(() => cloud.clock.armed).toBe(0)
  })

  it('of a poll is asked four times at most', async () => {
    cloud.on(services, () => ({ instead: 'hang' }))
    const call = failure(cloud.client().listServices())
    for (const asked of [1, 2, 3, 4]) {
      while (cloud.requests(services).length < asked) await new Promise((resolve) => setImmediate(resolve))
      cloud.clock.advance(5_000)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
    cloud.clock.advance(41_000)
    expect(await call).toMatchObject({ code: 'API_TIMEOUT' })
    expect(cloud.requests(services)).toHaveLength(4)
  })

  it('of a poll that is refused beside one that nobody answers is asked anew all the same', async () => {
    cloud.on(services, (_asked, nth) =>
      nth === 1 ? { instead: 'hang' } : nth === 2 ? fault(403, 'x') : { json: { services: [] } },
    )
    const reading = cloud.client().listServices()
    for (const asked of [1, 2]) {
      while (cloud.requests(services).length < asked) await new Promise((resolve) => setImmediate(resolve))
      cloud.clock.advance(5_000)
    }
    expect((await reading).services).toEqual([])
  })

  it('ends with its time limit and leaves no timer behind', async () => {
    cloud.on(services, () => ({ instead: 'hang' }))
    const call = failure(cloud.client().listServices())
    await expireWhenAsked(services)
    expect(await call).toMatchObject({ code: 'API_TIMEOUT', certainty: 'not-applied' })
    await expect.poll(() => cloud.clock.armed).toBe(0)
  })
})

describe('an answer that is not as documented', () => {
  it('names the path and what was expected', async () => {
    cloud.on(services, () => ({
      json: { services: [{ binary: 'nova-compute', host: 'h', status: 'enabled', id: '1', state: 'up' }] },
    }))
    const error = await failure(cloud.client().listServices())
    expect(error.code).toBe('API_MALFORMED')
    expect(error.message).toMatch(/services\.0\.forced_down: .*boolean/)
  })

  it('names the path inside a server too', async () => {
    cloud.on('GET /v2.1/servers/i1', () => ({ json: { server: serverJson('i1', { 'OS-EXT-STS:vm_state': 7 }) } }))
    expect((await failure(cloud.client().getInstance('i1'))).message).toMatch(/server\.OS-EXT-STS:vm_state: .*string/)
  })

  it('is refused when it is no JSON', async () => {
    cloud.on(services, () => ({ text: '<html>Welcome</html>' }))
    expect((await failure(cloud.client().listServices())).message).toContain('not JSON')
  })

  it('is refused when it is larger than allowed', async () => {
    cloud.on(services, () => ({ json: { services: [], padding: 'x'.repeat(200_000) } }))
    const error = await failure(cloud.client({}, { largestAnswerBytes: 100_000 }).listServices())
    expect(error).toMatchObject({ code: 'API_MALFORMED' })
    expect(error.message).toContain('larger than allowed')
  })

  it('is not followed when it is a redirect', async () => {
    cloud.on(services, () => ({ status: 302, headers: { location: `${cloud.url}/elsewhere` } }))
    expect(await failure(cloud.client().listServices())).toMatchObject({ code: 'API_MALFORMED' })
    expect(cloud.requests('GET /elsewhere')).toHaveLength(0)
  })

  it.each([
    '<h1>Not here</h1>',
    '{"message":"no Route matched with those values"}',
    '{"error_msg":"404 Route Not Found"}',
    '{"error":"Not Found"}',
  ])('does not make an instance gone when a proxy, and not Nova, says 404: %s', async (page) => {
    const proxy = http.createServer((_request, response) => response.writeHead(404).end(page))
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const client = cloud.client()
    await client.capabilities()
    const override = `http://127.0.0.1:${(proxy.address() as { port: number }).port}/v2.1`
    const endpoint = { interfaces: ['public'], region: null, override }
    const lost = cloud.client({ endpoints: { compute: endpoint, volume: endpoint, placement: endpoint } })
    expect(await failure(lost.getInstance('i1'))).toMatchObject({ code: 'API_MALFORMED' })
    await new Promise((resolve) => proxy.close(resolve))
    cloud.on('GET /v2.1/servers/i1', () => fault(404, 'Instance i1 could not be found.'))
    expect(await failure(client.getInstance('i1'))).toMatchObject({ code: 'INSTANCE_GONE' })
  })
})

it('tells the observer of every request with a route that holds no id', async () => {
  cloud.on(services, (_asked, nth) => (nth === 1 ? { instead: 'reset' } : { json: { services: [] } }))
  cloud.on('GET /v2.1/servers/i1', () => ({ json: { server: serverJson('i1') } }))
  const client = cloud.client()
  await client.listServices()
  await client.getInstance('i1')
  expect(cloud.seen.map(({ service, method, route, result }) => `${service} ${method} ${route} ${result}`)).toEqual([
    'identity POST /auth/tokens 201',
    'compute GET / 200',
    'compute GET /os-services CONNECTION_LOST',
    'compute GET /os-services 200',
    'compute GET /servers/{id} 200',
  ])
  expect(cloud.seen.at(-1)?.requestId).toBe('req-1')
})
