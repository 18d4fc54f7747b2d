import { afterEach, describe, expect, it } from 'vitest'
import { login, stage, tokens, type Stage } from './scene.ts'

let at: Stage
afterEach(() => at.close())

/** Posts an evacuation and waits for its record to end. */
async function evacuate(uuid: string, host?: string): Promise<string> {
  const reply = await at.nova('POST', `/servers/${uuid}/action`, { evacuate: host === undefined ? {} : { host } })
  expect(reply.status).toBe(200)
  const record = at.simulator.world.migrations.findLast((migration) => migration.instanceUuid === uuid)
  await at.clock.until(() => ['done', 'failed', 'error'].includes(record?.status ?? ''), 3_600_000)
  return record?.status ?? ''
}

async function stateOf(host: string): Promise<string> {
  const reply = await at.nova('GET', `/os-services?host=${host}`)
  return reply.body.services[0].state
}

describe('liveness', () => {
  it('a crashed host reads down after service_down_time, not before, and up again after its return', async () => {
    at = await stage()
    at.simulator.crash('cmp01')
    await at.clock.advance(49_000)
    expect(await stateOf('cmp01')).toBe('up')
    await at.clock.advance(12_000)
    expect(await stateOf('cmp01')).toBe('down')
    expect(await stateOf('cmp02')).toBe('up')
    at.simulator.start('cmp01')
    await at.clock.advance(1_000)
    expect(await stateOf('cmp01')).toBe('up')
  })

  it.each([
    ['rabbitmq', 'up'],
    ['conductor', 'down'],
  ] as const)('with %s dead every compute goes silent and the conductor reads %s', async (part, conductor) => {
    at = await stage()
    at.simulator.kill(part)
    await at.clock.advance(61_000)
    const { services } = (await at.nova('GET', '/os-services')).body
    const states = Object.fromEntries(services.map((row: any) => [row.binary, row.state]))
    expect(states).toEqual({ 'nova-compute': 'down', 'nova-conductor': conductor, 'nova-scheduler': 'up' })
  })

  it('computes of an unreachable cell show as UNKNOWN and nothing else', async () => {
    at = await stage()
    at.simulator.cellDown(['cmp03'])
    const { services } = (await at.nova('GET', '/os-services')).body
    expect(services.find((row: any) => row.host === 'cmp03')).toEqual({
      binary: 'nova-compute',
      host: 'cmp03',
      status: 'UNKNOWN',
    })
  })

  it('probes tell a crash from an isolated agent, and the power that they can read', async () => {
    at = await stage()
    const [network, bmc] = at.simulator.probes()
    at.simulator.isolate('cmp01')
    at.simulator.partition('cmp02')
    at.simulator.crash('cmp03')
    const answers = async (probe: typeof network): Promise<unknown[]> =>
      Promise.all(['cmp01', 'cmp02', 'cmp03', 'cmp04'].map(async (host) => (await probe?.read(host))?.answer))
    expect(await answers(network)).toEqual(['alive', 'dead', 'dead', 'alive'])
    at.simulator.bmc('cmp03', { power: 'Off' })
    at.simulator.bmc('cmp04', { reachable: false })
    expect(await answers(bmc)).toEqual(['unknown', 'unknown', 'dead', 'unknown'])
  })
})

describe('evacuation under faults', () => {
  it('with the broker dead the order hangs, yet task state and migration are written', async () => {
    at = await stage()
    const { uuid } = at.simulator.addInstance({ host: 'cmp01' })
    await at.nova('GET', '/servers')
    at.simulator.kill('rabbitmq')
    await at.clock.advance(61_000)
    const signal = new AbortController()
    at.clock.after(90_000, () => signal.abort())
    const post = at.nova('POST', `/servers/${uuid}/action`, { evacuate: {} }, signal.signal)
    await expect(at.clock.run(post)).rejects.toThrow()
    expect(at.simulator.world.instances.get(uuid)?.taskState).toBe('rebuilding')
    expect(at.simulator.world.migrations.map((migration) => migration.status)).toEqual(['accepted'])
  })

  it('with the conductor dead the order is taken and runs when the conductor is back', async () => {
    at = await stage()
    const { uuid } = at.simulator.addInstance({ host: 'cmp01' })
    at.simulator.crash('cmp01')
    await at.clock.advance(61_000)
    at.simulator.kill('conductor')
    expect((await at.nova('POST', `/servers/${uuid}/action`, { evacuate: {} })).status).toBe(200)
    await at.clock.advance(50_000)
    expect(at.simulator.world.migrations[0]?.status).toBe('accepted')
    at.simulator.revive('conductor')
    await at.clock.until(() => at.simulator.world.migrations[0]?.status === 'done')
    expect(at.simulator.truth().running[uuid]).toBeUndefined()
  })

  it('Placement being down looks like NoValidHost', async () => {
    at = await stage()
    const { uuid } = at.simulator.addInstance({ host: 'cmp01' })
    at.simulator.crash('cmp01')
    at.simulator.kill('placement')
    await at.clock.advance(61_000)
    expect(await evacuate(uuid)).toBe('error')
    expect(at.simulator.world.instances.get(uuid)).toMatchObject({ vmState: 'error', taskState: null, powerState: 1 })
  })

  it('a destination that dies while it takes the guest leaves the record pre-migrating for ever', async () => {
    at = await stage()
    const { uuid } = at.simulator.addInstance({ host: 'cmp01' })
    at.simulator.crash('cmp01')
    at.simulator.fault('cmp02', { diesWhileSpawning: true })
    await at.clock.advance(61_000)
    await at.nova('POST', `/servers/${uuid}/action`, { evacuate: { host: 'cmp02' } })
    await at.clock.advance(86_400_000)
    expect(at.simulator.world.migrations[0]).toMatchObject({ status: 'pre-migrating', dest: 'cmp02' })
    expect(at.simulator.world.instances.get(uuid)).toMatchObject({ taskState: 'rebuild_spawning', host: 'cmp01' })
  })

  it('a late group check gives the instance back unchanged', async () => {
    at = await stage({ hosts: 2 })
    const { uuid } = at.simulator.addInstance({ host: 'cmp01' })
    at.simulator.crash('cmp01')
    at.simulator.fault('cmp02', { claimFails: true })
    await at.clock.advance(61_000)
    expect(await evacuate(uuid)).toBe('failed')
    expect(at.simulator.world.instances.get(uuid)).toMatchObject({ vmState: 'active', taskState: null, powerState: 1 })
  })

  it('an encrypted volume opens only for a token of the instance own project', async () => {
    at = await stage()
    const ours = at.simulator.addInstance({ host: 'cmp01', encrypted: true })
    at.simulator.crash('cmp01')
    await at.clock.advance(61_000)
    expect(await evacuate(ours.uuid)).toBe('failed')
    const token = await login(at.simulator, 'lifeboat', 'tenant')
    const headers = { 'X-Auth-Token': token, 'OpenStack-API-Version': 'compute 2.90' }
    const url = `${at.simulator.url}/compute/v2.1/servers/${ours.uuid}/action`
    await fetch(url, { method: 'POST', headers, body: '{"evacuate": {}}' })
    await at.clock.until(() => at.simulator.world.migrations.at(-1)?.status === 'done')
  })

  it('an isolated host that is evacuated without a fence runs its guests twice, and the truth says so', async () => {
    at = await stage()
    const { uuid } = at.simulator.addInstance({ host: 'cmp01' })
    at.simulator.isolate('cmp01')
    await at.clock.advance(61_000)
    await evacuate(uuid)
    expect(at.simulator.truth().doubles).toMatchObject([{ uuid, event: 'spawn', alsoOn: ['cmp01'] }])
  })

  it('gives server groups in pages, by limit and offset', async () => {
    at = await stage({ hosts: 2 })
    for (const name of ['a', 'b', 'c']) at.simulator.addServerGroup('anti-affinity', [], name)
    const page = async (query: string): Promise<string[]> => {
      const { body } = await at.nova('GET', `/os-server-groups?all_projects=1&${query}`)
      return (body as { server_groups: { name: string }[] }).server_groups.map(({ name }) => name)
    }
    expect(await page('limit=2&offset=0')).toEqual(['a', 'b'])
    expect(await page('limit=2&offset=2')).toEqual(['c'])
    expect(await page('limit=2&offset=3')).toEqual([])
  })

  it('keeps members of an anti-affinity group apart', async () => {
    at = await stage({ hosts: 3 })
    const pair = ['cmp01', 'cmp02'].map((host) => at.simulator.addInstance({ host }).uuid)
    at.simulator.addServerGroup('anti-affinity', pair)
    at.simulator.crash('cmp01')
    await at.clock.advance(61_000)
    expect(await evacuate(pair[0] ?? '')).toBe('done')
    expect(at.simulator.world.instances.get(pair[0] ?? '')?.host).toBe('cmp03')
  })
})

describe('the return of a host', () => {
  it('settles one record per instance per start', async () => {
    at = await stage()
    const { uuid } = at.simulator.addInstance({ host: 'cmp01' })
    for (const dest of [null, null, 'cmp02']) {
      const record = at.simulator.world.addMigration({
        instanceUuid: uuid,
        type: 'evacuation',
        status: 'done',
        source: 'cmp01',
      })
      record.dest = dest
    }
    at.simulator.crash('cmp01')
    const left: number[] = []
    for (let start = 0; start < 3; start++) {
      at.simulator.isolate('cmp01')
      at.simulator.start('cmp01')
      await at.clock.advance(1_000)
      left.push(at.simulator.world.migrations.filter((record) => record.status === 'done').length)
    }
    expect(left).toEqual([2, 1, 0])
  })

  it('power sync records a stop of nobody for guests that died with their host', async () => {
    at = await stage()
    const { uuid } = at.simulator.addInstance({ host: 'cmp01' })
    at.simulator.crash('cmp01')
    at.simulator.start('cmp01')
    await at.clock.advance(700_000)
    const { instanceActions } = (await at.nova('GET', `/servers/${uuid}/os-instance-actions`)).body
    expect(instanceActions[0]).toMatchObject({ action: 'stop', user_id: null, project_id: null })
    expect(at.simulator.world.instances.get(uuid)?.vmState).toBe('stopped')
  })

  it('a BMC that is stuck takes orders and does nothing; one that is not takes the guests with it', async () => {
    at = await stage()
    const { uuid } = at.simulator.addInstance({ host: 'cmp01' })
    const reset = (): Promise<Response> =>
      fetch(`${at.simulator.bmcUrl('cmp01')}/Actions/ComputerSystem.Reset`, {
        method: 'POST',
        headers: { Authorization: `Basic ${btoa('lab:lab')}` },
        body: '{"ResetType": "ForceOff"}',
      })
    at.simulator.bmc('cmp01', { stuck: true })
    expect([(await reset()).status, at.simulator.bmc('cmp01').power]).toEqual([204, 'On'])
    at.simulator.bmc('cmp01', { stuck: false })
    expect([(await reset()).status, at.simulator.bmc('cmp01').power]).toEqual([204, 'Off'])
    expect(at.simulator.truth().running[uuid]).toBeUndefined()
  })
})

describe('a host that is enabled', () => {
  it('while it is down stays avoided until its nova-compute has told Placement', async () => {
    at = await stage({ hosts: 2 })
    const { uuid } = at.simulator.addInstance({ host: 'cmp01' })
    const { services } = (await at.nova('GET', '/os-services?host=cmp02')).body
    const put = (change: unknown): Promise<unknown> => at.nova('PUT', `/os-services/${services[0].id}`, change)
    await put({ status: 'disabled', disabled_reason: 'test' })
    await put({ forced_down: true })
    await put({ status: 'enabled' })
    await put({ forced_down: false })
    at.simulator.crash('cmp01')
    await at.clock.advance(30_000)
    at.simulator.world.host('cmp01').service.forcedDown = true
    expect(await evacuate(uuid)).toBe('error')
    await at.clock.advance(60_000)
    expect(await evacuate(uuid)).toBe('done')
  })
})

describe('a large cloud', () => {
  it('answers for 5,000 hosts, each beating at its own moment', async () => {
    at = await stage({ hosts: 5_000, reportIntervalMs: 10_000 })
    const read = async (): Promise<Map<string, string>> => {
      const { services } = (await at.nova('GET', '/os-services?binary=nova-compute')).body
      return new Map(services.map((row: any) => [row.host, row.updated_at]))
    }
    await at.clock.advance(60_000)
    const before = await read()
    await at.clock.advance(5_000)
    const after = await read()
    const moved = [...before].filter(([host, stamp]) => after.get(host) !== stamp).length
    expect(before.size).toBe(5_000)
    expect(moved).toBeGreaterThan(2_400)
    expect(moved).toBeLessThan(2_600)
  })
})

describe('faults of the API', () => {
  it('drop-after acts and breaks the connection; the log knows', async () => {
    at = await stage()
    const { uuid } = at.simulator.addInstance({ host: 'cmp01' })
    await at.nova('GET', '/servers')
    at.simulator.forgetRequests()
    at.simulator.apiFault({ kind: 'drop-after', method: 'POST', path: /action$/, body: /"lock"/, times: 1 })
    await expect(at.nova('POST', `/servers/${uuid}/action`, { lock: null })).rejects.toThrow()
    expect(at.simulator.world.instances.get(uuid)?.locked).toBe(true)
    expect(at.simulator.requests()).toMatchObject([
      {
        method: 'POST',
        route: 'compute/v2.1/servers/{id}/action',
        action: 'lock',
        microversion: '2.95',
        user: 'lifeboat',
        status: 0,
        fault: 'drop-after',
      },
    ])
    expect((await at.nova('POST', `/servers/${uuid}/action`, { unlock: null })).status).toBe(202)
  })

  it('every n-th matching request is refused without effect', async () => {
    at = await stage()
    at.simulator.apiFault({ kind: 'refuse', status: 503, path: /os-services/, everyNth: 3 })
    const statuses: number[] = []
    for (let i = 0; i < 6; i++) statuses.push((await at.nova('GET', '/os-services')).status)
    expect(statuses).toEqual([200, 200, 503, 200, 200, 503])
  })

  it('a slow answer comes when its time has come', async () => {
    at = await stage()
    await at.nova('GET', '/servers')
    at.simulator.apiFault({ kind: 'slow', delayMs: 7_000, times: 1 })
    const before = at.clock.now()
    expect((await at.clock.run(at.nova('GET', '/servers'))).status).toBe(200)
    expect(at.clock.now() - before).toBe(7_000)
  })
})

describe('Keystone', () => {
  it('lets a token go at its time', async () => {
    at = await stage({ tokenLifeMs: 60_000 })
    expect((await at.nova('GET', '/servers')).status).toBe(200)
    await at.clock.advance(61_000)
    expect((await at.nova('GET', '/servers')).status).toBe(401)
  })

  it('rescopes to projects in which the user has a role, and to no other', async () => {
    at = await stage()
    const token = await login(at.simulator)
    const rescope = (project: string): Promise<Response> =>
      tokens(at.simulator, {
        identity: { methods: ['token'], token: { id: token } },
        scope: { project: { id: project } },
      })
    expect([(await rescope('project-tenant')).status, (await rescope('project-demo')).status]).toEqual([201, 401])
  })

  it('takes application credentials, which carry their project', async () => {
    at = await stage()
    const reply = await tokens(at.simulator, {
      identity: {
        methods: ['application_credential'],
        application_credential: { id: 'appcred-lifeboat', secret: 'secret' },
      },
    })
    expect(((await reply.json()) as any).token.project.id).toBe('project-service')
  })
})
