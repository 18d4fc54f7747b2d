/** Many hosts at once, between the control-plane check and the brake: neither may make the other blind. */
import { describe, expect, it } from 'vitest'
import type { Aggregate } from '../../src/domain/instance.ts'
import { Aggregates } from '../../src/monitor/aggregates.ts'
import { Fleet, HandClock } from './setup.ts'

const names = ['a', 'b', 'c', 'd']
const all = (answer: 'dead' | 'alive', ...hosts: string[]) => Object.fromEntries(hosts.map((host) => [host, answer]))

async function watched(probes: ('tcp' | 'ping')[] = ['tcp', 'ping']): Promise<Fleet> {
  const fleet = new Fleet(names, { probes })
  await fleet.run(20_000)
  return fleet
}

describe('a look at one host', () => {
  it('forgets nothing of what was found out about the others, and freezes nothing', async () => {
    const fleet = await watched()
    fleet.silence('a', 'b', 'c')
    for (const kind of ['tcp', 'ping']) fleet.probe(kind, all('dead', 'a', 'b', 'c'))
    await fleet.run(30_000, ({ verdicts }) => verdicts.some(({ kind }) => kind === 'host-down'))
    const answersOf = (host: string) => fleet.monitor.verdict(host)?.evidence.probes.map(({ answer }) => answer)
    const { frozen } = await fleet.monitor.lookAgain('a')
    expect(frozen).toBeNull()
    for (const host of ['a', 'b', 'c']) expect(answersOf(host), host).toEqual(['dead', 'dead'])
  })

  it('takes what was said of another back as soon as it beats', async () => {
    const fleet = await watched()
    fleet.silence('a', 'b')
    for (const kind of ['tcp', 'ping']) fleet.probe(kind, all('dead', 'a', 'b'))
    await fleet.run(30_000, ({ verdicts }) => verdicts.some(({ kind }) => kind === 'host-down'))
    fleet.wake('b')
    fleet.pass(2_000)
    await fleet.monitor.lookAgain('a')
    expect(fleet.monitor.verdict('b')).toMatchObject({ kind: 'healthy', evidence: { probes: [] } })
  })
})

describe('dead hosts that boot', () => {
  it('answer their probes before they beat: no broker fault, and verdicts stay free', async () => {
    const fleet = await watched()
    fleet.silence(...names)
    for (const kind of ['tcp', 'ping']) fleet.probe(kind, all('dead', ...names))
    await fleet.run(20_000)
    expect(names.map((name) => fleet.kind(name))).toEqual(names.map(() => 'host-down'))
    for (const kind of ['tcp', 'ping']) fleet.probe(kind, all('alive', ...names))
    await fleet.run(20_000)
    expect(fleet.reports.filter(({ frozen }) => frozen !== null)).toEqual([])
    expect(names.map((name) => fleet.kind(name))).toEqual(names.map(() => 'service-down'))
  })

  it('and that fall silent again after they beat are judged again: then a broker fault freezes', async () => {
    const fleet = await watched()
    fleet.silence(...names)
    for (const kind of ['tcp', 'ping']) fleet.probe(kind, all('dead', ...names))
    await fleet.run(20_000)
    for (const kind of ['tcp', 'ping']) fleet.probe(kind, all('alive', ...names))
    fleet.wake(...names)
    await fleet.run(10_000)
    expect(names.map((name) => fleet.kind(name))).toEqual(names.map(() => 'healthy'))
    fleet.silence(...names)
    const { frozen } = await fleet.run(20_000, (report) => report.frozen !== null)
    expect(frozen).toMatchObject({ reason: 'MASS_SILENCE' })
  })
})

describe('aggregates', () => {
  const aggregate = (name: string, hosts: string[], metadata: Record<string, string>): Aggregate => ({
    name,
    availabilityZone: null,
    hosts,
    metadata,
  })

  it('name the values of a key for each host, each once, empty ones never', async () => {
    const listed = [
      aggregate('a1', ['h1', 'h2'], { rack: 'r1' }),
      aggregate('a2', ['h1'], { rack: 'r2', other: 'x' }),
      aggregate('a3', ['h1'], { rack: 'r1' }),
      aggregate('a4', ['h2'], { rack: '' }),
      aggregate('a5', ['h3'], {}),
    ]
    const aggregates = new Aggregates({ listAggregates: async () => listed }, new HandClock(), () => 1_000, {})
    expect(aggregates.values('h1', 'rack')).toEqual([])
    await aggregates.readWhenDue({})
    expect(aggregates.values('h1', 'rack')).toEqual(['r1', 'r2'])
    expect(aggregates.values('h2', 'rack')).toEqual(['r1'])
    expect(aggregates.values('h3', 'rack')).toEqual([])
    expect(aggregates.values('h3', 'constructor')).toEqual([])
    expect(aggregates.names('h1')).toEqual(['a1', 'a2', 'a3'])
  })

  it('are read again only when they are due, and kept when they cannot be read', async () => {
    const clock = new HandClock()
    let reads = 0
    let fails = false
    const cloud = {
      listAggregates: async () => {
        reads += 1
        if (fails) throw new Error('503')
        return [aggregate('a1', ['h1'], { rack: `r${reads}` })]
      },
    }
    const warned: string[] = []
    const aggregates = new Aggregates(cloud, clock, () => 1_000, { log: (_level, event) => void warned.push(event) })
    await aggregates.readWhenDue({})
    clock.advance(999)
    await aggregates.readWhenDue({})
    expect(reads).toBe(1)
    clock.advance(1)
    await aggregates.readWhenDue({})
    expect(aggregates.values('h1', 'rack')).toEqual(['r2'])
    fails = true
    clock.advance(1_000)
    await aggregates.readWhenDue({})
    expect(aggregates.values('h1', 'rack')).toEqual(['r2'])
    expect(warned).toEqual(['monitor.aggregates-failed'])
    const first = new Aggregates(cloud, clock, () => 1_000, {})
    await expect(first.readWhenDue({})).rejects.toThrow('503')
  })
})
