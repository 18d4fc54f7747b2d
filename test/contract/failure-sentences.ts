/** Evacuation that fails: what is overwritten, where the guest is, what a retry finds. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nova } from './cloud-under-test.ts'
import type { Scene } from './nova-contract.ts'

export function failureSentences(scene: Scene): void {
  describe('failed evacuation', () => {
    let ids: string[] = []
    const take = (): string => {
      const id = ids.pop()
      if (id === undefined) throw new Error('boot more instances in beforeAll')
      return id
    }
    let stuckResize = ''
    let retried = ''

    beforeAll(async () => {
      const { steps, cloud } = scene
      const [dying, other] = cloud.hosts
      ids = await Promise.all(Array.from({ length: 7 }, () => steps.boot(dying)))
      stuckResize = await steps.boot(other)
      await steps.into(stuckResize, { migrate: { host: dying } }, 'resized')
      await steps.kill(dying)
    })
    afterAll(() => scene.cloud.tidy())

    it('to a host that cannot spawn: migration failed, ERROR, power 0, still on the source', async () => {
      const [dying, other] = scene.cloud.hosts
      retried = take()
      await scene.cloud.fault(other, { fail: true })
      const requestId = await scene.steps.evacuate(retried, 90, { host: other })
      expect((await scene.steps.evacuated(retried)).status).toBe('failed')
      await scene.steps.settled(retried, 'error')
      expect(await scene.steps.state(retried)).toMatchObject({ power: 0, host: dying, status: 'ERROR' })
      expect((await scene.steps.show(retried)).fault).toMatchObject({
        code: 400,
        message: 'Failed to deploy instance: injected: this host cannot spawn',
      })
      const action = await scene.steps.action(retried, requestId)
      expect(action.message).toBe('Error')
      expect(action.events.map((event: any) => [event.event, event.result])).toEqual([
        ['compute_rebuild_instance', 'Error'],
        ['rebuild_server', 'Success'],
      ])
      expect(action.events[0].details).toEqual(expect.any(String))
      await scene.cloud.fault(other, null)
    })

    it('once more after a reset to active lands as asked', async () => {
      await scene.steps.into(retried, { 'os-resetState': { state: 'active' } }, 'active')
      await scene.steps.evacuate(retried, Math.min(95, scene.cloud.maxMinor))
      expect((await scene.steps.evacuated(retried)).status).toBe('done')
      expect((await scene.steps.state(retried)).vm).toBe(scene.cloud.maxMinor >= 95 ? 'stopped' : 'active')
    })

    it('without a valid host: migration error, ERROR, power as it was, and the wished-for host as dest_compute all the same', async () => {
      const id = take()
      const spare = scene.cloud.hosts[2]
      await scene.steps.put(spare, { status: 'disabled' })
      const requestId = await scene.steps.evacuate(id, 90, { host: spare })
      expect(await scene.steps.evacuated(id)).toMatchObject({ status: 'error', dest_compute: spare })
      await scene.steps.settled(id, 'error')
      expect((await scene.steps.state(id)).power).toBe(1)
      expect((await scene.steps.show(id)).fault.message).toContain('No valid host was found')
      const action = await scene.steps.action(id, requestId)
      expect(action.events.map((event: any) => [event.event, event.result])).toEqual([['rebuild_server', 'Error']])
      await scene.steps.put(spare, { status: 'enabled' })
    })

    it('whose stop after the spawn fails leaves the guest running on the destination', async () => {
      const [dying, other] = scene.cloud.hosts
      if (scene.cloud.maxMinor < 95) return
      const id = take()
      await scene.cloud.fault(other, { stopFail: true })
      const requestId = await scene.steps.evacuate(id, 95, { host: other })
      expect((await scene.steps.evacuated(id)).status).toBe('failed')
      await scene.steps.settled(id, 'error')
      expect(await scene.steps.state(id)).toMatchObject({ power: 1, host: dying })
      expect((await scene.cloud.truth()).running[id]).toEqual([other])
      const action = await scene.steps.action(id, requestId)
      expect(action.events.map((event: any) => [event.event, event.result])).toEqual([
        ['compute_stop_instance', 'Error'],
        ['compute_rebuild_instance', 'Error'],
        ['rebuild_server', 'Success'],
      ])
      await scene.cloud.fault(other, null)
      await scene.steps.evacuate(id, 90, { host: other })
      expect((await scene.steps.evacuated(id)).status).toBe('failed')
      await scene.steps.until(
        async () => (await scene.steps.show(id)).fault?.message.includes('already exists'),
        'the guest is there already',
      )
    })

    it('twice at once: Nova takes both orders, at most one ends well, and the guest runs on both hosts', async () => {
      const [, other, third] = scene.cloud.hosts
      const id = take()
      for (const host of [other, third]) await scene.cloud.fault(host, { slow: true })
      await scene.steps.evacuate(id, 90, { host: other })
      await scene.steps.until(async () => (await scene.steps.state(id)).task === 'rebuild_spawning', 'the first spawns')
      await scene.steps.evacuate(id, 90, { host: third })
      const query = `instance_uuid=${id}&migration_type=evacuation`
      await scene.steps.until(
        async () => (await scene.steps.migrations(query)).every((at) => at.status === 'pre-migrating'),
        'both claimed',
      )
      for (const host of [other, third]) await scene.cloud.fault(host, null)
      const over = ['done', 'failed', 'error', 'completed']
      await scene.steps.until(
        async () => (await scene.steps.migrations(query)).every((at) => over.includes(at.status)),
        'both over',
      )
      const statuses = (await scene.steps.migrations(query)).map((at) => at.status)
      // Which write comes last is a race of two computes: ERROR or ACTIVE, a record `done` or none. What is certain is the harm.
      expect(statuses).toContain('failed')
      const { running, doubles } = await scene.cloud.truth()
      expect(running[id]?.sort()).toEqual([other, third])
      expect(doubles.filter((at) => at.uuid === id).length).toBeGreaterThan(0)
    })

    it('confirmResize with the source down is 409 without a reason of its own', async () => {
      const source = scene.cloud.hosts[1]
      await scene.steps.put(source, { forced_down: true })
      const reply = await scene.steps.act(stuckResize, { confirmResize: null })
      expect([reply.status, reply.body.conflictingRequest.message]).toEqual([
        409,
        'Service is unavailable at this time.',
      ])
      await scene.steps.put(source, { forced_down: false })
    })

    it('confirmResize once more is refused although the first was taken: 400 while that is carried out, 409 after it', async () => {
      const first = await scene.steps.act(stuckResize, { confirmResize: null })
      const second = await scene.steps.act(stuckResize, { confirmResize: null })
      expect(first.status).toBe(204)
      // Which of the two it is depends on how soon the source is done.
      expect([400, 409]).toContain(second.status)
      await scene.steps.until(async () => (await scene.steps.state(stuckResize)).vm !== 'resized', 'it is confirmed')
      expect((await scene.steps.act(stuckResize, { confirmResize: null })).status).toBe(409)
    })

    it('whose task is reset while it spawns has failed, without an event of a stop, and its guest runs on the destination', async () => {
      const [dying, other] = scene.cloud.hosts
      const id = take()
      await scene.cloud.fault(other, { slow: true })
      const requestId = await scene.steps.evacuate(id, 90, { host: other })
      await scene.steps.until(async () => (await scene.steps.state(id)).task === 'rebuild_spawning', 'it spawns')
      expect((await scene.steps.act(id, { 'os-resetState': { state: 'active' } })).status).toBe(202)
      await scene.cloud.fault(other, null)
      expect((await scene.steps.evacuated(id)).status).toBe('failed')
      await scene.steps.settled(id, 'error')
      expect(await scene.steps.state(id)).toMatchObject({ host: dying })
      expect((await scene.steps.show(id)).fault.message).toMatch(/Conflict updating instance/)
      const action = await scene.steps.action(id, requestId)
      expect(action.events.map((event: any) => event.event)).not.toContain('compute_stop_instance')
      expect((await scene.cloud.truth()).running[id]).toEqual([other])
    })

    it('an instance deleted on a dead host is gone at once, its migrations with it', async () => {
      expect((await nova(scene.cloud, 'DELETE', `/servers/${retried}`)).status).toBe(204)
      await scene.steps.until(
        async () => (await nova(scene.cloud, 'GET', `/servers/${retried}`)).status === 404,
        'gone',
      )
      await scene.steps.until(
        async () => (await scene.steps.migrations(`instance_uuid=${retried}`)).length === 0,
        'migrations gone',
      )
      const onDeadHost = take()
      expect((await nova(scene.cloud, 'DELETE', `/servers/${onDeadHost}`)).status).toBe(204)
      await scene.steps.until(
        async () => (await nova(scene.cloud, 'GET', `/servers/${onDeadHost}`)).status === 404,
        'gone',
      )
    })
  })
}
