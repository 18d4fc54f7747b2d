/** What acts on a guest, or rebuilds it, and is ordered as its host dies: it waits for the nova-compute there, wherever the instance is by then. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nova } from './cloud-under-test.ts'
import type { Scene } from './nova-contract.ts'

const hard = { reboot: { type: 'HARD' } }

export function latePowerSentences(scene: Scene): void {
  describe('an order that acts on a guest of a host that has just died', () => {
    const orders = {
      started: { 'os-start': null },
      stopped: { 'os-stop': null },
      rebooted: hard,
      again: hard,
      resumed: { resume: null },
      unrescued: { unrescue: null },
      rescued: { rescue: {} },
      rebuilt: { rebuild: { imageRef: '00000000-0000-0000-0000-0000000000a1' } },
    }
    type Kind = keyof typeof orders
    const kinds = Object.keys(orders) as Kind[]
    const tasks = {
      started: 'powering-on',
      stopped: 'powering-off',
      rebooted: 'rebooting_hard',
      again: 'rebooting_hard',
      resumed: 'resuming',
      unrescued: 'unrescuing',
      rescued: 'rescuing',
      rebuilt: 'rebuilding',
    }
    const id = {} as Record<Kind, string>
    const requests = {} as Record<Kind, string>
    let landing = ''

    beforeAll(async () => {
      const { steps, cloud } = scene
      const [dying] = cloud.hosts
      for (const kind of kinds) id[kind] = await steps.boot(dying)
      landing = await steps.boot(dying)
      await steps.into(id.started, { 'os-stop': null }, 'stopped')
      await steps.into(id.resumed, { suspend: null }, 'suspended')
      await steps.into(id.unrescued, { rescue: {} }, 'rescued')
      await cloud.crash(dying)
    })
    afterAll(async () => {
      const { steps, cloud } = scene
      const [dying, , other] = cloud.hosts
      await cloud.start(other)
      await steps.until(async () => (await steps.service(other)).state === 'up', `${other} up`)
      await steps.put(dying, { forced_down: false, status: 'enabled' })
      await steps.until(async () => (await steps.service(dying)).state === 'up', `${dying} up`)
      await cloud.tidy()
    })

    /** What a nova-compute did with it. The conductor's own event of a rebuild is there before. */
    const eventOf = async (kind: Kind): Promise<any> => {
      let found: any
      await scene.steps.until(async () => {
        const { events } = await scene.steps.action(id[kind], requests[kind])
        found = events.find(({ event }: { event: string }) => event.startsWith('compute_'))
        return found !== undefined
      }, `${kind} taken`)
      return found
    }

    it('is accepted and leaves its task, and does not hinder an evacuation', async () => {
      const { steps, cloud } = scene
      const [dying, kept, other] = cloud.hosts
      // At once: before Nova knows that the host is down.
      await Promise.all(
        kinds.map(async (kind) => {
          const reply = await steps.act(id[kind], orders[kind])
          expect([kind, reply.status]).toEqual([kind, kind === 'rescued' ? 200 : 202])
          requests[kind] = reply.headers.get('x-openstack-request-id') ?? ''
        }),
      )
      for (const kind of kinds) expect(await steps.state(id[kind])).toMatchObject({ task: tasks[kind], host: dying })
      expect((await steps.put(dying, { forced_down: true })).status).toBe(200)
      for (const kind of ['resumed', 'unrescued'] as const)
        expect((await steps.act(id[kind], { 'os-resetState': { state: 'active' } })).status).toBe(202)
      for (const kind of kinds) {
        const host = kind === 'again' ? other : kept
        await steps.evacuate(id[kind], 90, { host })
        expect((await steps.evacuated(id[kind])).status).toBe('done')
        expect(await steps.state(id[kind])).toMatchObject({ task: null, host })
      }
    })

    it('is accepted for that host also in the moment in which an evacuation ends, and then leaves its task on the instance, which then refuses every other order', async () => {
      const { steps, cloud } = scene
      const [dying, kept] = cloud.hosts
      await cloud.fault(kept, { slowMove: true })
      await steps.evacuate(landing, 90, { host: kept })
      const spawned = { vm: 'active', task: null, host: dying }
      await steps.until(async () => {
        const { vm, task, host } = await steps.state(landing)
        return JSON.stringify({ vm, task, host }) === JSON.stringify(spawned)
      }, 'spawned')
      const ordered = await steps.act(landing, { 'os-stop': null })
      expect(ordered.status).toBe(202)
      await cloud.fault(kept, null)
      expect((await steps.evacuated(landing)).status).toBe('done')
      await steps.until(async () => (await steps.state(landing)).host === kept, 'moved')
      expect(await steps.state(landing)).toMatchObject({ vm: 'active', task: 'powering-off' })
      const request = ordered.headers.get('x-openstack-request-id') ?? ''
      const shown = await nova(cloud, 'GET', `/servers/${landing}/os-instance-actions/${request}`)
      expect(shown.body.instanceAction).toMatchObject({ action: 'stop', events: [] })
      expect((await steps.act(landing, { 'os-stop': null })).status).toBe(409)
      expect((await steps.act(landing, { 'os-resetState': { state: 'active' } })).status).toBe(202)
      await steps.into(landing, { 'os-stop': null }, 'stopped')
    })

    it('is carried out when that nova-compute starts: a start before its task is looked at, a reboot only over another reboot', async () => {
      const { steps, cloud } = scene
      const [dying, kept, other] = cloud.hosts
      await cloud.isolate(other)
      expect((await steps.act(id.again, hard)).status).toBe(202)
      await cloud.start(dying)
      expect(await eventOf('started')).toMatchObject({ host: dying, result: 'Error' })
      expect(await eventOf('rebooted')).toMatchObject({ host: dying, result: 'Error' })
      for (const kind of ['started', 'rebooted'] as const)
        expect((await eventOf(kind)).details).toMatch(/^Conflict updating instance .* Actual: \{'task_state': None\}$/)
      expect(await eventOf('again')).toMatchObject({ host: dying, result: 'Success' })
      const { running } = await cloud.truth()
      expect(running[id.started]).toEqual([dying])
      expect(running[id.rebooted]).toEqual([kept])
      expect(running[id.again]?.toSorted()).toEqual([dying, other].toSorted())
      expect(await steps.state(id.started)).toMatchObject({ vm: 'stopped', task: null, host: kept })
      expect(await steps.state(id.again)).toMatchObject({ vm: 'active', task: null, host: other })
    })

    it('is carried out alike where it was a resume, an unrescue or a rescue: the guest is started before the task is looked at', async () => {
      const { cloud } = scene
      const [dying, kept] = cloud.hosts
      const late = ['resumed', 'unrescued', 'rescued'] as const
      for (const kind of late) await eventOf(kind)
      const { running } = await cloud.truth()
      for (const [kind, task] of [
        ['resumed', 'resuming'],
        ['unrescued', 'unrescuing'],
        ['rescued', 'rescuing'],
      ] as const) {
        expect(await eventOf(kind)).toMatchObject({ host: dying, result: 'Error' })
        expect((await eventOf(kind)).details).toMatch(
          new RegExp(`Expected: \\{'task_state': \\['${task}'\\]\\}. Actual: \\{'task_state': None\\}$`),
        )
        expect(running[id[kind]]?.toSorted()).toEqual([dying, kept].toSorted())
      }
    })

    it('puts an instance in ERROR that it does not touch, where it was a rebuild', async () => {
      const { steps, cloud } = scene
      const [dying, kept] = cloud.hosts
      expect(await eventOf('rebuilt')).toMatchObject({
        event: 'compute_rebuild_instance',
        host: dying,
        result: 'Error',
      })
      expect(await steps.state(id.rebuilt)).toMatchObject({ vm: 'error', task: 'rebuilding', power: 0, host: kept })
      expect((await cloud.truth()).running[id.rebuilt]).toEqual([kept])
    })

    it('shows an instance stopped that runs elsewhere, where it was a stop', async () => {
      const { steps, cloud } = scene
      const [dying, kept] = cloud.hosts
      expect(await eventOf('stopped')).toMatchObject({ host: dying, result: 'Success' })
      expect(await steps.state(id.stopped)).toMatchObject({ vm: 'stopped', task: null, power: 0, host: kept })
      expect((await cloud.truth()).running[id.stopped]).toEqual([kept])
    })
  })
}
