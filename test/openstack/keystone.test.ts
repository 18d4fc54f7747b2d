import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RehearsedCloud, failure, fault, ownProject, password } from './rehearsed-cloud.ts'

let cloud: RehearsedCloud
beforeEach(async () => {
  cloud = await RehearsedCloud.open()
  cloud.on('GET /v2.1/os-services', () => ({ json: { services: [] } }))
})
afterEach(() => cloud.shut())

const login = 'POST /v3/auth/tokens'
const services = 'GET /v2.1/os-services'
const other = 'b0000000000000000000000000000002'

describe('a token', () => {
  it('is taken once for many callers at once', async () => {
    const client = cloud.client()
    await Promise.all(Array.from({ length: 20 }, () => client.listServices()))
    expect(cloud.logins).toBe(1)
    expect(cloud.requests('GET /v2.1/')).toHaveLength(1)
  })

  it('is renewed before it ends, by the difference of its own stamps however wrong the clocks are', async () => {
    const client = cloud.client()
    await client.listServices()
    cloud.clock.advance(3_600_000 - 6 * 60_000 - 1000)
    await client.listServices()
    expect(cloud.logins).toBe(1)
    cloud.clock.advance(2000)
    await client.listServices()
    expect(cloud.logins).toBe(2)
  })

  it('that lives shorter than the margin is not taken again on every call', async () => {
    cloud.lifeMs = 60_000
    const client = cloud.client()
    await client.listServices()
    cloud.clock.advance(20_000)
    await client.listServices()
    expect(cloud.logins).toBe(1)
  })

  it('goes on being used while Keystone cannot renew it, until its end', async () => {
    const client = cloud.client()
    await client.listServices()
    cloud.on(login, () => fault(500, 'database gone'))
    cloud.clock.advance(3_600_000 - 120_000)
    await client.listServices()
    await client.listServices()
    expect(cloud.requests(login)).toHaveLength(2)
    cloud.clock.advance(120_000)
    expect(await failure(client.listServices())).toMatchObject({ code: 'API_FAULT', certainty: 'not-applied' })
  })

  it('goes on being used while Keystone hangs: nobody waits for what nobody needs yet', async () => {
    const client = cloud.client()
    await client.listServices()
    cloud.on(login, () => ({ instead: 'hang' }))
    cloud.clock.advance(3_600_000 - 120_000)
    const before = performance.now()
    await client.listServices()
    await client.listServices()
    expect(performance.now() - before).toBeLessThan(15_000)
    expect(cloud.requests(login)).toHaveLength(2)
  })

  it('that is refused is replaced once for all concurrent calls, which then succeed', async () => {
    const client = cloud.client()
    await client.listServices()
    cloud.on(services, (asked) =>
      asked.token === 'token-number-1' ? fault(401, 'expired') : { json: { services: [] } },
    )
    await Promise.all(Array.from({ length: 20 }, () => client.listServices()))
    expect(cloud.logins).toBe(2)
  })

  it('that is refused twice is AUTH_FAILED, after exactly one more login', async () => {
    cloud.on(services, () => fault(401, 'no'))
    expect(await failure(cloud.client().listServices())).toMatchObject({ code: 'AUTH_FAILED' })
    expect(cloud.logins).toBe(2)
    expect(cloud.requests(services)).toHaveLength(2)
  })

  it('that is refused on a write lets the write go once more, for nothing was done', async () => {
    cloud.on('POST /v2.1/servers/i1/action', (_asked, nth) => (nth === 1 ? fault(401, 'expired') : { status: 202 }))
    expect(await cloud.client().stop('i1')).toEqual({ requestId: 'req-1' })
  })

  it('without a project is refused with the reason', async () => {
    cloud.on(login, () => {
      const body = cloud.tokenBody()
      delete body.token['project']
      return { status: 201, headers: { 'x-subject-token': 't' }, json: body }
    })
    expect((await failure(cloud.client().listServices())).message).toContain('not scoped to a project')
  })
})

describe('wrong credentials', () => {
  it('are AUTH_FAILED, and not tried again at once, so that the account is not locked', async () => {
    cloud.on(login, () => fault(401, 'The request you have made requires authentication.'))
    const client = cloud.client()
    expect(await failure(client.listServices())).toMatchObject({ code: 'AUTH_FAILED', certainty: 'not-applied' })
    await failure(client.listServices())
    expect(cloud.requests(login)).toHaveLength(1)
    cloud.clock.advance(31_000)
    await failure(client.listServices())
    expect(cloud.requests(login)).toHaveLength(2)
  })

  it('on a write are not applied even when Keystone does not answer', async () => {
    cloud.on(login, () => ({ instead: 'reset' }))
    expect(await failure(cloud.client().stop('i1'))).toMatchObject({
      code: 'CONNECTION_LOST',
      certainty: 'not-applied',
    })
  })
})

it('one caller giving up does not take the login from the others', async () => {
  let answer = (): void => undefined
  const held = new Promise<void>((resolve) => (answer = resolve))
  cloud.on(login, async () => {
    await held
    return { status: 201, headers: { 'x-subject-token': 't' }, json: cloud.tokenBody() }
  })
  const client = cloud.client()
  const controller = new AbortController()
  const impatient = failure(client.listServices({ signal: controller.signal }))
  const patient = client.listServices()
  controller.abort()
  expect(await impatient).toMatchObject({ code: 'CANCELLED', certainty: 'not-applied' })
  answer()
  expect((await patient).services).toEqual([])
})

describe('acting for another project', () => {
  it('takes a token of that project with the same password, and uses it', async () => {
    cloud.on('POST /v2.1/servers/i1/action', () => ({ status: 200 }))
    await cloud.client().evacuate('i1', { landing: 'stopped', asProject: other })
    const bodies = cloud.requests(login).map((asked) => asked.body)
    expect(bodies[1]).toMatchObject({
      auth: { identity: { password: { user: { password } } }, scope: { project: { id: other } } },
    })
    expect(cloud.requests('POST /v2.1/servers/i1/action')[0]?.token).toBe('token-number-2')
  })

  it('is possible where the token has the role', async () => {
    expect(await cloud.client().mayActFor(other)).toBe(true)
    cloud.roles = ['member']
    expect(await cloud.client().mayActFor(other)).toBe(false)
  })

  it('remembers a no for some minutes, then asks again', async () => {
    cloud.on(login, (asked) => {
      const scoped = JSON.stringify(asked.body).includes(other)
      return scoped
        ? fault(401, 'not in that project')
        : { status: 201, headers: { 'x-subject-token': 't' }, json: cloud.tokenBody() }
    })
    const client = cloud.client()
    expect(await client.mayActFor(other)).toBe(false)
    expect(await client.mayActFor(other)).toBe(false)
    expect(cloud.requests(login)).toHaveLength(2)
    cloud.clock.advance(6 * 60_000)
    expect(await client.mayActFor(other)).toBe(false)
    expect(cloud.requests(login)).toHaveLength(3)
  })

  it('throws when Keystone does not answer: silence is no "no"', async () => {
    const client = cloud.client()
    await client.listServices()
    cloud.on(login, () => fault(500, 'x'))
    expect(await failure(client.mayActFor(other))).toMatchObject({ code: 'API_FAULT' })
  })

  it('throws when our own credentials are refused', async () => {
    cloud.on(login, () => fault(401, 'x'))
    expect(await failure(cloud.client().mayActFor(other))).toMatchObject({ code: 'AUTH_FAILED' })
  })

  it('is not possible with an application credential, apart from its own project', async () => {
    const client = cloud.client({ credential: { kind: 'application-credential', id: 'x', secret: 'appcred-secret' } })
    expect(await client.mayActFor(ownProject)).toBe(true)
    expect(await client.mayActFor(other)).toBe(false)
    expect(cloud.requests(login)).toHaveLength(1)
    expect(cloud.requests(login)[0]?.body).toEqual({
      auth: {
        identity: {
          methods: ['application_credential'],
          application_credential: { id: 'x', secret: 'appcred-secret' },
        },
      },
    })
  })
})

describe('the catalogue', () => {
  it('says what there is when a service is missing', async () => {
    const endpoint = { interfaces: ['internal'], region: 'RegionTwo', override: null }
    const error = await failure(
      cloud.client({ endpoints: { compute: endpoint, volume: endpoint, placement: endpoint } }).listServices(),
    )
    expect(error.code).toBe('CATALOG_MISSING')
    expect(error.message).toMatch(/no compute, internal, region RegionTwo; there is: compute \(public in RegionOne\)/)
  })

  it('gives way to an override, with the project id filled in', async () => {
    const compute = { interfaces: ['public'], region: null, override: `${cloud.url}/nova/v2.1/%(project_id)s` }
    cloud.on('GET /nova/v2.1/', () => ({ json: { version: { id: 'v2.1', version: '2.90', min_version: '2.1' } } }))
    cloud.on(`GET /nova/v2.1/${ownProject}/os-services`, () => ({ json: { services: [] } }))
    await cloud.client({ endpoints: { compute, volume: compute, placement: compute } }).listServices()
    expect(cloud.requests(`GET /nova/v2.1/${ownProject}/os-services`)).toHaveLength(1)
  })
})

it('describes how the cloud is reached, without secrets', async () => {
  const description = await cloud.client().describe()
  expect(description).toMatchObject({
    roles: ['admin'],
    project: { id: ownProject },
    endpoints: { compute: `${cloud.url}/v2.1`, volume: `${cloud.url}/volume/v3/${ownProject}` },
    compute: { minMicroversion: '2.1', maxMicroversion: '2.100', readsAt: '2.90', landsStopped: true },
  })
  expect(JSON.stringify(description)).not.toMatch(new RegExp(`${password}|token-number`))
})
