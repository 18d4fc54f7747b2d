/** Whether a host, and the cloud, could fail safely now. */
import { describe, expect, it } from 'vitest'
import type { BrakeScope } from '../../src/domain/brake.ts'
import type { HostPlan, InstancePlan } from '../../src/domain/plan.ts'
import type { FenceReading } from '../../src/domain/readiness.ts'
import { builtInSettings, type Segment } from '../../src/domain/segment.ts'
import type { Verdict } from '../../src/domain/verdict.ts'
import {
  cloudReadiness,
  hostReadiness,
  planCounts,
  type CloudFacts,
  type HostFacts,
} from '../../src/review/readiness.ts'
import { instance, plan } from '../journal/fixtures.ts'

const at = '2026-01-02T03:04:05.000Z'
const segment: Segment = { ...builtInSettings, name: 'az1', fencing: ['bmc'], probes: ['ssh'] }
const edge: Segment = { ...segment, name: 'edge', fencing: [] }
const answered: FenceReading[] = [{ method: 'bmc', power: 'on', detail: 'PowerState On', at }]
const hung: FenceReading[] = [{ method: 'bmc', power: 'unknown', detail: 'no reading within 10 s', at }]

function scope(id: string, allowed: number, more: Partial<BrakeScope> = {}): BrakeScope {
  const name = id.split(':')[1] ?? ''
  const kind = id === 'cloud' ? 'cloud' : 'segment'
  const title = id === 'cloud' ? 'the cloud' : `segment ${name}`
  const message = `0 of 4 hosts of ${title} are down, ${allowed} may be`
  const none = { down: 0, cooling: 0, fleet: 4, hosts: [], trippedSince: null }
  return { scope: id, kind, title, allowed, message, ...none, ...more }
}

function cloud(scopes: BrakeScope[] = [scope('cloud', 2)], more: Partial<CloudFacts> = {}): CloudFacts {
  return {
    ...{ at, mode: 'armed', frozen: null, ordered: null },
    scopes: new Map(scopes.map((one) => [one.scope, one])),
    ...more,
  }
}

function facts(host: string, more: Partial<HostFacts> = {}): HostFacts {
  const own = more.segment ?? segment
  const verdict = { host, segment: own.name, kind: 'healthy', reason: 'BEATING', message: '', at, evidence }
  return {
    verdict: verdict as Verdict,
    segment: own,
    incident: null,
    scopes: ['cloud', `segment:${own.name}`],
    ordered: null,
    plan: { value: null, failure: null },
    fencing: { value: answered, failure: null },
    times: null,
    ...more,
  }
}

const evidence = { probes: [] } as unknown as Verdict['evidence']
const hosts = (count: number, more: Partial<HostFacts> = {}, prefix = 'cmp'): HostFacts[] =>
  Array.from({ length: count }, (_, index) => facts(`${prefix}${index + 1}`, more))

function judged(given: HostFacts[], facts: CloudFacts = cloud()) {
  const scopes = new Map(given.map(({ verdict, scopes: own }) => [verdict.host, own]))
  return cloudReadiness(
    given.map((host) => hostReadiness(host, facts)),
    ({ host }) => scopes.get(host) ?? [],
    facts,
  )
}

/** An instance whose root disk is on the host. */
const onImage = (id: string, more: Partial<InstancePlan> = {}): InstancePlan =>
  plan(id, { original: { ...plan(id).original, instance: instance(id, { imageId: 'image-1' }) }, ...more })

const hostPlan = (instances: HostPlan['instances']): HostPlan => ({
  host: 'cmp1',
  workflow: { name: 'w', revision: 1, digest: 'd' },
  instances,
})

describe('how many host failures can be taken', () => {
  it('is the room of the tightest scope of the brake, wherever the hosts are', () => {
    const found = judged(hosts(4), cloud([scope('cloud', 3), scope('segment:az1', 2)]))
    expect(found.failures).toBe(2)
    expect(found.limit).toMatchObject({ scope: 'segment:az1', allowed: 2 })
    expect(found.sentences).toEqual(['Lifeboat can handle 2 host failures now; segment az1 has the least room.'])
  })

  it('is less by the hosts that are down already', () => {
    expect(judged(hosts(4), cloud([scope('cloud', 3, { down: 2 })])).failures).toBe(1)
  })

  it('is none while a scope is tripped, and the sentence says which', () => {
    const found = judged(hosts(4), cloud([scope('cloud', 3, { trippedSince: at, message: 'too many' })]))
    expect(found.failures).toBe(0)
    expect(found.sentences[0]).toBe('Lifeboat can handle no host failure now: too many.')
  })

  it('is not limited by a scope that has room for all of its hosts', () => {
    const small = hosts(1, { segment: { ...segment, name: 'lab' } }, 'lab')
    const scopes = [scope('cloud', 3), scope('segment:az1', 3), scope('segment:lab', 1)]
    expect(judged([...hosts(4), ...small], cloud(scopes)).failures).toBe(3)
  })

  it('does not count hosts that only a person can declare dead', () => {
    const silent = hosts(3, { fencing: { value: hung, failure: null } })
    expect(judged([...silent, ...hosts(1, {}, 'ok')], cloud([scope('cloud', 3)])).failures).toBe(1)
  })

  it('counts hosts whose devices were not read yet, and says how many', () => {
    const found = judged(hosts(2, { fencing: { value: null, failure: null } }))
    expect(found.failures).toBe(2)
    expect(found.sentences).toContain('The fencing devices of 2 hosts were not read yet.')
  })

  it.each<[string, Partial<CloudFacts>]>([
    ['verdicts are frozen (Nova is away)', { frozen: 'Nova is away' }],
    ['paused by ann', { ordered: 'paused by ann' }],
  ])('is none while %s', (why, more) => {
    const found = judged(hosts(4), cloud([scope('cloud', 2)], more))
    expect(found).toMatchObject({ failures: 0 })
    expect(found.sentences[0]).toBe(`Lifeboat can handle no host failure now: ${why}.`)
  })

  it('in observe mode is what it would be if it were armed', () => {
    const found = judged(hosts(4), cloud([scope('cloud', 1)], { mode: 'observe' }))
    expect(found.failures).toBe(1)
    expect(found.sentences[0]).toMatch(/^Lifeboat could handle 1 host failure now if it were armed/)
  })

  it('before the first reading of Nova is not known', () => {
    expect(judged([]).sentences).toEqual(['No compute host was seen yet.'])
  })
})

describe('what cannot recover by itself is named', () => {
  it('as a segment when all of its hosts lack the same, else as hosts', () => {
    const mute = { fencing: { value: hung, failure: null } }
    const given = [...hosts(3), facts('old1', mute), ...hosts(2, { segment: edge }, 'edge')]
    expect(judged(given).sentences.slice(1)).toEqual([
      'Segment edge cannot recover by itself: no fencing method is configured.',
      'old1 cannot recover by itself: no fencing device answers.',
    ])
  })

  it('with the instances on local disks that would be left', () => {
    const left = onImage('1', { decision: 'leave', reason: 'LOCAL_DISK' })
    const value = planCounts(hostPlan([left, plan('2')]), 'local', at)
    expect(judged([facts('cmp1', { plan: { value, failure: null } })]).sentences).toContain(
      '1 instance on local disks would be left, in segment az1.',
    )
  })
})

describe('one host', () => {
  const of = (more: Partial<HostFacts>, facts_: CloudFacts = cloud()) => hostReadiness(facts('cmp1', more), facts_)

  it('could be proven dead when one of its methods answers, and the one that does not is said', () => {
    const both = { ...segment, fencing: ['bmc', 'pdu'] }
    const pdu: FenceReading = { method: 'pdu', power: 'unknown', detail: 'exit 1', at }
    const { fencing, missing } = of({ segment: both, fencing: { value: [...answered, pdu], failure: null } })
    expect(fencing.state).toBe('answers')
    expect(missing.map(({ code, message }) => `${code} ${message}`)).toContain(
      `FENCING_SILENT pdu did not answer at ${at}: exit 1`,
    )
  })

  it('whose device reads off while it beats lacks a device of its own', () => {
    const off: FenceReading = { method: 'bmc', power: 'off', detail: 'PowerState Off', at }
    expect(of({ fencing: { value: [off], failure: null } }).missing.map(({ code }) => code)).toContain(
      'FENCING_READS_OFF',
    )
  })

  it('whose only method is not configured for it has no fencing', () => {
    const value: FenceReading[] = [{ method: 'bmc', power: null, detail: 'not configured for cmp1', at }]
    expect(of({ fencing: { value, failure: null } })).toMatchObject({
      fencing: { state: 'none' },
      missing: [{ code: 'NO_FENCING' }, { code: 'NO_PLAN' }],
    })
  })

  it('whose methods a reload changed counts as not read', () => {
    expect(of({ segment: { ...segment, fencing: ['ipmi'] } }).fencing.state).toBe('unread')
  })

  it('would wait for an order, a freeze and a scope without room', () => {
    const ordered = { hold: 'PAUSED' as const, message: 'paused by ann' }
    const full = cloud([scope('cloud', 0)], { frozen: 'Nova is away' })
    expect(of({ ordered }, full).holds.map(({ code }) => code)).toEqual(['PAUSED', 'FROZEN', 'BRAKE'])
  })

  it('keeps its last plan when Nova does not let it be read again, and says so', () => {
    const value = planCounts(hostPlan([plan('1')]), 'shared', at)
    const { plan: kept, missing } = of({ plan: { value, failure: { message: 'no answer', at } } })
    expect(kept).toMatchObject({ instances: 1, back: 1 })
    expect(missing).toEqual([{ code: 'PLAN_FAILED', message: `Its instances could not be read at ${at}: no answer` }])
  })

  it('takes as long as the proof and each instance that comes back took before; else nobody knows', () => {
    const value = planCounts(hostPlan([plan('1'), plan('2'), plan('3', { decision: 'leave' })]), 'shared', at)
    const known = { plan: { value, failure: null } }
    expect(of({ ...known, times: { incidents: 1, provenMs: 10_000, instanceMs: 2_500 } }).estimateMs).toBe(15_000)
    expect(of(known).estimateMs).toBeNull()
  })
})

describe('a plan in numbers', () => {
  it('groups what would not come back by decision and reason, the largest first', () => {
    const instances = [
      onImage('1'),
      onImage('2', { decision: 'hold', reason: 'UNKNOWN_STATE', name: 'odd' }),
      ...['a', 'b'].map((id) => onImage(id, { decision: 'leave', reason: 'LOCAL_DISK', name: id })),
    ]
    expect(planCounts(hostPlan(instances), 'local', at)).toMatchObject({
      ...{ instances: 4, back: 1, onLocalDisks: 3 },
      left: [
        { decision: 'leave', reason: 'LOCAL_DISK', instances: 2, names: ['a', 'b'] },
        { decision: 'hold', reason: 'UNKNOWN_STATE', instances: 1, names: ['odd'] },
      ],
    })
  })

  it('an instance whose root disk is a volume is not on a local disk', () => {
    const original = { ...plan('1').original, instance: instance('1', { imageId: null }) }
    expect(planCounts(hostPlan([plan('1', { decision: 'leave', original })]), 'local', at).onLocalDisks).toBe(0)
  })
})
