/** Two hosts that die together: the order whose destination died before it took it, and what it does when that host returns. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nova } from './cloud-under-test.ts'
import type { Scene } from './nova-contract.ts'

export function staleOrderSentences(scene: Scene): void {
  describe('an evacuation whose destination dies before it takes it', () => {
    const id = {} as Record<'running' | 'stopped', string>
    const kinds = ['running', 'stopped'] as const
    let kept: string[] = []
    const stale = (): string => scene.cloud.hosts[2]

    beforeAll(async () => {
      const { steps, cloud } = scene
      const [dying] = cloud.hosts
      for (const kind of kinds) id[kind] = await steps.boot(dying)
      await steps.into(id.stopped, { 'os-stop': null }, 'stopped')
      const { services } = (await nova(cloud, 'GET', '/os-services?binary=nova-compute')).body
      kept = services.map((at: any) => at.host).filter((host: string) => host !== dying && host !== stale())
      await steps.kill(dying)
      // The scheduler has no other choice.
      for (const host of kept) await steps.put(host, { status: 'disabled' })
      await cloud.crash(stale())
      for (const kind of kinds) await steps.evacuate(id[kind], 90)
    })
    afterAll(async () => {
      const { steps, cloud } = scene
      for (const host of kept) await steps.put(host, { status: 'enabled' })
      await steps.bringBack(cloud.hosts[0])
      await steps.put(stale(), { forced_down: false, status: 'enabled' })
      await steps.until(async () => (await steps.service(stale())).state === 'up', 'up')
      await cloud.tidy()
    })

    const records = (instance: string): Promise<any[]> =>
      scene.steps.migrations(`instance_uuid=${instance}&migration_type=evacuation`)

    it('stays accepted without a destination, its instance rebuilding on its old host', async () => {
      const [dying] = scene.cloud.hosts
      for (const kind of kinds) {
        await scene.steps.until(async () => (await scene.steps.allocated(id[kind])).length === 2, 'scheduled')
        expect(await records(id[kind])).toMatchObject([
          { status: 'accepted', source_compute: dying, dest_compute: null },
        ])
        expect(await scene.steps.state(id[kind])).toMatchObject({ task: 'rebuilding', host: dying })
      }
    })

    it('is known to Placement alone: the instance is allocated on its old host and on the chosen one', async () => {
      const [dying] = scene.cloud.hosts
      for (const kind of kinds) expect(await scene.steps.allocated(id[kind])).toEqual([dying, stale()].sort())
    })

    it('leaves its record to the next evacuation, whose own stays accepted', async () => {
      const { steps, cloud } = scene
      const [dying] = cloud.hosts
      expect((await steps.put(stale(), { forced_down: true })).status).toBe(200)
      for (const host of kept) await steps.put(host, { status: 'enabled' })
      for (const kind of kinds) {
        await steps.into(id[kind], { 'os-resetState': { state: 'active' } }, 'active')
        await steps.evacuate(id[kind], kind === 'stopped' ? Math.min(95, cloud.maxMinor) : 90)
        await steps.until(async () => (await records(id[kind])).some(({ status }) => status === 'done'), 'done')
        const { host } = await steps.state(id[kind])
        expect(kept).toContain(host)
        expect(await records(id[kind])).toMatchObject([
          { status: 'accepted', dest_compute: null },
          { status: 'done', source_compute: dying, dest_compute: host },
        ])
        expect(await scene.steps.allocated(id[kind])).toEqual([dying, stale(), host].sort())
      }
      if (cloud.maxMinor < 95) await steps.into(id.stopped, { 'os-stop': null }, 'stopped')
    })

    it('is taken when that nova-compute starts: its instance goes to ERROR, and the record that is done to failed', async () => {
      const { steps, cloud } = scene
      const [dying] = cloud.hosts
      const landed = { running: '', stopped: '' }
      for (const kind of kinds) landed[kind] = (await steps.state(id[kind])).host
      await cloud.start(stale())
      for (const kind of kinds) {
        await steps.until(async () => (await steps.state(id[kind])).vm === 'error', 'broken')
        await steps.until(async () => (await scene.steps.allocated(id[kind])).length === 2, 'its allocation is dropped')
        expect(await steps.state(id[kind])).toEqual({
          vm: 'error',
          task: 'rebuilding',
          power: 0,
          host: landed[kind],
          status: 'REBUILD',
        })
        expect(await records(id[kind])).toMatchObject([
          { status: 'accepted', dest_compute: null },
          { status: 'failed', dest_compute: stale() },
        ])
        expect(await scene.steps.allocated(id[kind])).toEqual([dying, landed[kind]].sort())
      }
      const { running } = await cloud.truth()
      expect([running[id.running], running[id.stopped]]).toEqual([[landed.running], undefined])
    })

    it('is mended by a reset to active, and by a stop of what was stopped; the power of the other one is read later', async () => {
      const { steps } = scene
      for (const kind of kinds) await steps.into(id[kind], { 'os-resetState': { state: 'active' } }, 'active')
      await steps.into(id.stopped, { 'os-stop': null }, 'stopped')
      expect((await steps.state(id.stopped)).power).toBe(4)
      expect((await steps.state(id.running)).power).toBe(0)
    })

    it('is avoided by a disable of its dying host, in force at once, though Nova answers only after the time limit of a call to it', async () => {
      const { steps, cloud } = scene
      const shown = async (): Promise<string> => (await steps.service(stale())).status
      await steps.put(stale(), { forced_down: false })
      await steps.until(async () => (await steps.service(stale())).state === 'up', 'up')
      await cloud.crash(stale())
      const asked = Date.now()
      const put = steps.put(stale(), { status: 'disabled', disabled_reason: 'contract' })
      await steps.until(async () => (await shown()) === 'disabled', 'disabled')
      const shownAfter = Date.now() - asked
      expect((await put).status).toBe(200)
      expect(Date.now() - asked).toBeGreaterThan(0.9 * cloud.pace.rpcTimeoutMs)
      expect(shownAfter).toBeLessThan(0.5 * cloud.pace.rpcTimeoutMs)
      await cloud.start(stale())
    })

    it('never had a guest running twice', async () => {
      const mine = new Set(Object.values(id))
      expect((await scene.cloud.truth()).doubles.filter((at) => mine.has(at.uuid))).toEqual([])
    })
  })

  describe('two evacuations of one instance that wait for two dead hosts', () => {
    let id = ''
    const others = (): string[] => scene.cloud.hosts.slice(1)
    const quiet = (): string => scene.cloud.quietHost

    /** Orders it while the scheduler has no choice but this host. */
    async function sentTo(host: string): Promise<void> {
      const { steps } = scene
      for (const each of [...others(), quiet()])
        await steps.put(each, { status: each === host ? 'enabled' : 'disabled' })
      if (host !== quiet()) await scene.cloud.crash(host)
      await steps.evacuate(id, 90)
    }

    beforeAll(async () => {
      const { steps, cloud } = scene
      id = await steps.boot(cloud.hosts[0])
      await steps.kill(cloud.hosts[0])
      for (const host of others()) {
        await sentTo(host)
        await steps.until(async () => (await scene.steps.allocated(id)).includes(host), 'scheduled')
        await steps.put(host, { forced_down: true })
        await steps.into(id, { 'os-resetState': { state: 'active' } }, 'active')
      }
      await sentTo(quiet())
      await steps.until(async () => (await steps.state(id)).host === quiet(), 'landed')
    })
    afterAll(async () => {
      const { steps, cloud } = scene
      const [dying] = cloud.hosts
      // A start of the dead host completes one record of an instance, and this one has three (docs/nova.md §4.4).
      for (let completed = 0; completed < 2; completed++) {
        const before = (await steps.service(dying)).updated_at
        await cloud.start(dying)
        await steps.until(async () => (await steps.service(dying)).updated_at > before, 'it beats')
        await cloud.isolate(dying)
      }
      await steps.bringBack(dying)
      for (const host of others()) {
        await steps.put(host, { forced_down: false, status: 'enabled' })
        await steps.until(async () => (await steps.service(host)).state === 'up', 'up')
      }
      await steps.put(quiet(), { status: 'enabled' })
      await cloud.tidy()
    })

    it('run its guest twice: the first that fails leaves the task that the second expects', async () => {
      const { steps, cloud } = scene
      const [first, second] = others()
      await cloud.start(first!)
      await steps.until(async () => (await steps.state(id)).vm === 'error', 'broken')
      expect(await steps.state(id)).toMatchObject({ task: 'rebuilding', host: quiet() })
      await cloud.start(second!)
      await steps.until(async () => (await steps.state(id)).host === second, 'carried out')
      await steps.until(async () => (await steps.state(id)).vm === 'active', 'active')
      expect((await cloud.truth()).running[id]?.toSorted()).toEqual([second, quiet()].toSorted())
    })
  })
}
