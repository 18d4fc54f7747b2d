/** The return of a host: what Placement keeps of a disable, and what a nova-compute that is started too early leaves behind. */
import { afterAll, describe, expect, it } from 'vitest'
import { nova, placement } from './cloud-under-test.ts'
import type { Scene } from './nova-contract.ts'

const disabled = 'COMPUTE_STATUS_DISABLED'

export function returnSentences(scene: Scene): void {
  describe('return of a host', () => {
    afterAll(() => scene.cloud.tidy())

    /** The traits of the host's node, by way of the hypervisor that its service names. */
    async function traits(host: string): Promise<string[]> {
      const listed = await nova(scene.cloud, 'GET', '/os-hypervisors/detail', undefined, {
        minor: Math.min(87, scene.cloud.maxMinor),
      })
      const node = listed.body.hypervisors.find((at: any) => at.service.host === host)
      const reply = await placement(scene.cloud, `/resource_providers/${node.id}/traits`)
      expect(reply.status).toBe(200)
      return reply.body.traits
    }

    it('finds a hypervisor by part of its name, and answers 404 when none has it', async () => {
      const [host] = scene.cloud.hosts
      const find = (pattern: string): ReturnType<typeof nova> =>
        nova(scene.cloud, 'GET', `/os-hypervisors/detail?hypervisor_hostname_pattern=${pattern}`, undefined, {
          minor: Math.min(87, scene.cloud.maxMinor),
        })
      const found = (await find(host.slice(1))).body.hypervisors
      expect(found.map((at: any) => at.service.host)).toContain(host)
      expect((await find('no-such-node')).status).toBe(404)
    })

    it('has Placement keep the scheduler off a host that is disabled while it is up, and let it back when it is enabled', async () => {
      const host = scene.cloud.hosts[2]
      await scene.steps.until(async () => (await scene.steps.service(host)).state === 'up', 'up')
      await scene.steps.put(host, { status: 'disabled', disabled_reason: 'contract' })
      await scene.steps.until(async () => (await traits(host)).includes(disabled), 'the trait is set')
      await scene.steps.put(host, { status: 'enabled' })
      await scene.steps.until(async () => !(await traits(host)).includes(disabled), 'the trait is gone')
    })

    it('needs one more start when nova-compute was started while an evacuation was under way', async () => {
      const { cloud, steps } = scene
      const [dying, other] = cloud.hosts
      const id = await steps.boot(dying)
      await cloud.fault(other, { slow: true })
      await steps.kill(dying)
      await steps.evacuate(id, 90, { host: other })
      const record = async (): Promise<any> =>
        (await steps.migrations(`instance_uuid=${id}&migration_type=evacuation`))[0]
      await steps.until(async () => (await record()).status === 'pre-migrating', 'claimed')
      await cloud.start(dying)
      await steps.until(async () => (await record()).status === 'completed', 'settled by the start, though it goes on')
      expect((await steps.state(id)).host).toBe(dying)
      await cloud.fault(other, null)
      await steps.until(async () => (await record()).status === 'done', 'the destination writes done over it')
      expect((await steps.state(id)).host).toBe(other)
      expect((await steps.put(dying, { forced_down: false })).status).toBe(400)
      await cloud.isolate(dying)
      await steps.bringBack(dying)
      expect((await record()).status).toBe('completed')
    })
  })
}
