/** Confirmations of resizes that nobody carries out: what Nova shows of them, what may be ordered meanwhile, and what they do late. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nova, placement } from './cloud-under-test.ts'
import type { Scene } from './nova-contract.ts'

export function lateConfirmationSentences(scene: Scene): void {
  describe('a confirmation whose source dies before it takes it', () => {
    const id = {} as Record<'running' | 'stopped' | 'untouched' | 'sentBack', string>
    const evacuated = ['running', 'stopped'] as const
    const waiting = [...evacuated, 'untouched'] as const
    const requests: Record<string, string> = {}
    let later = ''
    const source = (): string => scene.cloud.hosts[2]

    beforeAll(async () => {
      const { steps, cloud } = scene
      const [dying, other] = cloud.hosts
      for (const kind of waiting) id[kind] = await steps.boot(source())
      id.sentBack = await steps.boot(other)
      await steps.into(id.stopped, { 'os-stop': null }, 'stopped')
      for (const instance of Object.values(id)) await steps.into(instance, { migrate: { host: dying } }, 'resized')
      await steps.kill(dying)
      await cloud.crash(source())
      for (const kind of waiting) {
        const reply = await steps.act(id[kind], { confirmResize: null })
        expect(reply.status).toBe(204)
        requests[kind] = reply.headers.get('x-openstack-request-id') ?? ''
      }
      later = await steps.order(source())
    })
    afterAll(async () => {
      const { steps, cloud } = scene
      await steps.bringBack(cloud.hosts[0])
      await steps.put(source(), { forced_down: false, status: 'enabled' })
      await steps.until(async () => (await steps.service(source())).state === 'up', 'up')
      await cloud.tidy()
    })

    const record = async (instance: string): Promise<any> =>
      (await scene.steps.migrations(`instance_uuid=${instance}`)).find((at) => at.migration_type === 'migration')
    const eventsOf = async (kind: (typeof waiting)[number]): Promise<any[]> =>
      (await nova(scene.cloud, 'GET', `/servers/${id[kind]}/os-instance-actions/${requests[kind]}`)).body.instanceAction
        .events
    const holdsRoom = async (consumer: string): Promise<boolean> =>
      Object.keys((await placement(scene.cloud, `/allocations/${consumer}`)).body.allocations).length > 0

    it('stays confirming without an event, and a second one is refused with 400', async () => {
      for (const kind of waiting) {
        expect((await scene.steps.act(id[kind], { confirmResize: null })).status).toBe(400)
        expect(await scene.steps.state(id[kind])).toMatchObject({ vm: 'resized', task: null })
        expect(await record(id[kind])).toMatchObject({ status: 'confirming', source_compute: source() })
        expect(await eventsOf(kind)).toEqual([])
      }
    })

    it('is not overtaken by a server that is ordered for the source later: Nova names its host once nova-compute has it', async () => {
      // The conductor files it when it has chosen the host, and then tells that.
      const actions = `/servers/${later}/os-instance-actions`
      const isFiled = async (): Promise<boolean> =>
        (await nova(scene.cloud, 'GET', actions)).body.instanceActions?.length > 0
      await scene.steps.until(async () => (await holdsRoom(later)) && (await isFiled()), 'chosen')
      expect(await scene.steps.state(later)).toMatchObject({ vm: 'building', host: null })
    })

    it('does not hinder an evacuation after a reset, except to the source: a guest of an unconfirmed resize is there', async () => {
      const { steps, cloud } = scene
      const [, other] = cloud.hosts
      expect((await steps.put(source(), { forced_down: true })).status).toBe(200)
      await steps.into(id.sentBack, { 'os-resetState': { state: 'active' } }, 'active')
      const request = await steps.evacuate(id.sentBack, 90, { host: other })
      expect((await steps.evacuated(id.sentBack)).status).toBe('failed')
      const { events } = await steps.action(id.sentBack, request)
      expect(events.map((event: any) => event.event)).not.toContain('compute_stop_instance')
      // The conductor files it a moment after the record has failed.
      await steps.until(async () => (await steps.show(id.sentBack)).fault !== undefined, 'its fault')
      expect((await steps.show(id.sentBack)).fault.message).toMatch(/already exists/)
      expect((await cloud.truth()).running[id.sentBack]).toBeUndefined()
      for (const kind of evacuated) {
        await steps.into(id[kind], { 'os-resetState': { state: 'active' } }, 'active')
        await steps.evacuate(id[kind], kind === 'stopped' ? Math.min(95, cloud.maxMinor) : 90)
        expect((await steps.evacuated(id[kind])).status).toBe('done')
      }
      if (cloud.maxMinor < 95) await steps.into(id.stopped, { 'os-stop': null }, 'stopped')
    })

    it('is taken when that nova-compute starts: it confirms what still waits, and what was evacuated goes to ERROR', async () => {
      const { steps, cloud } = scene
      const before = { running: await steps.state(id.running), stopped: await steps.state(id.stopped) }
      await cloud.start(source())
      await steps.settled(id.untouched, 'active')
      await steps.until(async () => (await steps.state(later)).host === source(), 'the later order is taken')
      await steps.until(async () => (await record(id.untouched)).status === 'confirmed', 'confirmed')
      for (const kind of evacuated) {
        await steps.settled(id[kind], 'error')
        expect(await steps.state(id[kind])).toMatchObject({ host: before[kind].host, power: before[kind].power })
        await steps.until(async () => (await record(id[kind])).status === 'error', 'its record')
        await steps.until(async () => !(await holdsRoom((await record(id[kind])).uuid)), 'its allocation is dropped')
        expect((await eventsOf(kind)).map(({ event, result }) => [event, result])).toEqual([
          ['compute_confirm_resize', 'Error'],
        ])
      }
      const { running } = await cloud.truth()
      expect([running[id.running], running[id.stopped]]).toEqual([[before.running.host], undefined])
    })

    it('is mended by a reset to active, and by a stop of what was stopped', async () => {
      const { steps } = scene
      for (const kind of evacuated) await steps.into(id[kind], { 'os-resetState': { state: 'active' } }, 'active')
      await steps.into(id.stopped, { 'os-stop': null }, 'stopped')
      const { running } = await scene.cloud.truth()
      expect(running[id.stopped]).toBeUndefined()
    })
  })
}
