/** os-services: what the monitor polls and the executor writes. */
import { describe, expect, it } from 'vitest'
import { nova } from './cloud-under-test.ts'
import type { Scene } from './nova-contract.ts'

export function serviceSentences(scene: Scene): void {
  describe('os-services', () => {
    it('lists computes, conductor and scheduler in one answer', async () => {
      const reply = await nova(scene.cloud, 'GET', '/os-services')
      const binaries = new Set(reply.body.services.map((service: any) => service.binary))
      expect(binaries).toEqual(new Set(['nova-compute', 'nova-conductor', 'nova-scheduler']))
    })

    it('has forced_down from 2.11 and UUIDs from 2.53', async () => {
      const [host] = scene.cloud.hosts
      const old = await scene.steps.service(host, 1)
      expect(old.id).toBeTypeOf('number')
      expect(old).not.toHaveProperty('forced_down')
      expect(await scene.steps.service(host, 11)).toMatchObject({ forced_down: false })
      const now = await scene.steps.service(host)
      expect(now.id).toMatch(/^[0-9a-f-]{36}$/)
      expect(Object.keys(now).sort()).toEqual([
        'binary',
        'disabled_reason',
        'forced_down',
        'host',
        'id',
        'state',
        'status',
        'updated_at',
        'zone',
      ])
      expect(now).toMatchObject({ binary: 'nova-compute', host, status: 'enabled', state: 'up', disabled_reason: null })
      expect(now.updated_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/)
    })

    it('ignores unknown query keys below 2.75 and refuses them from there', async () => {
      expect((await nova(scene.cloud, 'GET', '/os-services?foo=1', undefined, { minor: 74 })).status).toBe(200)
      expect((await nova(scene.cloud, 'GET', '/os-services?foo=1', undefined, { minor: 75 })).status).toBe(400)
    })

    it.each([
      ['only a reason', { disabled_reason: 'x' }, 'No updates were requested'],
      ['nothing', {}, 'No updates were requested'],
      ['a reason with enabled', { status: 'enabled', disabled_reason: 'x' }, "'disabled_reason' with status 'enabled'"],
      ['an unknown status', { status: 'foo' }, 'Invalid input for field/attribute status'],
    ])('refuses a PUT with %s', async (_what, change, message) => {
      const reply = await scene.steps.put(scene.cloud.hosts[2], change)
      expect(reply.status).toBe(400)
      expect(reply.body.badRequest.message).toContain(message)
    })

    it('refuses a PUT on a bad id, an unknown id, and anything but nova-compute', async () => {
      const put = (id: string): ReturnType<typeof nova> =>
        nova(scene.cloud, 'PUT', `/os-services/${id}`, { status: 'enabled' })
      expect((await put('abc')).body.badRequest.message).toBe('Invalid uuid abc')
      expect((await put('00000000-0000-0000-0000-00000000dead')).status).toBe(404)
      const { services } = (await nova(scene.cloud, 'GET', '/os-services?binary=nova-conductor')).body
      const conductor = await put(services[0].id)
      expect(conductor.status).toBe(400)
      expect(conductor.body.badRequest.message).toContain('Only nova-compute services can be updated')
    })

    it('deletes no compute service while an instance is on its host', async () => {
      const [, , host] = scene.cloud.hosts
      await scene.steps.boot(host)
      const remove = (id: string): ReturnType<typeof nova> => nova(scene.cloud, 'DELETE', `/os-services/${id}`)
      const refused = await remove((await scene.steps.service(host)).id)
      expect(refused.status).toBe(409)
      expect(refused.body.conflictingRequest.message).toContain('that is hosting instances')
      expect((await remove('abc')).body.badRequest.message).toBe('Invalid uuid abc')
      expect((await remove('00000000-0000-0000-0000-00000000dead')).status).toBe(404)
      expect(await scene.steps.service(host)).toBeDefined()
    })

    it('takes forced_down and a disable in one PUT, repeats gladly, and answers with the whole record', async () => {
      const host = scene.cloud.hosts[2]
      const change = { forced_down: true, status: 'disabled', disabled_reason: 'contract' }
      for (let i = 0; i < 2; i++) {
        const reply = await scene.steps.put(host, change)
        expect(reply.status).toBe(200)
        expect(reply.body.service).toMatchObject({ host, ...change, state: 'down' })
      }
    })

    it('shows a forced-down host as down while its heartbeat moves updated_at: the sign of a live nova-compute', async () => {
      const host = scene.cloud.hosts[2]
      const { updated_at: before } = await scene.steps.service(host)
      await scene.steps.until(async () => (await scene.steps.service(host)).updated_at > before, 'the heartbeat moves')
      expect((await scene.steps.service(host)).state).toBe('down')
    })

    it('clears both again, and the reason with them', async () => {
      const host = scene.cloud.hosts[2]
      const reply = await scene.steps.put(host, { forced_down: false, status: 'enabled' })
      expect(reply.body.service).toMatchObject({ forced_down: false, status: 'enabled', disabled_reason: null })
      await scene.steps.until(async () => (await scene.steps.service(host)).state === 'up', 'up again')
    })
  })
}
