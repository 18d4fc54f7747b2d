/** Who may do what by Masakari's API, as the lab's real Keystone says it. No host is touched. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tokenFor } from '../contract/cloud-under-test.ts'
import { userWithRole, type Account } from './keystone.ts'
import { lab } from './lab.ts'
import { LabStage } from './stage.ts'

const address = 'http://127.0.0.1:15868'
const password = 'rather-secret'
/** One that monitors get, and one of another project with the same role. */
const accounts = {
  monitor: { username: 'ha-monitor', password, project: 'service' },
  stranger: { username: 'ha-stranger', password, project: 'demo' },
} satisfies Record<string, Account>
type Who = keyof typeof accounts | 'admin' | 'tenant' | 'forger' | 'nobody'

let stage: LabStage
const tokens = new Map<Who, string>()

beforeAll(async () => {
  await lab('masakari', 'down')
  stage = await LabStage.open('roles')
  const admin = await tokenFor(stage.cloud, { username: 'admin', password: 'lab', project: 'admin' })
  for (const who of ['monitor', 'stranger'] as const) {
    await userWithRole(admin, accounts[who], 'monitor')
    tokens.set(who, await tokenFor(stage.cloud, accounts[who]))
  }
  tokens.set('admin', await tokenFor(stage.cloud))
  tokens.set('tenant', await tokenFor(stage.cloud, stage.cloud.plainCredentials))
  tokens.set('forger', admin.replace(/.{8}$/, 'AAAAAAAA'))
  stage.freshDaemon({ masakari_api: { listen: '127.0.0.1:15868', projects: [{ name: 'service' }] } })
  await stage.watch()
})
afterAll(async () => {
  await stage.tidy()
  stage.close()
})

async function send(who: Who, method: string, path: string, body?: object): Promise<number> {
  const token = tokens.get(who)
  const answer = await fetch(address + path, {
    ...{ method, body: body === undefined ? null : JSON.stringify(body) },
    headers: { 'content-type': 'application/json', ...(token !== undefined && { 'x-auth-token': token }) },
  })
  await answer.arrayBuffer()
  return answer.status
}

const report = (): object => ({
  notification: {
    type: 'PROCESS',
    hostname: 'cmp02',
    generated_time: new Date().toISOString().slice(0, -1),
    payload: { event: 'STARTED', process_name: 'nova-compute' },
  },
})
const segment = { segment: { name: 'by-role', recovery_method: 'auto', service_type: 'COMPUTE' } }

describe("behind the lab's Keystone, Masakari's API", () => {
  it('takes notifications of whoever has the role monitor in its project', async () => {
    expect(await send('monitor', 'POST', '/v1/notifications', report())).toBe(202)
  })

  it.each([
    ['GET', '/v1/segments', undefined],
    ['POST', '/v1/segments', segment],
    ['GET', '/v1/notifications', undefined],
    ['PUT', '/v1/segments/by-role', segment],
    ['DELETE', '/v1/segments/by-role', undefined],
    ['GET', '/v1/segments/by-role/hosts', undefined],
  ] as const)('lets that role do nothing else: %s %s', async (method, path, body) => {
    expect(await send('monitor', method, path, body)).toBe(403)
  })

  it.each([
    ['with that role in another project', 'stranger', 403],
    ['without a role that counts', 'tenant', 403],
    ['with a token that Keystone does not know', 'forger', 401],
    ['without a token', 'nobody', 401],
  ] as const)('takes no notification of someone %s', async (_how, who, status) => {
    expect(await send(who, 'POST', '/v1/notifications', report())).toBe(status)
  })

  it('shows the one that it took to the admin, and no other', async () => {
    const headers = { 'x-auth-token': tokens.get('admin') ?? '' }
    const answer = await fetch(`${address}/v1/notifications`, { headers })
    const { notifications } = (await answer.json()) as { notifications: { type: string }[] }
    expect(notifications.map(({ type }) => type)).toEqual(['PROCESS'])
  })
})
