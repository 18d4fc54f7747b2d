/** Evacuation that works: which states it takes, where they land, what shows on the way, how the host returns. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nova } from './cloud-under-test.ts'
import type { Scene } from './nova-contract.ts'

const kinds = [
  'active94',
  'active95',
  'stopped94',
  'stopped95',
  'error94',
  'error95',
  'paused',
  'suspended',
  'rescued',
  'locked',
  'stoppedLate',
] as const
type Kind = (typeof kinds)[number]

export function evacuationSentences(scene: Scene): void {
  describe('evacuation', () => {
    const id = {} as Record<Kind | 'resized', string>
    const stopsAt = (): number => Math.min(95, scene.cloud.maxMinor)
    const landsStopped = (): boolean => scene.cloud.maxMinor >= 95

    beforeAll(async () => {
      const { steps, cloud } = scene
      const [dying, other] = cloud.hosts
      await Promise.all(kinds.map(async (kind) => void (id[kind] = await steps.boot(dying))))
      id.resized = await steps.boot(other)
      await Promise.all([
        steps.into(id.stopped94, { 'os-stop': null }, 'stopped'),
        steps.into(id.stopped95, { 'os-stop': null }, 'stopped'),
        steps.into(id.error94, { 'os-resetState': { state: 'error' } }, 'error'),
        steps.into(id.error95, { 'os-resetState': { state: 'error' } }, 'error'),
        steps.into(id.paused, { pause: null }, 'paused'),
        steps.into(id.suspended, { suspend: null }, 'suspended'),
        steps.into(id.rescued, { rescue: null }, 'rescued'),
        steps.act(id.locked, { lock: { locked_reason: 'theirs' } }),
        steps.into(id.resized, { migrate: { host: dying } }, 'resized'),
      ])
      await steps.kill(dying)
    })
    afterAll(() => scene.cloud.tidy())

    it('comes after a PUT whose answer has a finer updated_at than the list, and whose repetition leaves it alone', async () => {
      const [dying] = scene.cloud.hosts
      const change = { status: 'disabled', disabled_reason: 'contract' }
      const written = (await scene.steps.put(dying, change)).body.service.updated_at
      const listed = (await scene.steps.service(dying)).updated_at
      // A stamp that differs is no heartbeat: only two readings of the list may be compared.
      expect(Math.abs(Date.parse(`${written}Z`) - Date.parse(`${listed}Z`))).toBeLessThan(1_000)
      await new Promise((resolve) => setTimeout(resolve, 1_100))
      const repeated = (await scene.steps.put(dying, change)).body.service.updated_at
      expect(repeated).toBe(listed)
      expect((await scene.steps.service(dying)).updated_at).toBe(listed)
    })

    it('is refused with 409 naming vm_state from paused, suspended, rescued and resized', async () => {
      for (const [kind, vm] of [
        ['paused', 'paused'],
        ['suspended', 'suspended'],
        ['rescued', 'rescued'],
        ['resized', 'resized'],
      ] as const) {
        const reply = await scene.steps.act(id[kind], { evacuate: {} })
        const message = `Cannot 'evacuate' instance ${id[kind]} while it is in vm_state ${vm}`
        expect([reply.status, reply.body]).toEqual([409, { conflictingRequest: { code: 409, message } }])
      }
    })

    it('lists a resized instance under its destination, with the power it had, and refuses it a stop', async () => {
      const [dying, other] = scene.cloud.hosts
      const { servers } = (await nova(scene.cloud, 'GET', `/servers/detail?all_tenants=1&host=${dying}`)).body
      expect(servers.map((server: any) => server.id)).toContain(id.resized)
      expect(await scene.steps.state(id.resized)).toMatchObject({
        vm: 'resized',
        task: null,
        power: 1,
        status: 'VERIFY_RESIZE',
      })
      const [migration] = await scene.steps.migrations(`instance_uuid=${id.resized}`)
      expect(migration).toMatchObject({
        migration_type: 'migration',
        status: 'finished',
        source_compute: other,
        dest_compute: dying,
      })
      const stop = await scene.steps.act(id.resized, { 'os-stop': null })
      expect(stop.body.conflictingRequest.message).toContain('while it is in vm_state resized')
    })

    it('goes through the documented states, and a null task_state is not its end', async () => {
      const [dying] = scene.cloud.hosts
      const requestId = await scene.steps.evacuate(id.active95, stopsAt())
      const seen: string[] = []
      let record: any
      await scene.steps.until(async () => {
        const { vm, task, power } = await scene.steps.state(id.active95)
        const look = `${vm}/${task}/${power}`
        if (seen.at(-1) !== look) seen.push(look)
        record = (await scene.steps.migrations(`instance_uuid=${id.active95}&migration_type=evacuation`))[0]
        return record.status === 'done'
      }, 'done')
      const { vm, task, power, host } = await scene.steps.state(id.active95)
      if (seen.at(-1) !== `${vm}/${task}/${power}`) seen.push(`${vm}/${task}/${power}`)
      const documented = [
        'active/rebuilding/1',
        'active/rebuilding/0',
        'active/rebuild_block_device_mapping/0',
        'active/rebuild_spawning/0',
      ]
      documented.push('active/null/1', 'active/powering-off/1', 'stopped/null/4')
      // A poll may miss a state but never see one that is not documented, nor in another order.
      const order = seen.map((look) => documented.indexOf(look))
      expect(order, seen.join(' ')).toEqual([...order].sort((a, b) => a - b))
      expect(order).not.toContain(-1)
      expect(host).toBe(record.dest_compute)
      expect(record).toMatchObject({ source_compute: dying, migration_type: 'evacuation' })
      expect(Object.keys(record).sort()).toEqual(migrationKeys)
      await scene.steps.action(id.active95, requestId)
    })

    it.each([
      ['active94', 94, 'active', 1],
      ['active95', null, 'stopped', 4],
      ['stopped94', 94, 'stopped', 4],
      ['stopped95', 95, 'stopped', 4],
      ['error94', 94, 'active', 1],
      ['error95', 95, 'active', 1],
    ] as const)(
      'lands %s as %s -> %s (below 2.95 as it was, from ERROR always active)',
      async (kind, minor, vm, power) => {
        if (minor !== null) {
          await scene.steps.evacuate(id[kind], Math.min(minor, scene.cloud.maxMinor))
          expect((await scene.steps.evacuated(id[kind])).status).toBe('done')
        }
        const expected = kind === 'active95' && !landsStopped() ? { vm: 'active', power: 1 } : { vm, power }
        expect(await scene.steps.state(id[kind])).toMatchObject({ ...expected, task: null })
      },
    )

    it('files each attempt under its request id, with its events', async () => {
      const { body } = await nova(scene.cloud, 'GET', `/servers/${id.active95}/os-instance-actions`)
      const { request_id: requestId, action: name } = body.instanceActions[0]
      expect(name).toBe('evacuate')
      const action = await scene.steps.action(id.active95, requestId)
      const events = action.events.map((event: any) => [event.event, event.result])
      const expected = [
        ['compute_rebuild_instance', 'Success'],
        ['rebuild_server', 'Success'],
      ]
      expect(events).toEqual(landsStopped() ? [['compute_stop_instance', 'Success'], ...expected] : expected)
      expect(action.message).toBeNull()
      expect(Object.keys(action.events[0]).sort()).toEqual([
        'details',
        'event',
        'finish_time',
        'host',
        'hostId',
        'result',
        'start_time',
        'traceback',
      ])
    })

    it('starts the guest on the destination even when it lands stopped', async () => {
      const { starts, running } = await scene.cloud.truth()
      expect(starts[id.stopped95]?.length).toBeGreaterThan(1)
      expect(running[id.stopped95]).toBeUndefined()
    })

    it('forgets a stop that Nova took before it: the guest lands running, and only the history tells of it', async () => {
      expect((await scene.steps.act(id.stoppedLate, { 'os-stop': null })).status).toBe(202)
      expect((await scene.steps.state(id.stoppedLate)).task).toBe('powering-off')
      await scene.steps.evacuate(id.stoppedLate, 90)
      expect((await scene.steps.evacuated(id.stoppedLate)).status).toBe('done')
      expect(await scene.steps.state(id.stoppedLate)).toMatchObject({ vm: 'active', task: null, power: 1 })
      const { body } = await nova(scene.cloud, 'GET', `/servers/${id.stoppedLate}/os-instance-actions`)
      const [evacuate, stop] = body.instanceActions
      expect([evacuate.action, stop.action, stop.message]).toEqual(['evacuate', 'stop', null])
    })

    it('is possible for a paused instance after a reset to active, and then lands stopped', async () => {
      await scene.steps.into(id.paused, { 'os-resetState': { state: 'active' } }, 'active')
      await scene.steps.evacuate(id.paused, stopsAt())
      expect((await scene.steps.evacuated(id.paused)).status).toBe('done')
      expect((await scene.steps.state(id.paused)).vm).toBe(landsStopped() ? 'stopped' : 'active')
    })

    it('takes a locked instance and leaves it locked', async () => {
      await scene.steps.evacuate(id.locked, 90)
      expect((await scene.steps.evacuated(id.locked)).status).toBe('done')
      expect(await scene.steps.show(id.locked)).toMatchObject({ locked: true, locked_reason: 'theirs' })
    })

    it('is possible for a resized instance once it is confirmed, which only needs the source', async () => {
      expect((await scene.steps.act(id.resized, { confirmResize: null })).status).toBe(204)
      await scene.steps.until(async () => (await scene.steps.state(id.resized)).vm === 'active', 'confirmed')
      const [migration] = await scene.steps.migrations(`instance_uuid=${id.resized}`)
      expect(migration.status).toBe('confirmed')
      await scene.steps.evacuate(id.resized, stopsAt())
      expect((await scene.steps.evacuated(id.resized)).status).toBe('done')
    })

    it('pages migrations by uuid and refuses unknown keys', async () => {
      const { body } = await nova(
        scene.cloud,
        'GET',
        `/os-migrations?source_compute=${scene.cloud.hosts[0]}&migration_type=evacuation&limit=2`,
      )
      expect(body.migrations).toHaveLength(2)
      expect(body.migrations_links[0]).toMatchObject({ rel: 'next' })
      const next = `source_compute=${scene.cloud.hosts[0]}&migration_type=evacuation&marker=${body.migrations[1].uuid}`
      const rest = await scene.steps.migrations(next)
      expect(rest.map((at) => at.uuid)).not.toContain(body.migrations[1].uuid)
      expect(rest.length).toBeGreaterThan(0)
      expect((await nova(scene.cloud, 'GET', '/os-migrations?foo=1')).status).toBe(400)
    })

    it('keeps forced_down from being cleared while records are done, until nova-compute started once more', async () => {
      const [dying] = scene.cloud.hosts
      const refused = await scene.steps.put(dying, { forced_down: false })
      expect(refused.status).toBe(400)
      expect(refused.body.badRequest.message).toContain(
        '`done` evacuation migration records remain associated with the host',
      )
      await scene.steps.bringBack(dying)
      const records = await scene.steps.migrations(`source_compute=${dying}&instance_uuid=${id.active94}`)
      expect(records.map((at) => at.status)).toEqual(['completed'])
      expect(await scene.steps.service(dying)).toMatchObject({ forced_down: false, state: 'up' })
    })

    it('never had a guest running twice', async () => {
      const { doubles } = await scene.cloud.truth()
      const mine = new Set(Object.values(id))
      expect(doubles.filter((at) => mine.has(at.uuid))).toEqual([])
    })
  })
}

/** At 2.90. */
const migrationKeys = [
  ...[
    'created_at',
    'dest_compute',
    'dest_host',
    'dest_node',
    'id',
    'instance_uuid',
    'migration_type',
    'new_instance_type_id',
  ],
  ...['old_instance_type_id', 'project_id', 'source_compute', 'source_node', 'status', 'updated_at', 'user_id', 'uuid'],
].sort()
