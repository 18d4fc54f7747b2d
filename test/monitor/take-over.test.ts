/** A monitor that takes the place of one that stood by sees no more than that one saw: what it could not see was not silence (law L7). */
import { beforeEach, describe, expect, it } from 'vitest'
import { Fleet } from './setup.ts'

const hosts = ['a', 'b', 'c', 'd', 'e', 'f']
const quietMs = 20_000
let fleet: Fleet
beforeEach(async () => {
  fleet = new Fleet(hosts)
  await fleet.run(20_000)
})

/** No heartbeat is recorded, and Nova answers nobody. Then all is back, but `d`, which still waits for an answer. */
async function outage(ms: number): Promise<void> {
  fleet.silence(...hosts, 'ctl-c', 'ctl-s')
  fleet.apiDown = true
  await fleet.run(ms)
  fleet.apiDown = false
  fleet.wake(...hosts.filter((host) => host !== 'd'), 'ctl-c', 'ctl-s')
  fleet.pass(100)
}

describe('a monitor that takes over after an outage of the control plane', () => {
  it.each([
    ['short', 12_000, 4_000],
    ['long', 60_000, 10_000],
  ])('takes no host for dead that beats a little later than the others (%s)', async (_name, ms, laterMs) => {
    await outage(ms)
    fleet.takeOver()
    await fleet.run(laterMs)
    fleet.wake('d')
    await fleet.run(2 * quietMs)
    expect([fleet.history('d').includes('host-down'), fleet.kind('d')]).toEqual([false, 'healthy'])
  })

  it('waits for what is left of the quiet time, and no longer', async () => {
    await outage(60_000)
    await fleet.run(quietMs - 5_000)
    fleet.takeOver()
    await fleet.run(4_000)
    expect(fleet.monitor.frozen()?.reason).toBe('API_FAILED')
    await fleet.run(1_500)
    expect(fleet.monitor.frozen()).toBeNull()
  })

  it('puts the freeze on record that the one before it could not, and its end', async () => {
    await outage(60_000)
    fleet.takeOver()
    fleet.reports.length = 0
    await fleet.run(2 * quietMs)
    const told = fleet.reports.flatMap(({ froze, unfroze }) => [
      ...(froze ? [froze.reason] : []),
      ...(unfroze ? ['over'] : []),
    ])
    expect(told).toEqual(['API_FAILED', 'over'])
  })
})

describe('a monitor that takes over', () => {
  const silentMs = (host: string): number | undefined => fleet.monitor.verdict(host)?.evidence.silentMs

  it('counts no silence of the time in which the one before it read nothing', async () => {
    fleet.silence('d')
    fleet.pass(30_000)
    fleet.takeOver()
    await fleet.run(0)
    expect(silentMs('d')).toBe(0)
  })

  it('counts the silence that the one before it saw', async () => {
    fleet.silence('d')
    await fleet.run(4_000)
    fleet.takeOver()
    await fleet.run(0)
    expect(silentMs('d')).toBeGreaterThan(3_000)
  })

  it('knows the rows before its first reading: what a person says then is compared with them', () => {
    fleet.silence('d')
    const { updatedAt, status } = fleet.host('d').row
    fleet.takeOver()
    expect(fleet.monitor.verdict('d')).toMatchObject({
      kind: 'unknown',
      evidence: { updatedAt, status, watched: { first: expect.any(String) as string } },
    })
  })

  it('knows which workers Nova had', async () => {
    fleet.hosts.delete('ctl-c')
    fleet.takeOver()
    await fleet.run(0)
    expect(fleet.monitor.frozen()?.reason).toBe('CONDUCTOR_MISSING')
  })
})
