import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PollReport } from '../../src/monitor/report.ts'
import { Fleet } from './setup.ts'

const four = ['a', 'b', 'c', 'd']
const dead = (host: string) => (report: PollReport) =>
  report.verdicts.some((one) => one.host === host && one.kind === 'host-down')
const allDead = (hosts: string[]) => Object.fromEntries(hosts.map((host) => [host, 'dead' as const]))
const allAlive = (hosts: string[]) => Object.fromEntries(hosts.map((host) => [host, 'alive' as const]))

async function watchedFleet(options: ConstructorParameters<typeof Fleet>[1] = {}, names = four): Promise<Fleet> {
  const fleet = new Fleet(names, options)
  await fleet.run(20_000)
  expect(names.map((name) => fleet.kind(name))).toEqual(names.map(() => 'healthy'))
  return fleet
}

describe('one dead host', () => {
  it('is confirmed within three heartbeats when two kinds of probes say dead, before Nova says down', async () => {
    const fleet = await watchedFleet({ probes: ['tcp', 'ping'] })
    fleet.silence('b')
    const diedAt = fleet.clock.now()
    fleet.probe('tcp', { b: 'dead' })
    fleet.probe('ping', { b: 'dead' })
    await fleet.run(30_000, dead('b'))
    expect(fleet.reason('b')).toBe('SILENT_AND_PROBES_DEAD')
    expect(fleet.clock.now() - diedAt).toBeLessThanOrEqual(6_000)
    expect(fleet.history('b')).toEqual(['healthy', 'suspect', 'host-down'])
    expect(fleet.reports.every((report) => report.frozen === null)).toBe(true)
  })

  it('is confirmed later when it was seen to pause, and the evidence says how suspicious its silence was', async () => {
    const fleet = await watchedFleet({ probes: ['tcp', 'ping'], settings: { startSilenceMs: 60_000 } })
    fleet.downAfterMs = 60_000
    for (let pause = 0; pause < 3; pause++) {
      fleet.pauseOnce('b', 4_000)
      await fleet.run(20_000)
    }
    expect(fleet.history('b')).not.toContain('host-down')
    fleet.silence('b')
    for (const kind of ['tcp', 'ping']) fleet.probe(kind, { b: 'dead' })
    await fleet.run(6_500)
    expect(fleet.reason('b')).toBe('HEARTBEATS_KNOWN_TO_PAUSE')
    expect(fleet.monitor.verdict('b')?.evidence.suspicion).toBeLessThan(4)
    await fleet.run(30_000, dead('b'))
    const { evidence } = fleet.monitor.verdict('b')!
    expect(evidence.missedBeats).toBeGreaterThan(3.5)
    expect(evidence.missedBeats).toBeLessThan(10)
    expect(evidence.suspicion).toBeGreaterThanOrEqual(4)
    expect(evidence.sinceBeatMs).toBe(evidence.silentMs)
  })

  it('keeps the age of its last heartbeat in the evidence when a freeze restarts its silence', async () => {
    const fleet = await watchedFleet()
    fleet.silence('b')
    await fleet.run(3_000)
    fleet.apiDown = true
    await fleet.run(10_000)
    fleet.apiDown = false
    await fleet.run(60_000, dead('b'))
    const { evidence } = fleet.monitor.verdict('b')!
    expect(evidence.sinceBeatMs).toBeGreaterThan(evidence.silentMs + 10_000)
    expect(fleet.monitor.verdict('a')?.evidence).not.toHaveProperty('suspicion')
    expect(fleet.monitor.verdict('a')?.evidence).not.toHaveProperty('sinceBeatMs')
  })

  /** Host b is silent for longer than a database node may be behind; with how often it has lived, as far as is known. */
  async function longSilent(settings: { pollIntervalMs?: number } = {}) {
    const fleet = await watchedFleet({ settings })
    fleet.silence('b')
    await fleet.run(35_000)
    const lives = (): number => fleet.monitor.verdict('b')?.evidence.watched?.lives ?? NaN
    return { fleet, lives, before: lives() }
  }

  it.each([
    ['could not be read', 'apiDown'],
    ['listed nothing', 'emptyAnswer'],
  ] as const)(
    'counts as a life that it may have missed what moved a row while Nova %s, and no flag that it saw set',
    async (_how, fault) => {
      const { fleet, lives, before } = await longSilent()
      fleet.put('b', { status: 'disabled' })
      await fleet.run(5_000)
      expect(lives()).toBe(before)
      fleet[fault] = true
      await fleet.run(10_000)
      fleet.put('b', { status: 'enabled' })
      fleet[fault] = false
      await fleet.run(5_000)
      expect(lives()).toBe(before + 1)
    },
  )

  it('counts as a life that it may have missed what moved a row between two readings that a beat fits between', async () => {
    const { fleet, lives, before } = await longSilent()
    fleet.pass(2_500)
    fleet.put('b', { status: 'disabled' })
    await fleet.run(0)
    expect(lives()).toBe(before + 1)
  })

  it('counts no flag as a life where hosts are read less often than they beat, unless a reading was left out', async () => {
    const { fleet, lives, before } = await longSilent({ pollIntervalMs: 2_500 })
    fleet.put('b', { status: 'disabled' })
    await fleet.run(5_000)
    expect(lives()).toBe(before)
    fleet.pass(6_000)
    fleet.put('b', { status: 'enabled' })
    await fleet.run(0)
    expect(lives()).toBe(before + 1)
  })

  it('is not held up by a look at another one: its readings and their count stay', async () => {
    const fleet = await watchedFleet({ probes: ['tcp', 'ping'] })
    fleet.silence('b', 'c')
    for (const kind of ['tcp', 'ping']) fleet.probe(kind, { b: 'dead', c: 'dead' })
    await fleet.run(4_000)
    expect(fleet.kind('b')).toBe('suspect')
    const readings = fleet.monitor.verdict('b')?.evidence.probes
    expect(readings).toHaveLength(2)
    for (let polls = 0; polls < 6 && fleet.kind('b') !== 'host-down'; polls++) {
      await fleet.monitor.lookAgain('a')
      expect(fleet.monitor.verdict('b')?.evidence.probes).toHaveLength(2)
      fleet.pass(500)
      await fleet.monitor.poll()
    }
    expect(fleet.reason('b')).toBe('SILENT_AND_PROBES_DEAD')
  })

  it('is not confirmed early by two probes of one kind', async () => {
    const fleet = await watchedFleet({ probes: ['tcp', 'tcp'] })
    fleet.downAfterMs = 60_000
    fleet.silence('b')
    fleet.probe('tcp', { b: 'dead' })
    await fleet.run(30_000)
    expect(fleet.monitor.verdict('b')?.evidence.probes.map(({ answer }) => answer)).toEqual(['dead', 'dead'])
    expect(fleet.reason('b')).toBe('WAITING_FOR_NOVA')
  })

  it('is never confirmed before Nova says down without probes', async () => {
    const fleet = await watchedFleet()
    fleet.silence('b')
    const { verdicts } = await fleet.run(30_000, dead('b'))
    expect(verdicts.find((one) => one.host === 'b')).toMatchObject({
      reason: 'NOVA_DOWN_NO_PROBES',
      evidence: { state: 'down' },
    })
  })

  it('is a dead service only while a probe finds it alive', async () => {
    const fleet = await watchedFleet({ probes: ['tcp', 'ping'] })
    fleet.silence('b')
    fleet.probe('tcp', { b: 'alive' })
    fleet.probe('ping', { b: 'dead' })
    await fleet.run(30_000)
    expect(fleet.history('b')).toEqual(['healthy', 'suspect', 'service-down'])
  })

  it('that was down before we started is found after a full silence of our own', async () => {
    const fleet = new Fleet(four, { probes: ['ping'] })
    fleet.silence('b')
    fleet.pass(60_000)
    fleet.probe('ping', { b: 'dead' })
    const startedAt = fleet.clock.now()
    await fleet.run(60_000, dead('b'))
    expect(fleet.reason('b')).toBe('NOVA_DOWN_AND_PROBES_DEAD')
    expect(fleet.clock.now() - startedAt).toBeGreaterThanOrEqual(8_000 + 5_000)
  })

  it('is looked at again right before acting: life found then wins', async () => {
    const fleet = await watchedFleet({ probes: ['ping', 'tcp'] })
    fleet.silence('b')
    fleet.probe('ping', { b: 'dead' })
    fleet.probe('tcp', { b: 'dead' })
    await fleet.run(30_000, dead('b'))
    expect((await fleet.monitor.lookAgain('b')).verdict.kind).toBe('host-down')
    fleet.probe('tcp', { b: 'alive' })
    expect((await fleet.monitor.lookAgain('b')).verdict.kind).not.toBe('host-down')
    // The change is in the next report: the journal misses nothing.
    expect((await fleet.monitor.poll()).changed).toMatchObject([{ host: 'b', from: 'host-down' }])
  })
})

it('of many silent hosts those that are disabled are asked last: a round has no room for all', async () => {
  const fleet = await watchedFleet({ probes: ['tcp'] }, ['off', 'a', 'b', 'c'])
  fleet.put('off', { status: 'disabled' })
  fleet.silence('off')
  await fleet.run(30_000)
  fleet.silence('b')
  const asked: string[] = []
  fleet.asked = (host) => asked.push(host)
  await fleet.run(30_000)
  const first = asked.indexOf('b')
  expect(asked.slice(first, first + 4)).toEqual(['b', 'off', 'b', 'off'])
})

describe('forced down', () => {
  it('by someone on a healthy host: contradiction and an alarm, never declared down', async () => {
    const fleet = await watchedFleet()
    fleet.put('b', { forcedDown: true })
    await fleet.run(20_000)
    expect(fleet.history('b')).toEqual(['healthy', 'suspect', 'contradiction'])
    const alarms = fleet.reports.flatMap((report) => report.alarms)
    expect(alarms).toMatchObject([{ code: 'FORCED_DOWN_BUT_BEATING', host: 'b' }])
  })

  it('by someone, and silent: declared down', async () => {
    const fleet = await watchedFleet()
    fleet.silence('b')
    fleet.put('b', { forcedDown: true })
    await fleet.run(20_000)
    expect(fleet.kind('b')).toBe('declared-down')
  })

  it('before we started: a person decides', async () => {
    const fleet = new Fleet(four)
    fleet.silence('b')
    fleet.put('b', { forcedDown: true })
    await fleet.run(60_000)
    expect(fleet.history('b')).toEqual(['forced-down-before'])
  })

  it('by us: our write is no heartbeat, a beat after it is a contradiction', async () => {
    const fleet = await watchedFleet()
    fleet.silence('b')
    await fleet.run(30_000, dead('b'))
    fleet.ours.add('b')
    fleet.monitor.noteOurWrite(
      'b',
      fleet.put('b', { forcedDown: true, status: 'disabled', disabledReason: 'lifeboat: incident i' }),
    )
    await fleet.run(10_000)
    expect(fleet.kind('b')).toBe('recovering')
    fleet.wake('b')
    await fleet.run(3_000)
    expect(fleet.reason('b')).toBe('OURS_FORCED_DOWN_BUT_BEATING')
  })
})

describe('the control plane first', () => {
  it('a lost poll freezes, is reported once at each end, and restarts the timers', async () => {
    const fleet = await watchedFleet()
    fleet.silence('b')
    await fleet.run(3_000)
    fleet.apiDown = true
    await fleet.run(30_000)
    expect(fleet.kind('b')).toBe('suspect')
    fleet.apiDown = false
    await fleet.run(60_000, (report) => report.frozen === null)
    await fleet.run(30_000, dead('b'))
    expect(fleet.kind('b')).toBe('host-down')
    expect(fleet.reports.filter((report) => report.froze).map((report) => report.froze?.reason)).toEqual(['API_FAILED'])
    expect(fleet.reports.filter((report) => report.unfroze).length).toBe(1)
  })

  it('says from when on verdicts move once Nova answers, and they do', async () => {
    const fleet = new Fleet(four)
    await fleet.run(5_000)
    fleet.apiDown = true
    await fleet.run(4_000)
    expect(fleet.monitor.thawsAt()).toBeNull()
    fleet.apiDown = false
    await fleet.run(1_000)
    const at = fleet.monitor.thawsAt() ?? 0
    await fleet.run(60_000, () => fleet.clock.now() + fleet.settings.pollIntervalMs >= at)
    expect(fleet.monitor.frozen()).not.toBeNull()
    await fleet.run(fleet.settings.pollIntervalMs)
    expect([fleet.monitor.frozen(), fleet.monitor.thawsAt()]).toEqual([null, null])
  })

  it('a lost poll that hung for long before it failed was blind for all of that time', async () => {
    const fleet = new Fleet(four)
    await fleet.run(5_000)
    Object.assign(fleet, { apiDown: true, apiHangsMs: 8_000 })
    await fleet.run(0)
    fleet.apiDown = false
    const { pollIntervalMs } = fleet.settings
    fleet.pass(pollIntervalMs)
    await fleet.run(0)
    expect(fleet.monitor.thawsAt()).toBe(fleet.clock.now() + 2 * (8_000 + pollIntervalMs))
  })

  it('what the run before left frozen stays so until Nova answers, and a quiet time longer; only its end is reported', async () => {
    const frozenBefore = { reason: 'MASS_SILENCE', message: 'the bus is dead', since: 940_000 }
    const fleet = new Fleet(four, { frozenBefore })
    expect(fleet.monitor.frozen()).toEqual(frozenBefore)
    fleet.silence('b')
    fleet.apiDown = true
    await fleet.run(10_000)
    fleet.apiDown = false
    const message = 'Nova did not answer: 503 from the proxy'
    expect(fleet.monitor.frozen()).toEqual({ ...frozenBefore, reason: 'API_FAILED', message })
    await fleet.run(5_000)
    expect(fleet.reason('b')).toBe('WAITING_FOR_THAW')
    const unfroze = await fleet.run(60_000, (report) => report.frozen === null)
    expect(unfroze.unfroze).toEqual({ reason: 'API_FAILED', frozenForMs: 60_000 + 10_000 + 20_000 })
    expect(fleet.reports.filter(({ froze }) => froze)).toEqual([])
    expect(fleet.reports.slice(0, -1).flatMap(({ changed }) => changed.filter(({ host }) => host === 'b'))).toEqual([])
    await fleet.run(30_000, dead('b'))
    expect(fleet.kind('b')).toBe('host-down')
  })

  it.each([
    ['an empty list', (fleet: Fleet) => (fleet.emptyAnswer = true), 'NO_SERVICES'],
    ['clocks apart', (fleet: Fleet) => (fleet.serverSkewMs = 45_000), 'CLOCK_SKEW'],
    ['no conductor', (fleet: Fleet) => fleet.silence('ctl-c', ...four), 'CONDUCTOR_SILENT'],
    ['no scheduler', (fleet: Fleet) => fleet.silence('ctl-s'), 'SCHEDULER_SILENT'],
    ['a dead broker, no probes', (fleet: Fleet) => fleet.silence(...four), 'MASS_SILENCE'],
    ['half of the hosts at once, no probes', (fleet: Fleet) => fleet.silence('a', 'c'), 'MASS_SILENCE'],
  ])('%s freezes before any host is called down', async (_name, fault, reason) => {
    const fleet = await watchedFleet()
    fault(fleet)
    const report = await fleet.run(20_000)
    expect(report.frozen?.reason).toBe(reason)
    for (const host of four) expect(fleet.history(host)).not.toContain('host-down')
  })

  it('a dead broker: silent hosts that probes find alive freeze', async () => {
    const fleet = await watchedFleet({ probes: ['ping', 'tcp'] })
    fleet.probe('ping', allAlive(four))
    fleet.silence(...four)
    expect((await fleet.run(20_000)).frozen?.reason).toBe('MASS_SILENCE')
  })

  it('a mass failure: hosts that every probe finds dead are called down, for the brake to hold', async () => {
    const fleet = await watchedFleet({ probes: ['ping', 'tcp'] })
    for (const kind of ['ping', 'tcp']) fleet.probe(kind, allDead(['a', 'b', 'c']))
    fleet.silence('a', 'b', 'c')
    const report = await fleet.run(10_000)
    expect(report.frozen).toBeNull()
    expect(['a', 'b', 'c'].map((host) => fleet.kind(host))).toEqual(['host-down', 'host-down', 'host-down'])
    expect(fleet.kind('d')).toBe('healthy')
  })

  it('after the broker came back nobody is called down', async () => {
    const fleet = await watchedFleet()
    fleet.silence(...four)
    await fleet.run(20_000)
    fleet.wake(...four)
    const report = await fleet.run(60_000)
    expect(report.frozen).toBeNull()
    for (const host of four) expect(fleet.history(host)).not.toContain('host-down')
  })

  it('an unreachable cell takes its hosts out of judgement, and they start again when it is back', async () => {
    const fleet = await watchedFleet()
    fleet.host('b').row.status = 'unknown'
    fleet.silence('b')
    await fleet.run(60_000)
    expect(fleet.reason('b')).toBe('CELL_UNREACHABLE')
    Object.assign(fleet.host('b').row, { status: 'enabled' })
    fleet.wake('b')
    await fleet.run(10_000)
    expect(fleet.history('b')).toEqual(['healthy', 'unknown', 'healthy'])
  })

  it('the only host that is left in a cloud of two is not called down while the broker may be dead', async () => {
    const fleet = await watchedFleet({}, ['a', 'b'])
    fleet.silence('a', 'b')
    expect((await fleet.run(20_000)).frozen?.reason).toBe('MASS_SILENCE')
  })

  it('no series of failed and empty polls moves a silent host towards death', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('failed', 'empty'), { minLength: 1, maxLength: 40 }), async (polls) => {
        const fleet = new Fleet(four, { probes: ['ping', 'tcp'] })
        await fleet.run(12_000)
        fleet.silence('b')
        for (const kind of ['ping', 'tcp']) fleet.probe(kind, { b: 'dead' })
        const before = fleet.kind('b')
        for (const poll of polls) {
          fleet.apiDown = poll === 'failed'
          fleet.emptyAnswer = poll === 'empty'
          fleet.pass(1_000)
          const report = await fleet.monitor.poll()
          expect(report.ok).toBe(false)
          expect(report.frozen).not.toBeNull()
          expect(fleet.kind('b')).toBe(before)
        }
      }),
      { numRuns: 30 },
    )
  })
})
