/** A resize that is ordered in the seconds in which its host is dead and Nova does not know it yet. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { placement } from './cloud-under-test.ts'
import type { Scene } from './nova-contract.ts'

export function lostResizeSentences(scene: Scene): void {
  describe('a resize from a host that has just died', () => {
    const resize = { resize: { flavorRef: '2' } }
    let lost = ''
    let late = ''

    beforeAll(async () => {
      const { steps, cloud } = scene
      const [dying] = cloud.hosts
      lost = await steps.boot(dying)
      late = await steps.boot(dying)
      await cloud.crash(dying)
    })
    afterAll(async () => {
      await scene.steps.bringBack(scene.cloud.hosts[0])
      await scene.cloud.tidy()
    })

    const record = async (): Promise<any> =>
      (await scene.steps.migrations(`instance_uuid=${lost}`)).find((at) => at.migration_type === 'resize')

    async function allocated(): Promise<string[]> {
      const providers = (await placement(scene.cloud, '/resource_providers')).body.resource_providers
      const { allocations } = (await placement(scene.cloud, `/allocations/${lost}`)).body
      return Object.keys(allocations).map((uuid) => providers.find((at: any) => at.uuid === uuid).name)
    }

    it('is accepted and stays in resize_prep, its destination chosen and its instance on the dead host', async () => {
      const [dying] = scene.cloud.hosts
      expect((await scene.steps.act(lost, resize)).status).toBe(202)
      await scene.steps.until(async () => ((await record())?.dest_compute ?? null) !== null, 'a destination')
      expect(await record()).toMatchObject({ status: 'pre-migrating', source_compute: dying })
      expect(await scene.steps.state(lost)).toMatchObject({ vm: 'active', task: 'resize_prep', host: dying })
    })

    it('is refused with 409 once Nova knows that the host is down', async () => {
      expect((await scene.steps.put(scene.cloud.hosts[0], { forced_down: true })).status).toBe(200)
      const answer = await scene.steps.act(late, resize)
      expect(answer.status).toBe(409)
      expect(answer.body.conflictingRequest.message).toBe('Service is unavailable at this time.')
    })

    it('breaks the instance when its old host returns, although it was evacuated well meanwhile', async () => {
      const { steps, cloud } = scene
      const [dying] = cloud.hosts
      await steps.into(lost, { 'os-resetState': { state: 'active' } }, 'active')
      await steps.evacuate(lost, 90)
      await steps.evacuated(lost)
      const { host } = await steps.state(lost)
      await cloud.start(dying)
      await steps.until(async () => (await steps.state(lost)).vm === 'error', 'broken')
      expect(await steps.state(lost)).toMatchObject({ task: 'resize_migrating', host })
      expect(await record()).toMatchObject({ status: 'error' })
      expect((await cloud.truth()).running[lost]).toEqual([host])
      // Its allocation goes back to a host on which it is not.
      await steps.until(async () => (await allocated()).join() === dying, 'reverted')
    })
  })
}
