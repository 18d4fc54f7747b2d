/** A guest that dies while its host lives: what Nova shows and when, what asks the hypervisor, and what brings the guest back. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nova, tokenFor } from './cloud-under-test.ts'
import type { Scene } from './nova-contract.ts'

const kinds = ['left', 'unheard', 'paused', 'early', 'late', 'locked'] as const
const hard = { reboot: { type: 'HARD' } }
const running = { vm: 'active', task: null, power: 1, status: 'ACTIVE' }
const off = { vm: 'stopped', task: null, power: 4, status: 'SHUTOFF' }

export function guestSentences(scene: Scene): void {
  describe('a guest that dies while its host lives', () => {
    const id = {} as Record<(typeof kinds)[number], string>
    let diedAt = 0
    let unheardAt = 0

    /** Of what Nova says that is neither true nor false of the guest: the stored power. */
    async function refusesDiagnostics(instance: string, stored: string): Promise<void> {
      // In the moment of the death libvirt still lists the guest, and no longer knows what nova-compute asks of it.
      const isGone = async (): Promise<boolean> => (await scene.steps.diagnostics(instance)).status !== 500
      await scene.steps.until(isGone, 'libvirt has let it go')
      const { status, body } = await scene.steps.diagnostics(instance)
      const message = `Cannot 'get_diagnostics' instance ${instance} while it is in power state ${stored}`
      expect([status, body]).toEqual([409, { conflictingRequest: { code: 409, message } }])
    }

    async function stopsOf(instance: string): Promise<any[]> {
      const { body } = await nova(scene.cloud, 'GET', `/servers/${instance}/os-instance-actions`)
      return body.instanceActions.filter(({ action }: any) => action === 'stop')
    }

    const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

    beforeAll(async () => {
      const { steps, cloud } = scene
      await Promise.all(kinds.map(async (kind) => void (id[kind] = await steps.boot(cloud.quietHost))))
      expect((await steps.act(id.locked, { lock: null })).status).toBe(202)
    })
    afterAll(() => scene.cloud.tidy())

    it('had diagnostics while it ran: from 2.48 on they say so, below they are numbers alone', async () => {
      const { status, body } = await scene.steps.diagnostics(id.left, { minor: 48 })
      expect(status).toBe(200)
      expect(Object.keys(body).sort()).toEqual(diagnosticsKeys)
      expect(body.state).toBe('running')
      const before = await scene.steps.diagnostics(id.left, { minor: 47 })
      expect(before.status).toBe(200)
      expect(before.body).not.toHaveProperty('state')
    })

    it('shows as before, and its diagnostics are refused at once, naming the stored power', async () => {
      // At once: on a busy machine one after the other takes longer than the event of the first is held back.
      diedAt = Date.now()
      await Promise.all((['left', 'early', 'late', 'locked'] as const).map((kind) => scene.cloud.crashGuest(id[kind])))
      expect(await scene.steps.state(id.left)).toMatchObject(running)
      await refusesDiagnostics(id.left, 'running')
      expect((await scene.cloud.truth()).running).not.toHaveProperty(id.left)
    })

    it('runs again after a hard reboot while Nova still shows it active, the lock of a locked one in place', async () => {
      for (const kind of ['early', 'locked'] as const) {
        const reboot = await scene.steps.act(id[kind], hard)
        expect([reboot.status, reboot.text]).toEqual([202, ''])
      }
      for (const kind of ['early', 'locked'] as const) {
        await scene.steps.settled(id[kind], 'active')
        await scene.steps.until(async () => (await scene.steps.diagnostics(id[kind])).status === 200, 'it runs')
        expect(await scene.steps.state(id[kind])).toMatchObject(running)
      }
      expect(await scene.steps.show(id.locked)).toMatchObject({ locked: true })
    })

    it('is stopped by nova-compute once the event is let out: an action of nobody', async () => {
      const { lifecycleDelayMs } = scene.cloud.pace
      await scene.steps.settled(id.left, 'stopped')
      expect(await scene.steps.state(id.left)).toMatchObject(off)
      const [stop, ...others] = await stopsOf(id.left)
      expect(others).toEqual([])
      expect(stop).toMatchObject({ user_id: null, project_id: null })
      // In whole seconds.
      const tookMs = Date.parse(`${stop.start_time}Z`) + 1_000 - diedAt
      expect(tookMs).toBeGreaterThan(0.9 * lifecycleDelayMs)
      expect(tookMs).toBeLessThan(2 * lifecycleDelayMs + 10_000)
      const { events } = await scene.steps.action(id.left, stop.request_id)
      expect(events).toEqual([expect.objectContaining({ event: 'compute_stop_instance', result: 'Success' })])
      await refusesDiagnostics(id.left, 'shutdown')
    })

    it('when the hypervisor paused it shows active with power 3, and its diagnostics are refused', async () => {
      // Only once both events are let out: a real libvirtd stands still for this crash, and an event that is let out meanwhile is lost
      // (docs/nova.md §1.8).
      for (const kind of ['left', 'late'] as const) await scene.steps.settled(id[kind], 'stopped')
      await scene.cloud.crashGuest(id.unheard, 'unheard')
      unheardAt = Date.now()
      // Nova-compute hears again what its libvirtd tells once it has connected anew, which it does when it is asked for something.
      const hears = async (): Promise<boolean> => (await scene.steps.diagnostics(id.paused)).status === 200
      await scene.steps.until(hears, 'nova-compute is connected')
      await scene.cloud.pauseGuest(id.paused)
      await scene.steps.until(async () => (await scene.steps.state(id.paused)).power === 3, 'its power is written')
      expect(await scene.steps.state(id.paused)).toMatchObject({ ...running, power: 3 })
      await refusesDiagnostics(id.paused, 'paused')
    })

    it('was then stopped as little as one that had been rebooted before, or whose end nova-compute did not hear of', async () => {
      await pause(Math.max(0, unheardAt + 1.2 * scene.cloud.pace.lifecycleDelayMs - Date.now()))
      for (const kind of ['early', 'locked', 'unheard'] as const) {
        expect(await scene.steps.state(id[kind])).toMatchObject(running)
        expect(await stopsOf(id[kind])).toEqual([])
      }
      await refusesDiagnostics(id.unheard, 'running')
    })

    it('runs again after a start, and after a hard reboot, of what is shown off', async () => {
      await scene.steps.into(id.late, hard, 'active')
      await scene.steps.into(id.left, { 'os-start': null }, 'active')
      for (const kind of ['late', 'left'] as const) {
        expect((await scene.steps.diagnostics(id[kind])).status).toBe(200)
        expect(await scene.steps.state(id[kind])).toMatchObject(running)
      }
    })
  })

  describe('a hard reboot', () => {
    afterAll(() => scene.cloud.tidy())

    it.each([
      ['stopped', { 'os-stop': null }, 'stopped'],
      ['paused', { pause: null }, 'paused'],
      ['suspended', { suspend: null }, 'suspended'],
      ['in ERROR', { 'os-resetState': { state: 'error' } }, 'error'],
    ])('runs a guest that is %s', async (_what, order, vmState) => {
      const instance = await scene.steps.boot(scene.cloud.hosts[1])
      await scene.steps.into(instance, order, vmState)
      await scene.steps.into(instance, hard, 'active')
      expect(await scene.steps.state(instance)).toMatchObject(running)
      expect((await scene.steps.diagnostics(instance)).status).toBe(200)
    })

    it('of a rescued guest is refused, and a soft one of any that is not active', async () => {
      const { steps } = scene
      const instance = await steps.boot(scene.cloud.hosts[1])
      await steps.into(instance, { 'os-stop': null }, 'stopped')
      const soft = await steps.act(instance, { reboot: { type: 'SOFT' } })
      const why = (vm: string): string => `Cannot 'reboot' instance ${instance} while it is in vm_state ${vm}`
      expect([soft.status, soft.body.conflictingRequest.message]).toEqual([409, why('stopped')])
      await steps.into(instance, { rescue: null }, 'rescued')
      const rescued = await steps.act(instance, hard)
      expect([rescued.status, rescued.body.conflictingRequest.message]).toEqual([409, why('rescued')])
    })

    it('must say its type, and the type must be one', async () => {
      const instance = await scene.steps.boot(scene.cloud.hosts[1])
      for (const reboot of [{}, { type: 'WARM' }, null])
        expect((await scene.steps.act(instance, { reboot })).status).toBe(400)
    })

    it('is its owner’s right, unless the instance is locked; diagnostics are an administrator’s', async () => {
      const { steps, cloud } = scene
      const token = await tokenFor(cloud, cloud.plainCredentials)
      const instance = await steps.bootPlain(token)
      expect((await steps.act(instance, hard, 90, token)).status).toBe(202)
      await steps.settled(instance, 'active')
      expect((await steps.act(instance, { lock: null })).status).toBe(202)
      const refused = await steps.act(instance, hard, 90, token)
      expect([refused.status, refused.body.conflictingRequest.message]).toEqual([409, `Instance ${instance} is locked`])
      const asked = await steps.diagnostics(instance, { token })
      const message = "Policy doesn't allow os_compute_api:os-server-diagnostics to be performed."
      expect([asked.status, asked.body.forbidden]).toEqual([403, { code: 403, message }])
      const others = await steps.boot(cloud.hosts[1])
      expect((await steps.diagnostics(others, { token })).status).toBe(404)
    })
  })

  describe('while nova-compute is dead', () => {
    const host = (): string => scene.cloud.hosts[1]
    let instance = ''

    beforeAll(async () => {
      instance = await scene.steps.boot(host())
      await scene.cloud.isolate(host())
    })
    afterAll(async () => {
      await scene.steps.bringBack(host())
      await scene.cloud.tidy()
    })

    it('diagnostics end in a MessagingTimeout after the time limit of a call, whatever the guest does', async () => {
      const asked = Date.now()
      const [{ status, body }] = await Promise.all([
        scene.steps.diagnostics(instance),
        scene.cloud.crashGuest(instance),
      ])
      expect(status).toBe(500)
      expect(body.computeFault.message).toContain("<class 'oslo_messaging.exceptions.MessagingTimeout'>")
      expect(Date.now() - asked).toBeGreaterThan(0.9 * scene.cloud.pace.rpcTimeoutMs)
      expect(await scene.steps.state(instance)).toMatchObject(running)
    })

    it('a hard reboot is accepted, leaves its task, and takes that task over; nothing else does', async () => {
      const { steps } = scene
      expect((await steps.act(instance, hard)).status).toBe(202)
      expect(await steps.state(instance)).toMatchObject({ vm: 'active', task: 'rebooting_hard', status: 'HARD_REBOOT' })
      expect((await steps.act(instance, hard)).status).toBe(202)
      const stop = await steps.act(instance, { 'os-stop': null })
      expect([stop.status, stop.body.conflictingRequest.message]).toEqual([
        409,
        `Cannot 'stop' instance ${instance} while it is in task_state rebooting_hard`,
      ])
    })

    it('and a stop was ordered, a hard reboot is refused', async () => {
      const { steps } = scene
      await steps.into(instance, { 'os-resetState': { state: 'active' } }, 'active')
      expect((await steps.act(instance, { 'os-stop': null })).status).toBe(202)
      const refused = await steps.act(instance, hard)
      expect([refused.status, refused.body.conflictingRequest.message]).toEqual([
        409,
        `Cannot 'reboot' instance ${instance} while it is in task_state powering-off`,
      ])
    })
  })
}

/** Of a guest's diagnostics from 2.48 on. */
const diagnosticsKeys = [
  ...['config_drive', 'cpu_details', 'disk_details', 'driver', 'hypervisor', 'hypervisor_os', 'memory_details'],
  ...['nic_details', 'num_cpus', 'num_disks', 'num_nics', 'state', 'uptime'],
].sort()
