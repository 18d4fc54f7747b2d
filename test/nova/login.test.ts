/** Who may come in by REST, as the lab's real Keystone says it. Nothing is broken here: no host is touched. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requestHeader } from '../../src/domain/review.ts'
import { tokenFor } from '../contract/cloud-under-test.ts'
import { LabStage } from './stage.ts'

const web = 'http://127.0.0.1:9395'
const ours = { [requestHeader]: '1', 'content-type': 'application/json' }

let stage: LabStage
let admin = ''
let tenant = ''

beforeAll(async () => {
  stage = await LabStage.open('login')
  stage.freshDaemon({ web: { listen: '127.0.0.1:9395' } })
  await stage.daemon.start()
  admin = await tokenFor(stage.cloud, stage.cloud.credentials)
  tenant = await tokenFor(stage.cloud, stage.cloud.plainCredentials)
})
afterAll(async () => {
  await stage.tidy()
  stage.close()
})

interface Answered {
  status: number
  body: any
  cookie: string
}

async function send(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: object,
): Promise<Answered> {
  const answer = await fetch(web + path, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return {
    status: answer.status,
    body: text === '' ? null : JSON.parse(text),
    cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '',
  }
}
const get = (path: string, token?: string) => send('GET', path, token === undefined ? {} : { 'X-Auth-Token': token })

describe('REST behind the lab’s Keystone', () => {
  it('is closed to anyone who shows no token, or one that Keystone does not know', async () => {
    expect((await get('/v1/status')).status).toBe(401)
    const made = await get('/v1/status', admin.replace(/.{8}$/, 'AAAAAAAA'))
    expect([made.status, made.body.error.code]).toEqual([401, 'AUTH_FAILED'])
  })

  it('is closed to a tenant, and says why', async () => {
    const { status, body } = await get('/v1/status', tenant)
    expect([status, body.error.code]).toEqual([403, 'AUTH_FORBIDDEN'])
    expect(body.error.message).toContain('demo')
  })

  it('is open to the role that counts, and an act is on record under the name that Keystone gave', async () => {
    expect((await get('/v1/me', admin)).body).toMatchObject({ name: 'instanceha', role: 'admin', by: 'token' })
    expect((await get('/v1/status', admin)).body).toMatchObject({ mode: 'armed' })
    const act = (path: string, body: object) => send('POST', path, { 'X-Auth-Token': admin }, body)
    expect((await act('/v1/pause', { reason: 'who is it' })).status).toBe(200)
    expect((await act('/v1/resume', { reason: 'seen' })).status).toBe(204)
    const paused = stage.daemon.entries().find(({ kind }) => kind === 'operator.paused')
    expect(paused).toMatchObject({
      actor: 'operator:instanceha',
      data: {
        reason: 'who is it',
        via: { by: 'token', userId: expect.stringMatching(/^\w+$/), scope: 'Default/service' },
      },
    })
    expect(JSON.stringify(stage.daemon.entries())).not.toContain(admin)
  })

  it('gives a session for a name and a password, and refuses the wrong one', async () => {
    const { username: user, password } = stage.cloud.credentials
    expect((await send('POST', '/v1/session', ours, { user, password: 'not-this-one' })).status).toBe(401)
    const begun = await send('POST', '/v1/session', ours, { user, password })
    expect([begun.status, begun.body.name]).toEqual([201, user])
    expect((await send('GET', '/v1/status', { cookie: begun.cookie })).status).toBe(200)
    expect((await send('DELETE', '/v1/session', { ...ours, cookie: begun.cookie }, {})).status).toBe(204)
    expect((await send('GET', '/v1/status', { cookie: begun.cookie })).status).toBe(401)
  })

  it('keeps every token and password out of its log', () => {
    for (const secret of [admin, tenant, 'not-this-one']) expect(stage.daemon.output).not.toContain(secret)
  })
})
