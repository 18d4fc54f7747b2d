/** Until when we may log in, as far as Keystone tells. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { RehearsedCloud, fault } from './rehearsed-cloud.ts'

let cloud: RehearsedCloud
beforeEach(async () => {
  cloud = await RehearsedCloud.open()
})
afterEach(() => cloud.shut())

const end = '2026-03-01T00:00:00.000000'
const login = 'POST /v3/auth/tokens'
const byCredential = { credential: { kind: 'application-credential' as const, id: 'ac1', secret: 's' } }

/** The token's answer with changes. */
function tokensAre(change: Record<string, unknown>): void {
  cloud.on(login, () => {
    const { token } = cloud.tokenBody()
    const user = { ...(token['user'] as object), ...(change['user'] as object) }
    return { status: 201, headers: { 'x-subject-token': 't' }, json: { token: { ...token, ...change, user } } }
  })
}

it("a password's end comes with the token", async () => {
  tokensAre({ user: { password_expires_at: end } })
  expect(await cloud.client().credentialExpiry()).toEqual({ kind: 'password', expiresAt: Date.UTC(2026, 2, 1) })
})

it('a password without an end has none', async () => {
  tokensAre({ user: { password_expires_at: null } })
  expect(await cloud.client().credentialExpiry()).toBeNull()
})

const route = (): string => {
  const { user } = cloud.tokenBody().token as { user: { id: string } }
  return `GET /v3/users/${user.id}/application_credentials/ac1`
}

it.each([
  [end, { kind: 'application-credential', expiresAt: Date.UTC(2026, 2, 1) }],
  [null, null],
])('the end of an application credential is asked for: %s', async (expires_at, told) => {
  tokensAre({ application_credential: { id: 'ac1', name: 'lifeboat', restricted: true } })
  cloud.on(route(), () => ({ json: { application_credential: { id: 'ac1', expires_at } } }))
  expect(await cloud.client(byCredential).credentialExpiry()).toEqual(told)
})

it.each([401, 403, 404])('one that may not be asked for (%i) is not told, and not asked for again', async (status) => {
  tokensAre({ application_credential: { id: 'ac1' } })
  cloud.on(route(), () => fault(status, 'access rules'))
  const client = cloud.client(byCredential)
  expect(await client.credentialExpiry()).toBeNull()
  const asked = cloud.requests(route()).length
  expect(await client.credentialExpiry()).toBeNull()
  expect(cloud.requests(route())).toHaveLength(asked)
})

it('a Keystone that does not answer is an error, and is asked again the next time', async () => {
  tokensAre({ application_credential: { id: 'ac1' } })
  cloud.on(route(), (_asked, nth) =>
    nth <= 3 ? fault(503, 'busy') : { json: { application_credential: { expires_at: end } } },
  )
  const client = cloud.client(byCredential)
  await expect(client.credentialExpiry()).rejects.toMatchObject({ code: 'API_UNAVAILABLE' })
  expect(await client.credentialExpiry()).toMatchObject({ kind: 'application-credential' })
})
