import { afterEach, describe, expect, it } from 'vitest'
import type { StartState } from '../../src/simulator/index.ts'
import { stage, type Stage } from './scene.ts'

let at: Stage
afterEach(() => at.close())

interface Reply {
  status: number
  body: unknown
}

function orderEvacuation(uuid: string): Promise<Reply> {
  return at.nova('POST', `/servers/${uuid}/action`, { evacuate: {} })
}

describe('an instance put into a state', () => {
  it.each<[StartState, number, string]>([
    ['active', 200, ''],
    ['stopped', 200, ''],
    ['error', 200, ''],
    ['deleting', 200, ''],
    ['live-migrating', 200, ''],
    ['resize-migrating', 200, ''],
    ['rebuilding', 200, ''],
    ['powering-off', 200, ''],
    ['building', 409, 'vm_state building'],
    ['paused', 409, 'vm_state paused'],
    ['suspended', 409, 'vm_state suspended'],
    ['rescued', 409, 'vm_state rescued'],
    ['resized-running', 409, 'vm_state resized'],
    ['resized-stopped', 409, 'vm_state resized'],
    ['shelved', 409, 'vm_state shelved'],
    ['soft-deleted', 409, 'vm_state soft-delete'],
    ['error-never-launched', 409, 'launched_at None'],
  ])('%s: an order to evacuate it from a dead host is answered %i %s', async (state, status, message) => {
    at = await stage()
    const { uuid } = at.simulator.addInstance({ host: 'cmp01', state })
    at.simulator.crash('cmp01')
    await at.clock.advance(61_000)
    const reply = await orderEvacuation(uuid)
    expect(reply.status).toBe(status)
    if (status === 409) expect(JSON.stringify(reply.body)).toContain(message)
  })

  it('with a vTPM is never evacuated', async () => {
    at = await stage()
    const { uuid } = at.simulator.addInstance({ host: 'cmp01', vtpm: true })
    at.simulator.crash('cmp01')
    await at.clock.advance(61_000)
    expect((await orderEvacuation(uuid)).status).toBe(400)
  })

  it('is listed with its host unless it is soft-deleted or offloaded', async () => {
    at = await stage()
    const states: StartState[] = ['active', 'soft-deleted', 'shelved', 'shelved-offloaded', 'building']
    for (const state of states) at.simulator.addInstance({ host: 'cmp01', state, name: state })
    const reply: Reply = await at.nova('GET', '/servers/detail?all_tenants=1&host=cmp01')
    const { servers } = reply.body as { servers: { name: string }[] }
    const names = ['active', 'building', 'shelved']
    expect(servers.map((server) => server.name).sort()).toEqual(names)
    const all: Reply = await at.nova('GET', '/servers/detail?all_tenants=1&host=cmp01&soft_deleted=1')
    const listed = (all.body as { servers: { name: string; status: string }[] }).servers
    expect(listed.map((server) => server.name).sort()).toEqual([...names, 'soft-deleted'].sort())
    expect(listed.find(({ name }) => name === 'soft-deleted')?.status).toBe('SOFT_DELETED')
  })

  it('resized and off has the stop of its owner before the resize in its history, power 4, and its old host as source', async () => {
    at = await stage()
    const { uuid } = at.simulator.addInstance({ host: 'cmp01', state: 'resized-stopped', otherHost: 'cmp03' })
    const actions = at.simulator.world.actions.get(uuid) ?? []
    expect(actions.map((action) => action.action)).toEqual(['create', 'stop', 'resize'])
    expect(at.simulator.instance(uuid)).toMatchObject({ powerState: 4, vmState: 'resized', host: 'cmp01' })
    expect(at.simulator.world.migrations).toMatchObject([
      { type: 'resize', status: 'finished', source: 'cmp03', dest: 'cmp01' },
    ])
    expect(at.simulator.truth().running[uuid]).toBeUndefined()
  })

  it('stopped by the power sync has a stop of nobody; stopped by its owner has one of its owner', async () => {
    at = await stage()
    const lastUser = (state: StartState): string | null | undefined => {
      const { uuid } = at.simulator.addInstance({ host: 'cmp01', state })
      return at.simulator.world.actions.get(uuid)?.at(-1)?.userId
    }
    expect([lastUser('stopped'), lastUser('stopped-by-power-sync')]).toEqual(['user-tenant', null])
  })
})

describe('a leftover finished migration', () => {
  it('misleads the next confirmation to the old source', async () => {
    at = await stage()
    const { uuid } = at.simulator.addInstance({ host: 'cmp01', state: 'resized-running', otherHost: 'cmp02' })
    at.simulator.crash('cmp01')
    await at.clock.advance(61_000)
    await at.nova('POST', `/servers/${uuid}/action`, { 'os-resetState': { state: 'active' } })
    expect((await orderEvacuation(uuid)).status).toBe(200)
    await at.clock.until(() => at.simulator.evacuationsOf(uuid)[0]?.status === 'done')
    await at.nova('POST', `/servers/${uuid}/action`, { migrate: { host: 'cmp04' } })
    await at.clock.until(() => at.simulator.instance(uuid).vmState === 'resized')
    expect((await at.nova('POST', `/servers/${uuid}/action`, { confirmResize: null })).status).toBe(204)
    await at.clock.advance(1_000)
    const statuses = at.simulator.world.migrations
      .filter((record) => record.type !== 'evacuation')
      .map((record) => record.status)
    expect(statuses).toEqual(['confirmed', 'finished'])
  })
})
