/** What is asked of Keystone about people and their logins, and what becomes of its answers. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RehearsedCloud, failure, fault } from './rehearsed-cloud.ts'

let cloud: RehearsedCloud
beforeEach(async () => {
  cloud = await RehearsedCloud.open()
})
afterEach(() => cloud.shut())

const issue = 'POST /v3/auth/tokens'
const theirs = 'gAAAA-of-single-sign-on'

describe('a token for another scope', () => {
  it.each([
    ['a project by id', { id: 'p1' }, { project: { id: 'p1' } }],
    ['a project by name', { name: 'ops', domain: 'Corp' }, { project: { name: 'ops', domain: { name: 'Corp' } } }],
    ['the system', 'system', { system: { all: true } }],
  ] as const)('of %s is asked for with theirs', async (_what, scope, asked) => {
    cloud.on(issue, () => {
      const body = cloud.tokenBody()
      Object.assign(body.token['user'] as object, { domain: { name: 'Default' } })
      Object.assign(body.token['project'] as object, { domain: { name: 'Default' } })
      return { status: 201, headers: { 'x-subject-token': 'rescoped' }, json: body }
    })
    expect(await cloud.client().people.rescope(theirs, scope)).toBe('rescoped')
    expect(cloud.requests(issue).map(({ body }) => body)).toEqual([
      { auth: { identity: { methods: ['token'], token: { id: theirs } }, scope: asked } },
    ])
  })

  it('is none where they have no role', async () => {
    cloud.on(issue, () => fault(401, 'The request you have made requires authentication.'))
    expect(await cloud.client().people.rescope(theirs, 'system')).toBeNull()
  })

  it('shows in no error, not even where Keystone repeats it', async () => {
    cloud.on(issue, () => fault(403, `no rescoping of ${theirs}`))
    const error = await failure(cloud.client().people.rescope(theirs, 'system'))
    expect([error.code, error.message]).toEqual(['AUTH_FORBIDDEN', expect.stringContaining('no rescoping of ***')])
  })
})

describe('where browsers reach Keystone', () => {
  const identity = (url: string, kind = 'public', region = 'RegionOne') => ({
    type: 'identity',
    endpoints: [{ interface: kind, region_id: region, region, url }],
  })
  const withCatalogue = (...catalog: unknown[]): void =>
    cloud.on(issue, () => {
      const body = cloud.tokenBody()
      body.token['catalog'] = catalog
      return { status: 201, headers: { 'x-subject-token': 't' }, json: body }
    })

  it.each(['https://keystone.example', 'https://keystone.example/v3', 'https://keystone.example/v2.0/'])(
    'is the public endpoint of the catalogue: %s',
    async (url) => {
      withCatalogue(identity('http://internal:5000', 'internal'), identity(url))
      expect(await cloud.client().people.publicUrl()).toBe('https://keystone.example/v3')
    },
  )

  it('is that of our own region', async () => {
    withCatalogue(identity('https://one/identity'), identity('https://two/identity', 'public', 'RegionTwo'))
    const compute = { interfaces: ['internal'], region: 'RegionTwo', override: null }
    const { endpoints } = cloud.config()
    expect(await cloud.client({ endpoints: { ...endpoints, compute } }).people.publicUrl()).toBe(
      'https://two/identity/v3',
    )
  })

  it.each([
    ['no such endpoint', identity('http://internal:5000', 'internal')],
    ['an address that is none', identity('keystone')],
  ])('is our own address of it where the catalogue has %s', async (_what, service) => {
    withCatalogue(service)
    expect(await cloud.client().people.publicUrl()).toBe(`${cloud.url}/v3`)
  })
})

describe('whether Keystone knows a protocol', () => {
  const list = 'GET /v3/OS-FEDERATION/identity_providers'
  const protocol = (of: string): string => `${list}/${of}/protocols/openid`
  const asked = (identityProvider: string | null): Promise<boolean> =>
    cloud.client().knowsProtocol({ name: 'Company login', protocol: 'openid', identityProvider })

  it('is asked of the identity provider that is named', async () => {
    cloud.on(protocol('acme'), () => ({ json: { protocol: { id: 'openid' } } }))
    expect([await asked('acme'), await asked('other')]).toEqual([true, false])
    expect(cloud.requests(list)).toEqual([])
  })

  it('is asked of each where none is named', async () => {
    cloud.on(list, () => ({ json: { identity_providers: [{ id: 'one' }, { id: 'two' }] } }))
    expect(await asked(null)).toBe(false)
    cloud.on(protocol('two'), () => ({ json: { protocol: { id: 'openid' } } }))
    expect(await asked(null)).toBe(true)
  })

  it('cannot be told where the policy does not let us look', async () => {
    cloud.on(list, () => fault(403, 'not authorized'))
    expect(await failure(asked(null))).toMatchObject({ code: 'AUTH_FORBIDDEN' })
  })
})
