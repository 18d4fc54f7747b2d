/** Login by single sign-on: who is let in by a token that another site's page posts to us, and who is not. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BrieflyKept } from '../../src/api/briefly-kept.ts'
import { webssoUrl } from '../../src/api/single-sign-on.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import { requestHeader } from '../../src/domain/review.ts'
import type { SsoWay, TokenScope } from '../../src/domain/token-holder.ts'
import { VirtualClock } from '../../src/simulator/index.ts'
import { front, ownProject, person, usual, type Front } from './people.ts'

const company: SsoWay = { name: 'Company login', protocol: 'openid', identityProvider: null }
const keystone = 'https://keystone.example:5000'
/** As a proxy that does TLS sends it on. */
const https = { host: 'ha.example', 'x-forwarded-proto': 'https' }
const ours = { ...https, [requestHeader]: '1' }
const form = 'application/x-www-form-urlencoded'

let desk: Front
let rules = usual
beforeEach(async () => {
  rules = { ...usual, sso: [company] }
  desk = await front({ trustedProxies: ['127.0.0.1'], rules: () => rules })
  signedOn('olaf', (scope) => (isOwn(scope) ? 'token-of-olaf' : null))
})
afterEach(() => desk.server.close())

const isOwn = (scope: TokenScope): boolean => scope !== 'system' && 'id' in scope && scope.id === ownProject.id

/** Keystone gave them a token for no project, and for some scopes it gives one more. */
function signedOn(name: string, scoped: (scope: TokenScope) => string | null): void {
  desk.people.tokens.set(`sso-of-${name}`, person(name, [], { scope: { kind: 'other' } }))
  desk.people.scoped.set(`sso-of-${name}`, scoped)
}

const press = (payload: object = {}, headers: Record<string, string> = ours) =>
  desk.server.inject({ method: 'POST', url: '/v1/sso', payload: { name: company.name, ...payload }, headers })

/** The cookie of a login that has begun. */
async function begun(payload: object = {}, headers: Record<string, string> = ours): Promise<string> {
  return String((await press(payload, headers)).headers['set-cookie']).split(';')[0] ?? ''
}

/** Undefined: not sent. */
type Sent = Record<string, string | undefined>

interface Back {
  status: number
  location: string
  /** The session's cookie, or null: nobody was let in. */
  session: string | null
  /** What the login page then says to this browser. */
  says: string | null
}

/** Keystone's page posts the token. */
async function back(cookie: string, payload = 'token=sso-of-olaf', change: Sent = {}): Promise<Back> {
  const sent: Sent = { ...https, 'content-type': form, origin: keystone, cookie, ...change }
  const headers = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined))
  const answer = await desk.server.inject({ method: 'POST', url: '/auth/websso/', payload, headers })
  const cookies = [answer.headers['set-cookie'] ?? []].flat().map((set) => set.split(';')[0] ?? '')
  const kept = cookies.find((pair) => /^(__Host-)?lifeboat-sso=./.test(pair))
  return {
    status: answer.statusCode,
    location: String(answer.headers.location),
    session: cookies.find((pair) => pair.startsWith('__Host-lifeboat=')) ?? null,
    says: kept === undefined ? null : await said(kept),
  }
}

const said = async (cookie: string): Promise<string | null> =>
  (await desk.server.inject({ url: '/v1/sso', headers: { ...https, cookie } })).json().refused

const me = async (cookie: string | null): Promise<{ name?: string; role?: string }> =>
  (await desk.server.inject({ url: '/v1/me', headers: { ...https, ...(cookie !== null && { cookie }) } })).json()

describe('the button', () => {
  it('is offered by its name, and nothing else of the configuration is told', async () => {
    const answer = await desk.server.inject({ url: '/v1/sso' })
    expect(answer.json()).toEqual({ ways: [{ name: 'Company login' }], refused: null })
  })

  it('leads to Keystone, with our address as this browser knows it, and sets a cookie for ten minutes', async () => {
    const answer = await press()
    expect([answer.statusCode, answer.json()]).toEqual([
      201,
      {
        location: `${keystone}/v3/auth/OS-FEDERATION/websso/openid?origin=https%3A%2F%2Fha.example%2Fauth%2Fwebsso%2F`,
      },
    ])
    expect(answer.headers['set-cookie']).toMatch(
      /^__Host-lifeboat-sso=[\w-]{43}; Path=\/; HttpOnly; SameSite=None; Max-Age=600; Secure$/,
    )
  })

  it('names the identity provider where the configuration does', () => {
    const way = { name: 'x', protocol: 'saml2', identityProvider: 'acme@corp' }
    expect(webssoUrl(`${keystone}/v3`, way, 'https://ha/auth/websso/')).toBe(
      `${keystone}/v3/auth/OS-FEDERATION/identity_providers/acme%40corp/protocols/saml2/websso?origin=https%3A%2F%2Fha%2Fauth%2Fwebsso%2F`,
    )
  })

  it.each([
    ['another site', {}, https, 403, 'the header x-lifeboat-request is missing'],
    ['another site that browsers name', {}, { ...ours, origin: 'https://evil.example' }, 403, 'another origin'],
    ['a name that there is not', { name: 'Other' }, ours, 404, 'no login called Other (there is: Company login)'],
    ['a page without HTTPS', {}, { ...ours, 'x-forwarded-proto': 'http' }, 400, 'needs HTTPS, and the pages are at'],
    ['an address that is none', {}, { ...ours, host: 'a b' }, 400, 'Host is no address'],
    ['a path of a book’s length', { to: `/${'x'.repeat(2_000)}` }, ours, 400, 'to: '],
  ])('is not pressed by %s', async (_who, payload, headers, status, message) => {
    const answer = await press(payload, headers)
    expect([answer.statusCode, answer.json().error.message]).toEqual([status, expect.stringContaining(message)])
    expect(answer.headers['set-cookie']).toBeUndefined()
  })

  it.each(['localhost:9394', '127.0.0.1:9394', '[::1]:9394'])('works without TLS on this machine: %s', async (host) => {
    const answer = await press({}, { ...ours, host, 'x-forwarded-proto': 'http' })
    expect(answer.json().location).toContain(`origin=${encodeURIComponent(`http://${host}/auth/websso/`)}`)
    expect(answer.headers['set-cookie']).toMatch(/^lifeboat-sso=.*; SameSite=None; Max-Age=600; Secure$/)
  })

  it('says so while Keystone cannot be asked', async () => {
    desk.people.trouble = new LifeboatError('API_TIMEOUT', 'no answer')
    expect((await press()).statusCode).toBe(503)
  })

  it('is gone with a reload that takes it away, and so is the way to Keystone', async () => {
    rules = usual
    expect((await desk.server.inject({ url: '/v1/sso' })).json().ways).toEqual([])
    expect((await press()).statusCode).toBe(404)
  })
})

describe('the token that Keystone posts', () => {
  it('becomes the session of any other login, on the page that was wanted', async () => {
    const answer = await back(await begun({ to: '/incidents?open=true' }))
    expect([answer.status, answer.location]).toEqual([303, 'https://ha.example/incidents?open=true'])
    expect(await me(answer.session)).toMatchObject({ name: 'olaf', role: 'operator' })
    await desk.server.inject({
      method: 'POST',
      url: '/v1/pause',
      payload: { reason: 'rack work' },
      headers: { ...ours, cookie: answer.session ?? '' },
    })
    const via = { by: 'session', userId: 'u-olaf', scope: 'Default/admin' }
    expect(desk.asked).toContainEqual(['pause', expect.objectContaining({ by: 'olaf', via })])
  })

  it('sets the session’s cookie Strict, out of a script’s reach, and takes its own back', async () => {
    const { headers } = await desk.server.inject({
      method: 'POST',
      url: '/auth/websso/',
      payload: 'token=sso-of-olaf',
      headers: { ...https, 'content-type': form, origin: keystone, cookie: await begun() },
    })
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^__Host-lifeboat=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=3600; Secure$/,
      ) as string,
      '__Host-lifeboat-sso=; Path=/; HttpOnly; SameSite=None; Max-Age=0; Secure',
    ])
    expect(headers['cache-control']).toBe('no-store')
  })

  it('ends the session that this browser had before, and a refusal does not', async () => {
    const earlier = (await back(await begun())).session ?? ''
    const again = { ...ours, cookie: earlier }
    await back(await begun({}, again), 'token=made-up')
    expect(await me(earlier)).toMatchObject({ name: 'olaf' })
    await back(await begun({}, again))
    expect(await me(earlier)).toHaveProperty('error')
  })

  it.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example',
    '/\t/evil.example',
    '/..//evil.example',
    'javascript:alert(1)',
    'incidents',
    '',
  ])('leads to our own pages alone, whatever was asked for: %j', async (to) => {
    const { location } = await back(await begun({ to }))
    expect(new URL(location).origin).toBe('https://ha.example')
  })

  it('shows in no log, no address and no cookie', async () => {
    const good = await back(await begun())
    const bad = await back(await begun(), 'token=sso-of-nobody')
    expect(JSON.stringify([good, bad, desk.logged])).not.toMatch(/sso-of-|token-of-/)
    const told = desk.logged.filter(({ event }) => event === 'web.sso')
    expect(told).toMatchObject([
      { level: 'info', who: 'olaf' },
      { level: 'warn', code: 'AUTH_FAILED' },
    ])
  })
})

describe('a token of someone else’s, posted by a page that is not Keystone’s', () => {
  it.each([
    ['to a browser in which no login began', false, {}, 'did not begin on this page'],
    ['with a cookie of nobody’s', false, { cookie: '__Host-lifeboat-sso=made-up' }, 'did not begin on this page'],
    ['by another site', true, { origin: 'https://evil.example' }, 'it came from https://evil.example'],
    ['by a neighbour of Keystone’s', true, { origin: 'https://keystone.example' }, `and Keystone is at ${keystone}`],
    ['by a page that hides where it is from', true, { origin: 'null' }, 'Referrer-Policy'],
    ['by a program that says nothing of it', true, { origin: undefined }, 'Referrer-Policy'],
  ])('%s: nobody is let in, and Keystone is not asked', async (_how, wasBegun, headers, says) => {
    const answer = await back(wasBegun ? await begun() : '', undefined, headers)
    expect([answer.status, answer.session, desk.people.asked]).toEqual([303, null, 0])
    expect(answer.location).toMatch(/^\/login(\?|$)/)
    expect(answer.says).toContain(says)
  })

  it('after the login that began was over: it is good once', async () => {
    const cookie = await begun()
    expect((await back(cookie)).session).not.toBeNull()
    expect((await back(cookie)).session).toBeNull()
  })

  it('after ten minutes', async () => {
    const cookie = await begun()
    await desk.clock.advance(600_000)
    expect(await back(cookie)).toMatchObject({ session: null, says: expect.stringContaining('10 minutes') as string })
  })

  it('with the cookie of a refusal, which has begun nothing', async () => {
    const { headers } = await desk.server.inject({
      method: 'POST',
      url: '/auth/websso/',
      headers: { ...https, 'content-type': form },
      payload: 'token=x',
    })
    const cookie = String(headers['set-cookie']).split(';')[0] ?? ''
    expect(await back(cookie)).toMatchObject({ session: null })
  })
})

describe('what is no form of Keystone’s', () => {
  it.each([
    ['without a token', 'a=b'],
    ['empty', ''],
    ['with an empty token', 'token='],
    ['with two tokens', 'token=sso-of-olaf&token=sso-of-ann'],
  ])('%s is refused in words', async (_what, payload) => {
    const answer = await back(await begun(), payload)
    expect([answer.session, answer.says]).toEqual([null, 'Keystone’s page must send one token'])
  })

  it.each([
    [415, 'application/json', '{"token":"sso-of-olaf"}'],
    [415, 'text/plain', 'token=sso-of-olaf'],
    [415, 'multipart/form-data; boundary=x', '--x--'],
    [413, form, `token=${'x'.repeat(17_000)}`],
  ])('%i for %s', async (status, type, payload) => {
    expect(await back(await begun(), payload, { 'content-type': type })).toMatchObject({ status, session: null })
  })

  it('a token longer than any is none', async () => {
    expect((await back(await begun(), `token=${'x'.repeat(5_000)}`)).says).toContain('does not know this token')
  })

  it('is taken ten times a minute from one address', async () => {
    const statuses: number[] = []
    for (let nth = 0; nth < 12; nth += 1) statuses.push((await back('')).status)
    expect(statuses).toEqual([...Array<number>(10).fill(303), 429, 429])
  })
})

describe('a refusal is said on the login page, to this browser, for a minute', () => {
  it('to someone who has no role where roles count', async () => {
    signedOn('tess', () => null)
    const answer = await back(await begun({ to: '/hosts?find=a#b' }), 'token=sso-of-tess')
    expect(answer).toMatchObject({
      location: '/login?to=%2Fhosts%3Ffind%3Da%23b',
      session: null,
      says: 'tess has no role in project p-admin, where roles count',
    })
  })

  it('to someone whose roles are not those that count', async () => {
    desk.people.tokens.set('token-of-max', person('max', ['member']))
    signedOn('max', (scope) => (isOwn(scope) ? 'token-of-max' : null))
    const { says } = await back(await begun(), 'token=sso-of-max')
    expect(says).toBe('None of the roles of max (member) counts here; these do: admin, ha-operator, reader')
  })

  it('to someone whose token ended on its way', async () => {
    desk.people.tokens.delete('sso-of-olaf')
    expect((await back(await begun())).says).toContain('Keystone does not know this token: it ended')
  })

  it('while Keystone does not answer, and there is another way', async () => {
    const cookie = await begun()
    desk.people.trouble = new LifeboatError('API_TIMEOUT', 'no answer')
    expect((await back(cookie)).says).toMatch(/^Keystone cannot be asked who you are \(API_TIMEOUT.*operators’ socket/)
  })

  it('and to nobody else, nor later', async () => {
    const { headers } = await desk.server.inject({
      method: 'POST',
      url: '/auth/websso/',
      headers: { ...https, 'content-type': form },
      payload: '',
    })
    const cookie = String(headers['set-cookie']).split(';')[0] ?? ''
    expect([await said(''), await said('__Host-lifeboat-sso=made-up')]).toEqual([null, null])
    expect(await said(cookie)).not.toBeNull()
    await desk.clock.advance(60_000)
    expect(await said(cookie)).toBeNull()
  })
})

describe('someone with roles in several projects', () => {
  const ops = { name: 'ops', domain: 'Default' }
  const places = (scope: TokenScope): string =>
    scope === 'system' ? 'system' : 'name' in scope ? scope.name : scope.id
  const inOps = { kind: 'project', id: 'p-ops', ...ops } as const
  let asked: string[]

  const login = async (tokens: Record<string, string>): Promise<{ name?: string; role?: string }> => {
    asked = []
    rules = { ...rules, projects: [{ id: 'p-admin' }, ops] }
    signedOn('ann', (scope) => {
      asked.push(places(scope))
      return tokens[places(scope)] ?? null
    })
    return me((await back(await begun(), 'token=sso-of-ann')).session)
  }
  beforeEach(() => {
    desk.people.tokens.set('reads', person('ann', ['reader']))
    desk.people.tokens.set('acts', person('ann', ['ha-operator'], { scope: inOps }))
  })

  it('is there where they may do most', async () => {
    expect(await login({ 'p-admin': 'reads', ops: 'acts' })).toMatchObject({ role: 'operator' })
    expect(asked).toEqual(['p-admin', 'ops'])
  })

  it('is looked for no further once they are an admin', async () => {
    expect(await login({ 'p-admin': 'token-of-ann', ops: 'acts' })).toMatchObject({ role: 'admin' })
    expect(asked).toEqual(['p-admin'])
  })
})

it('of a thousand logins under way the oldest gives way', () => {
  const kept = new BrieflyKept<number>(new VirtualClock())
  const names = Array.from({ length: 1_001 }, (_, nth) => kept.keep(nth, 60_000))
  expect([kept.look(names[0]!), kept.look(names[1]!), kept.look(names[1_000]!)]).toEqual([null, 1, 1_000])
})
