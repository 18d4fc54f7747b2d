/** Every request says which of ours it is, so that the services' logs can be searched for it. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { RehearsedCloud, fault, serverJson } from './rehearsed-cloud.ts'

let cloud: RehearsedCloud
beforeEach(async () => {
  cloud = await RehearsedCloud.open()
})
afterEach(() => cloud.shut())

const form = /^req-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}$/
const action = 'POST /v2.1/servers/i1/action'
const server = 'GET /v2.1/servers/i1'
const ours = 'req-0a1b2c3d-0000-8000-8000-0123456789ab'

it('logins and discovery carry an id as well, each its own', async () => {
  cloud.on(server, () => ({ json: { server: serverJson('i1') } }))
  await cloud.client().getInstance('i1')
  const ids = cloud.asked.map(({ globalRequestId }) => globalRequestId ?? '')
  expect(ids.length).toBeGreaterThan(2)
  for (const id of ids) expect(id).toMatch(form)
  expect(new Set(ids).size).toBe(ids.length)
})

it('the tries of one read are one request to anyone who reads the logs', async () => {
  cloud.on(server, (_asked, nth) => (nth < 3 ? fault(503, 'busy') : { json: { server: serverJson('i1') } }))
  await cloud.client().getInstance('i1')
  expect(new Set(cloud.requests(server).map(({ globalRequestId }) => globalRequestId)).size).toBe(1)
  expect(cloud.requests(server)).toHaveLength(3)
})

it("a caller's own id is what is sent, also when the token had to be renewed, and the observer hears both ids", async () => {
  cloud.on(action, (_asked, nth) => (nth === 1 ? fault(401, 'token') : { status: 202 }))
  const { requestId } = await cloud.client().stop('i1', { globalRequestId: ours })
  expect(cloud.requests(action).map(({ globalRequestId }) => globalRequestId)).toEqual([ours, ours])
  expect(cloud.seen.filter(({ method, route }) => method === 'POST' && route.includes('action'))).toMatchObject([
    { result: '401', globalRequestId: ours },
    { result: '202', globalRequestId: ours, requestId },
  ])
})

it('an id is heard of also when no answer came', async () => {
  cloud.on(action, () => ({ instead: 'reset' }))
  await cloud
    .client()
    .stop('i1', { globalRequestId: ours })
    .catch(() => undefined)
  expect(cloud.seen.at(-1)).toMatchObject({ result: 'CONNECTION_LOST', requestId: null, globalRequestId: ours })
})
