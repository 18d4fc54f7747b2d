import { afterEach, describe, expect, it } from 'vitest'
import { access } from '../../src/api/access.ts'
import type { Login, TokenHolder } from '../../src/domain/token-holder.ts'
import { TokenCache } from '../../src/api/token-cache.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import { requestHeader } from '../../src/domain/review.ts'
import { VirtualClock } from '../../src/simulator/index.ts'
import { as, front, person, usual, type Front } from './people.ts'

let opened: Front | null = null
const open = async (...args: Parameters<typeof front>): Promise<Front> => (opened = await front(...args))
afterEach(async () => {
  await opened?.server.close()
  opened = null
})

const ours = { [requestHeader]: '1' }
const cookieOf = (header: string | string[] | number | undefined): string => String(header).split(';')[0]!
const url = (route: string): string => route.replace(':host', 'cmp01').replace(':id', 'i-1').replace(':instance', 'n-1')
const pause = { reason: 'rack work' }

describe('who is nobody', () => {
  it('reads nothing and orders nothing, on any route', async () => {
    const { server } = await open()
    const open_ = Object.entries(access).filter(([, role]) => role !== 'nobody')
    for (const [route] of open_) {
      const [method = '', path = ''] = route.split(' ')
      const answer = await server.inject({ method: method as 'GET', url: url(path) })
      expect([route, answer.statusCode, answer.json().error?.code]).toEqual([route, 401, 'AUTH_FAILED'])
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="lifeboat"')
    }
  })

  it.each([
    ['a token that Keystone does not know', { 'x-auth-token': 'of-another-cloud' }, 401],
    ['a token with a line in it', { 'x-auth-token': 'a\tb c' }, 401],
    ['a token longer than any', { 'x-auth-token': 'x'.repeat(5_000) }, 401],
    ['a name and a password in the header', { authorization: 'Basic YW5uOnJpZ2h0' }, 401],
    ['two tokens', { 'x-auth-token': 'a', authorization: 'Bearer b' }, 400],
    ['a cookie of nobody', { cookie: 'lifeboat=made-up' }, 401],
    ['an admin of a tenant’s project, though it is called admin', as('ted'), 403],
  ])('%s', async (_what, headers, status) => {
    const { server } = await open()
    const answer = await server.inject({ url: '/v1/status', headers })
    expect(answer.statusCode).toBe(status)
  })

  it('is everybody while Keystone cannot be asked, and what was known is no way round for acts', async () => {
    const { server, people } = await open()
    expect((await server.inject({ url: '/v1/status', headers: as('ann') })).statusCode).toBe(200)
    people.trouble = new LifeboatError('API_TIMEOUT', 'no answer')
    for (const headers of [as('rita'), as('never-seen')])
      expect((await server.inject({ url: '/v1/status', headers })).statusCode).toBe(503)
    const act = await server.inject({ method: 'POST', url: '/v1/pause', payload: pause, headers: as('ann') })
    expect([act.statusCode, act.json().error.message]).toEqual([503, expect.stringContaining('operators’ socket')])
  })
})

describe('a token', () => {
  it.each([
    ['rita', 'reader', ['reader'], [200, 403, 403]],
    ['olaf', 'operator', ['member', 'ha-operator'], [200, 200, 403]],
    ['ann', 'admin', ['admin', 'member'], [200, 200, 202]],
  ])('of %s is %s', async (name, role, keystoneRoles, statuses) => {
    const { server } = await open()
    const headers = as(name)
    const answers = [
      await server.inject({ url: '/v1/status', headers }),
      await server.inject({ method: 'POST', url: '/v1/pause', payload: pause, headers }),
      await server.inject({ method: 'POST', url: '/v1/incidents/i-1/override', payload: { reason: 'x' }, headers }),
    ]
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(statuses)
    expect((await server.inject({ url: '/v1/me', headers })).json()).toEqual({
      ...{ name, role, by: 'token', scope: 'Default/admin', keystoneRoles, lastSeq: 0 },
    })
  })

  it('may be shown as Bearer', async () => {
    const { server } = await open()
    const answer = await server.inject({ url: '/v1/me', headers: { authorization: 'Bearer token-of-rita' } })
    expect(answer.json()).toMatchObject({ name: 'rita' })
  })

  it('for the system as a whole counts, and a name of another domain says so', async () => {
    const { server, people } = await open()
    const user = { id: 'u-1', name: 'ann', domain: 'Corp' }
    people.tokens.set('system', person('ann', ['admin'], { user, scope: { kind: 'system' } }))
    const answer = await server.inject({ url: '/v1/me', headers: { 'x-auth-token': 'system' } })
    expect(answer.json()).toMatchObject({ name: 'ann@Corp', role: 'admin', scope: 'system' })
  })

  it('counts in the project of Lifeboat’s own credential as it is now: a reload may bring another', async () => {
    const { server, people } = await open()
    const read = async () => (await server.inject({ url: '/v1/me', headers: as('ann') })).statusCode
    expect(await read()).toBe(200)
    people.ownProject = async () => ({ id: 'p-service', name: 'service' })
    expect(await read()).toBe(403)
  })

  it('acts in its user’s name, and with no other', async () => {
    const { server, asked } = await open()
    const send = (payload: object) =>
      server.inject({
        method: 'POST',
        url: '/v1/recover',
        payload: { host: 'cmp01', proof: 'cords', ...payload },
        headers: as('ann'),
      })
    expect((await send({ by: 'bob' })).statusCode).toBe(400)
    expect((await send({ unixUser: 'root' })).statusCode).toBe(400)
    expect((await send({})).statusCode).toBe(202)
    const via = { by: 'token', userId: 'u-ann', scope: 'Default/admin' }
    expect(asked).toEqual([['recover', { host: 'cmp01', proof: 'cords', by: 'ann', via }]])
  })

  it('is asked about once in a while for reads, and again for each act', async () => {
    const { server, people, clock } = await open()
    const read = () => server.inject({ url: '/v1/status', headers: as('ann') })
    await read()
    await read()
    expect(people.asked).toBe(1)
    await server.inject({ method: 'POST', url: '/v1/pause', payload: pause, headers: as('ann') })
    expect(people.asked).toBe(2)
    people.tokens.delete('token-of-ann')
    const act = await server.inject({ method: 'POST', url: '/v1/pause', payload: pause, headers: as('ann') })
    expect(act.statusCode).toBe(401)
    expect((await read()).statusCode).toBe(401)
    await clock.advance(31_000)
    expect((await read()).statusCode).toBe(401)
  })

  it('that is made up is checked together with few others at the most', async () => {
    const { server, people } = await open()
    let answer = (): void => undefined
    const waits = new Promise<void>((resolve) => (answer = resolve))
    let under = 0
    let most = 0
    people.holder = async () => {
      most = Math.max(most, ++under)
      await waits
      under -= 1
      return null
    }
    const acts = Array.from({ length: 30 }, (_, n) =>
      server.inject({ method: 'POST', url: '/v1/pause', payload: pause, headers: as(`anybody${n}`) }),
    )
    await Promise.race(acts)
    answer()
    await Promise.all(acts)
    expect(most).toBe(8)
  })

  it('that was revoked reads on for half a minute at the most', async () => {
    const { server, people, clock } = await open()
    const read = async () => (await server.inject({ url: '/v1/status', headers: as('rita') })).statusCode
    expect(await read()).toBe(200)
    people.tokens.delete('token-of-rita')
    await clock.advance(30_001)
    expect(await read()).toBe(401)
  })
})

/** A Keystone that answers nobody until it is let. */
function slowKeystone(known: string) {
  let answer = (): void => undefined
  let asked = 0
  let waits = Promise.resolve()
  const holder = async (token: string) => {
    asked++
    await waits
    return token === known ? ({ leftMs: 3_600_000 } as TokenHolder) : null
  }
  return {
    holder,
    asked: () => asked,
    answers: () => answer(),
    stalls: () => {
      waits = new Promise<void>((resolve) => (answer = resolve))
    },
  }
}

it('fifty acts with one token at once are two questions: none hears an answer that was asked for before it came', async () => {
  const clock = new VirtualClock()
  const keystone = slowKeystone('token-of-olaf')
  const cache = new TokenCache(keystone, clock)
  keystone.stalls()
  const acts = Array.from({ length: 50 }, () => cache.holder('token-of-olaf', { fresh: true }))
  keystone.answers()
  for (const act of await Promise.all(acts)) expect(act).not.toBeNull()
  expect(keystone.asked()).toBe(2)
})

it('made-up tokens hold no place of a token that was good before, while Keystone is slow', async () => {
  const clock = new VirtualClock()
  const keystone = slowKeystone('token-of-olaf')
  const cache = new TokenCache(keystone, clock)
  await cache.holder('token-of-olaf', { fresh: true })
  keystone.stalls()
  const flood = Array.from({ length: 8 }, (_, n) => cache.holder(`made-up-${n}`, { fresh: true }))
  await expect(cache.holder('made-up-9', { fresh: true })).rejects.toMatchObject({ code: 'API_UNAVAILABLE' })
  const act = cache.holder('token-of-olaf', { fresh: true })
  keystone.answers()
  expect(await act).not.toBeNull()
  await Promise.all(flood)
})

it('programs that start together wait for their turn where that is allowed, eight at a time, and ten seconds at most', async () => {
  const clock = new VirtualClock()
  const keystone = slowKeystone('token-of-olaf')
  const cache = new TokenCache(keystone, clock, 4)
  keystone.stalls()
  const first = Array.from({ length: 8 }, (_, n) => cache.holder(`monitor-${n}`, { fresh: true }))
  const waiting = Array.from({ length: 3 }, (_, n) => cache.holder(`later-${n}`, { fresh: true }))
  const last = cache.holder('token-of-olaf', { fresh: true })
  await expect(cache.holder('one-too-many', { fresh: true })).rejects.toMatchObject({ code: 'API_UNAVAILABLE' })
  expect(keystone.asked()).toBe(8)
  keystone.answers()
  expect(await last).not.toBeNull()
  await Promise.all([...first, ...waiting])

  keystone.stalls()
  const slow = Array.from({ length: 8 }, (_, n) => cache.holder(`slow-${n}`, { fresh: true }))
  const late = cache.holder('too-late', { fresh: true })
  await clock.advance(10_001)
  keystone.answers()
  await Promise.all(slow)
  await expect(late).rejects.toMatchObject({ code: 'API_UNAVAILABLE' })
})

it('anyone who waits for the answer about a token that another asked for hears the same: Keystone is missing', async () => {
  // A page asks for several things at once; a 401 to one of them would end its session.
  const holder = () => Promise.reject(new LifeboatError('AUTH_FAILED', 'the service user is disabled'))
  const clock = new VirtualClock()
  const cache = new TokenCache({ holder }, clock)
  const asked = [1, 2].map(() => cache.holder('token-of-olaf', { fresh: false }))
  for (const answer of asked) await expect(answer).rejects.toMatchObject({ code: 'API_UNAVAILABLE' })
})

describe('a session', () => {
  const login = (server: Front['server'], payload: object, headers: object = ours) =>
    server.inject({ method: 'POST', url: '/v1/session', payload, headers: { ...headers } })

  it('is begun with a name and a password, or with a token, and is out of a script’s reach', async () => {
    const { server } = await open()
    for (const payload of [{ user: 'olaf', password: 'right' }, { token: 'token-of-olaf' }]) {
      const answer = await login(server, payload)
      expect([answer.statusCode, answer.json()]).toEqual([201, { name: 'olaf', role: 'operator', by: 'token' }])
      expect(answer.headers['set-cookie']).toMatch(
        /^lifeboat=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=3600$/,
      )
      const cookie = cookieOf(answer.headers['set-cookie'])
      expect((await server.inject({ url: '/v1/me', headers: { cookie } })).json()).toMatchObject({ name: 'olaf' })
    }
  })

  it('takes the place of the one that the same browser had, and a login that is refused does not', async () => {
    const { server } = await open()
    const earlier = cookieOf((await login(server, { token: 'token-of-olaf' })).headers['set-cookie'])
    const read = async () => (await server.inject({ url: '/v1/me', headers: { cookie: earlier } })).statusCode
    await login(server, { user: 'ann', password: 'wrong' }, { ...ours, cookie: earlier })
    expect(await read()).toBe(200)
    await login(server, { user: 'ann', password: 'right' }, { ...ours, cookie: earlier })
    expect(await read()).toBe(401)
  })

  it('of a browser that speaks TLS to a trusted proxy is bound to this host and to TLS', async () => {
    const { server } = await open({ trustedProxies: ['127.0.0.1'] })
    const answer = await login(server, { token: 'token-of-olaf' }, { ...ours, 'x-forwarded-proto': 'https' })
    expect(answer.headers['set-cookie']).toMatch(/^__Host-lifeboat=.*; Secure$/)
  })

  it('is refused to a wrong password, and to anyone who has no role that counts', async () => {
    const { server } = await open()
    expect((await login(server, { user: 'ann', password: 'wrong' })).statusCode).toBe(401)
    expect((await login(server, { token: 'token-of-ted' })).statusCode).toBe(403)
    expect((await login(server, { user: 'ann', password: 'right' }, {})).statusCode).toBe(403)
  })

  it('writes only from our own pages', async () => {
    const { server, asked } = await open()
    const cookie = cookieOf((await login(server, { token: 'token-of-olaf' })).headers['set-cookie'])
    const send = async (headers: Record<string, string>) =>
      (
        await server.inject({
          method: 'POST',
          url: '/v1/pause',
          payload: pause,
          headers: { cookie, host: 'ha.example', ...headers },
        })
      ).statusCode
    expect(await send({})).toBe(403)
    expect(await send({ ...ours, origin: 'http://evil.example' })).toBe(403)
    expect(await send({ ...ours, 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(asked).toEqual([])
    expect(await send({ ...ours, origin: 'http://ha.example', 'sec-fetch-site': 'same-origin' })).toBe(200)
    expect(asked).toMatchObject([['pause', { by: 'olaf', via: { by: 'session', userId: 'u-olaf' } }]])
  })

  it('that was ended, or is past its time, or whose token was revoked, is nobody', async () => {
    const { server, people, clock } = await open({ rules: () => ({ ...usual, sessionMs: 600_000 }) })
    const begin = async (name: string) =>
      cookieOf((await login(server, { token: `token-of-${name}` })).headers['set-cookie'])
    const read = async (cookie: string) => (await server.inject({ url: '/v1/status', headers: { cookie } })).statusCode
    const ended = await begin('rita')
    expect(await read(ended)).toBe(200)
    const bye = await server.inject({ method: 'DELETE', url: '/v1/session', headers: { cookie: ended, ...ours } })
    expect([bye.statusCode, bye.headers['set-cookie']]).toEqual([204, expect.stringContaining('Max-Age=0')])
    expect(await read(ended)).toBe(401)
    const revoked = await begin('ann')
    people.tokens.delete('token-of-ann')
    await clock.advance(31_000)
    expect(await read(revoked)).toBe(401)
    const old = await begin('rita')
    await clock.advance(600_001)
    expect(await read(old)).toBe(401)
  })
})

describe('what a reload says', () => {
  it('of roles, projects, sessions and requests holds from the next request on', async () => {
    let rules = usual
    const { server, clock } = await open({ rules: () => rules })
    const begun = await server.inject({
      method: 'POST',
      url: '/v1/session',
      payload: { token: 'token-of-olaf' },
      headers: ours,
    })
    const cookie = cookieOf(begun.headers['set-cookie'])
    const status = async (headers: Record<string, string>) =>
      (await server.inject({ url: '/v1/status', headers })).statusCode
    expect([await status({ cookie }), await status(as('rita'))]).toEqual([200, 200])
    rules = { ...usual, roles: { admin: 'admin', 'ha-operator': 'operator' } }
    expect([await status({ cookie }), await status(as('rita'))]).toEqual([200, 403])
    rules = { ...usual, projects: [{ name: 'ops', domain: 'Default' }] }
    expect([await status({ cookie }), await status(as('rita'))]).toEqual([403, 403])
    rules = { ...usual, sessionMs: 600_000 }
    await clock.advance(600_001)
    expect([await status({ cookie }), await status(as('rita'))]).toEqual([401, 200])
    rules = { ...usual, requestsAMinute: 1 }
    expect([await status(as('rita')), await status(as('rita'))]).toContain(429)
  })
})

describe('a session of a token that soon ends', () => {
  it('ends with it, though nobody asks Keystone again', async () => {
    const { server, people, clock } = await open()
    people.tokens.set('short', person('rita', ['reader'], { leftMs: 90_000 }))
    const begun = await server.inject({
      method: 'POST',
      url: '/v1/session',
      payload: { token: 'short' },
      headers: ours,
    })
    expect(begun.headers['set-cookie']).toContain('Max-Age=90')
    const cookie = cookieOf(begun.headers['set-cookie'])
    const read = async () => (await server.inject({ url: '/v1/status', headers: { cookie } })).statusCode
    await clock.advance(89_000)
    expect(await read()).toBe(200)
    await clock.advance(1_001)
    expect(await read()).toBe(401)
  })
})

describe('the front', () => {
  it('lets nobody frame, sniff or script it, and shares with no other origin', async () => {
    const { server } = await open()
    const { headers } = await server.inject({
      url: '/v1/status',
      headers: { ...as('rita'), origin: 'http://evil.example' },
    })
    expect(headers['content-security-policy']).toContain("default-src 'none'")
    expect(headers['content-security-policy']).not.toContain('unsafe')
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  it('logs who asked what under the caller’s request id, and neither token nor query', async () => {
    const { server, logged } = await open()
    const id = 'req-0123-4567'
    const answer = await server.inject({
      method: 'POST',
      url: '/v1/pause?token-of-ann',
      payload: pause,
      headers: { ...as('ann'), 'x-request-id': id },
    })
    expect(answer.headers['x-request-id']).toBe(id)
    expect(logged).toMatchObject([
      { event: 'web.request', route: '/v1/pause', httpRequestId: id, who: 'ann', status: 200 },
    ])
    expect(JSON.stringify(logged)).not.toContain('token-of')
    const forged = await server.inject({ url: '/v1/me', headers: { ...as('ann'), 'x-request-id': 'a b"c' } })
    expect(forged.headers['x-request-id']).toMatch(/^req-[0-9a-f-]{36}$/)
  })

  it('says where the pages are when they are not built', async () => {
    const { server } = await open()
    const answer = await server.inject('/')
    expect([answer.statusCode, answer.body]).toEqual([404, expect.stringContaining('npm run build')])
  })
})

describe('while the shared journal does not confirm', () => {
  const recorded = (): Promise<void> => Promise.reject(new LifeboatError('JOURNAL_UNAVAILABLE', 'not confirmed'))
  const withHeader = (payload: object, name?: string) => ({
    method: 'POST' as const,
    payload,
    headers: { ...ours, ...(name !== undefined && as(name)) },
  })

  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const fromKeystone = { method: 'POST' as const, payload: 'token=x', headers: form }

  it.each([
    ['a person logs in', '/v1/session', 201, withHeader({ user: 'ann', password: 'right' })],
    ['a wrong password is refused as such', '/v1/session', 401, withHeader({ user: 'ann', password: 'wrong' })],
    ['a person logs out', '/v1/session', 204, { ...withHeader({}), method: 'DELETE' as const }],
    ['single sign-on begins', '/v1/sso', 201, withHeader({ name: 'Company login' })],
    ['Keystone’s page comes back', '/auth/websso/', 303, fromKeystone],
    ['a receiver is tested', '/v1/notices/test', 200, withHeader({ receiver: 'pager' }, 'olaf')],
    ['a plan is refused as it always is', '/v1/plans', 404, withHeader({ host: 'cmp09' }, 'olaf')],
    ['an order waits', '/v1/pause', 503, withHeader(pause, 'olaf')],
  ])('%s', async (_what, url, status, request) => {
    const sso = [{ name: 'Company login', protocol: 'openid', identityProvider: null }]
    const { server } = await open({ rules: () => ({ ...usual, sso }) }, {}, recorded)
    expect((await server.inject({ url, ...request })).statusCode).toBe(status)
  })
})

describe('the link of the demo', () => {
  const door = { key: 'k'.repeat(22), login: { user: 'ann', password: 'right' } as Login }
  const link = `/open/${door.key}`

  it('is not used up by who only asks whether it works, and lets in once', async () => {
    const { server } = await open({ door })
    await server.inject({ method: 'HEAD', url: link })
    const answers = [await server.inject(link), await server.inject(link)]
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([303, 403])
  })

  it('works again where nobody could be let in', async () => {
    const { server, people } = await open({ door })
    people.trouble = new LifeboatError('API_TIMEOUT', 'no answer')
    expect((await server.inject(link)).statusCode).toBe(503)
    people.trouble = null
    expect((await server.inject(link)).statusCode).toBe(303)
  })
})
