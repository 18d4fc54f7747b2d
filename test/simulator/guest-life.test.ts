/** Guests that fail on hosts that live. What Nova shows of it is the contract's (test/contract); here is what only a script can order. */
import { afterEach, describe, expect, it } from 'vitest'
import { stage, type Stage } from './scene.ts'

let at: Stage
afterEach(() => at.close())

const timings = { lifecycleDelayMs: 15_000, powerMs: 1_000, rebootMs: 2_000, agentStartMs: 1_000, rpcTimeoutMs: 60_000 }

async function guest(options: Parameters<typeof stage>[0] = {}): Promise<string> {
  at = await stage({ timings, ...options })
  return at.simulator.addInstance({ host: 'cmp01', name: 'web' }).uuid
}

const stopsOf = (uuid: string): unknown[] =>
  (at.simulator.world.actions.get(uuid) ?? []).filter(({ action }) => action === 'stop')

const diagnostics = (uuid: string): ReturnType<Stage['nova']> => at.nova('GET', `/servers/${uuid}/diagnostics`)

describe('a guest whose process dies', () => {
  it('is shown as running until nova-compute lets the event out, then with a task, then off', async () => {
    const uuid = await guest()
    at.simulator.crashGuest(uuid)
    expect(at.simulator.truth().running[uuid]).toBeUndefined()
    await at.clock.advance(14_900)
    expect(at.simulator.instance(uuid)).toMatchObject({ vmState: 'active', taskState: null, powerState: 1 })
    await at.clock.advance(200)
    expect(at.simulator.instance(uuid)).toMatchObject({ vmState: 'active', taskState: 'powering-off' })
    await at.clock.advance(1_000)
    expect(at.simulator.instance(uuid)).toMatchObject({ vmState: 'stopped', taskState: null, powerState: 4 })
  })

  it('whose nova-compute missed the event is found by the next power sync', async () => {
    const uuid = await guest()
    at.simulator.crashGuest(uuid, { unheard: true })
    await at.clock.advance(599_000)
    expect(at.simulator.instance(uuid)).toMatchObject({ vmState: 'active', powerState: 1 })
    await at.clock.advance(3_000)
    expect(at.simulator.instance(uuid)).toMatchObject({ vmState: 'stopped', powerState: 4 })
  })

  it('is not found any more once the cloud is closed: no sync keeps a process alive', async () => {
    const uuid = await guest()
    at.simulator.crashGuest(uuid, { unheard: true })
    await at.simulator.close()
    await at.clock.advance(1_200_000)
    expect(at.simulator.instance(uuid)).toMatchObject({ vmState: 'active', powerState: 1 })
  })

  it('is stopped by nobody once it was started before the event came out', async () => {
    const uuid = await guest()
    at.simulator.crashGuest(uuid)
    await at.nova('POST', `/servers/${uuid}/action`, { reboot: { type: 'HARD' } })
    await at.clock.advance(60_000)
    expect(at.simulator.instance(uuid)).toMatchObject({ vmState: 'active', taskState: null, powerState: 1 })
    expect(stopsOf(uuid)).toEqual([])
  })

  it('counts its 15 seconds anew when it dies again', async () => {
    const uuid = await guest()
    at.simulator.crashGuest(uuid, { again: { times: 1, afterMs: 5_000 } })
    await at.nova('POST', `/servers/${uuid}/action`, { reboot: { type: 'HARD' } })
    await at.clock.advance(2_100)
    expect((await diagnostics(uuid)).status).toBe(200)
    await at.clock.advance(5_000)
    expect((await diagnostics(uuid)).status).toBe(409)
    await at.clock.advance(14_000)
    expect(stopsOf(uuid)).toEqual([])
    await at.clock.advance(3_000)
    expect(stopsOf(uuid)).toHaveLength(1)
    await at.nova('POST', `/servers/${uuid}/action`, { 'os-start': null })
    await at.clock.advance(60_000)
    expect(at.simulator.instance(uuid)).toMatchObject({ vmState: 'active', powerState: 1 })
  })

  it('stays as Nova has it while its nova-compute is dead, whose diagnostics then time out', async () => {
    const uuid = await guest()
    at.simulator.isolate('cmp01')
    at.simulator.crashGuest(uuid)
    const asked = diagnostics(uuid)
    await at.clock.advance(61_000)
    expect((await asked).status).toBe(500)
    expect((await asked).body.computeFault.message).toContain('MessagingTimeout')
    expect(at.simulator.instance(uuid)).toMatchObject({ vmState: 'active', taskState: null, powerState: 1 })
  })

  it('is not looked after by a nova-compute that died in the meantime', async () => {
    const uuid = await guest()
    at.simulator.crashGuest(uuid)
    at.simulator.isolate('cmp01')
    await at.clock.advance(5_000)
    at.simulator.start('cmp01')
    await at.clock.advance(60_000)
    expect(at.simulator.instance(uuid)).toMatchObject({ vmState: 'active', taskState: null, powerState: 1 })
  })

  it.each(['error', 'resized-running', 'rescued'] as const)(
    'in %s has its power written down, and no stop',
    async (state) => {
      at = await stage({ timings })
      const { uuid, vmState } = at.simulator.addInstance({ host: 'cmp01', state })
      at.simulator.crashGuest(uuid)
      await at.clock.advance(20_000)
      expect(at.simulator.instance(uuid)).toMatchObject({ vmState, taskState: null, powerState: 4 })
      expect(stopsOf(uuid)).toEqual([])
    },
  )

  it('while a task is set is left to the next power sync', async () => {
    const uuid = await guest()
    at.simulator.crashGuest(uuid)
    at.simulator.instance(uuid).taskState = 'image_snapshot'
    await at.clock.advance(20_000)
    expect(at.simulator.instance(uuid)).toMatchObject({ taskState: 'image_snapshot', powerState: 1 })
    at.simulator.instance(uuid).taskState = null
    await at.clock.advance(590_000)
    expect(at.simulator.instance(uuid)).toMatchObject({ vmState: 'stopped' })
  })

  it('must run somewhere', async () => {
    at = await stage()
    const { uuid } = at.simulator.addInstance({ host: 'cmp01', state: 'stopped' })
    expect(() => at.simulator.crashGuest(uuid)).toThrow(`the guest of ${uuid} runs nowhere`)
  })
})

describe('a guest that the hypervisor pauses', () => {
  it('is shown active with power 3 at once, still holds its disk, and gives no diagnostics', async () => {
    const uuid = await guest()
    at.simulator.pauseGuest(uuid)
    await at.clock.advance(20_000)
    expect(at.simulator.instance(uuid)).toMatchObject({ vmState: 'active', taskState: null, powerState: 3 })
    expect(at.simulator.truth().running[uuid]).toEqual(['cmp01'])
    expect((await diagnostics(uuid)).status).toBe(409)
    expect(stopsOf(uuid)).toEqual([])
  })
})
