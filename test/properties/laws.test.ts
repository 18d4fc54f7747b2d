/**
 * The laws on what was ordered and on what incidents know of one another say of a journal that breaks them what is broken, as the tests
 * beside this one say it of the others: a law that cannot be broken guards nothing.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Entry, NewEntry } from '../../src/domain/entry.ts'
import type { Incident } from '../../src/domain/incident.ts'
import { ranTwice, recoveredTwice, type Ran } from './laws-of-doubles.ts'
import { contradictsTheOneBefore } from './laws-of-memory.ts'
import { fencedWhileHeld } from './laws-of-orders.ts'
import { sentWithoutALook } from './laws-of-looks.ts'
import type { Asked } from './timeline.ts'

const about = { host: 'cmp01', incident: 'inc-1' }
const opened = { kind: 'incident.opened', ...about, data: { segment: 'rack-a' } }
const by = { by: 'ann', reason: 'as agreed' }
const held: [string, object, object][] = [
  ['cancelled', { kind: 'operator.cancelled', ...about, data: by }, {}],
  ['only observed', { kind: 'mode.changed', data: { to: 'observe' } }, { kind: 'mode.changed', data: { to: 'armed' } }],
  ['paused', { kind: 'operator.paused', data: by }, { kind: 'operator.resumed', data: by }],
  [
    'in maintenance',
    { kind: 'operator.maintenance', data: { ...by, scope: { kind: 'segment', name: 'rack-a' } } },
    { kind: 'operator.maintenance-ended', data: { ...by, scope: { kind: 'segment', name: 'rack-a' } } },
  ],
  [
    'healthy',
    { kind: 'verdict.changed', ...about, data: { kind: 'healthy' } },
    { kind: 'verdict.changed', ...about, data: { kind: 'host-down' } },
  ],
]

/** A method of the chain begins after these. */
function fenced(...before: object[]): string[] {
  const attempt = { kind: 'fence.attempt', ...about, data: { method: 'bmc', phase: 'trying' } }
  const plain = { host: null, incident: null, instance: null, step: null }
  const entries = [opened, ...before, attempt].map((entry, seq) => ({ ...plain, seq, ...(entry as NewEntry) }))
  return fencedWhileHeld(entries as unknown as Entry[])
}

describe('every law', () => {
  it('is tried with a journal or a log that breaks it', () => {
    const folder = new URL('.', import.meta.url)
    const textOf = (ending: RegExp): string =>
      readdirSync(folder)
        .filter((file) => file.startsWith('laws') && ending.test(file))
        .map((file) => readFileSync(new URL(file, folder), 'utf8'))
        .join('\n')
    const laws = [...textOf(/^[^.]+\.ts$/).matchAll(/^ {4}\.\.\.(\w+)\(/gm)].map(([, name]) => name ?? '')
    const tests = textOf(/\.test\.ts$/)
    expect(laws.length).toBeGreaterThan(25)
    expect(laws.filter((law) => !tests.includes(`${law}(`))).toEqual([])
  })
})

describe('a method that fences', () => {
  it.each(held)('a host that is %s breaks a law', (why, begins) => {
    expect(fenced(begins)).toEqual([expect.stringContaining(why)])
  })

  it.each(held.slice(1))('a host that is no longer %s breaks none', (_why, begins, ends) => {
    expect(fenced(begins, ends)).toEqual([])
  })

  it('a host while another one is paused breaks none', () => {
    expect(fenced({ kind: 'operator.paused', data: { ...by, scope: { kind: 'host', name: 'cmp02' } } })).toEqual([])
  })
})

describe('an evacuation', () => {
  const look = { method: 'GET', status: 200, fault: null, user: 'lifeboat', action: null }
  const looks = ['os-services', 'os-migrations', 'servers/detail'].map((name) => ({
    ...look,
    path: `compute/v2.1/${name}`,
    at: 1_000,
  }))
  const order = { ...look, method: 'POST', path: 'compute/v2.1/servers/i-1/action', action: 'evacuate' }
  const stage = (requests: object[]) => sentWithoutALook({ simulator: { requests: () => requests as Asked[] } })

  it('right after a look at services, records and instances breaks no law', () => {
    expect(stage([...looks, { ...order, at: 5_000 }])).toEqual([])
  })

  it('on records of ten seconds before breaks one, though the services were read since', () => {
    const poll = { ...looks[0], at: 10_000 }
    expect(stage([...looks, poll, { ...order, at: 11_000 }])).toHaveLength(2)
  })

  it('on a poll that failed breaks one', () => {
    const broken = { ...looks[0], status: 503 }
    expect(stage([broken, ...looks.slice(1), { ...order, at: 2_000 }])).toHaveLength(1)
  })
})

describe('a later incident', () => {
  const plain = { host: 'cmp01', step: null, instance: 'i-1' }
  const plan = (incident: string, expected: string) => ({
    kind: 'plan.made',
    incident,
    data: { decision: 'recover', expected },
  })
  const failed = {
    kind: 'step.failed',
    incident: 'inc-1',
    data: { error: { code: 'GUEST_ON_DESTINATION', details: { destination: 'cmp02' } } },
  }
  const ends = (outcome: string) => ({ kind: 'outcome.recorded', incident: 'inc-1', data: { outcome } })
  const broken = (entries: object[], ordered: string[] = []) =>
    contradictsTheOneBefore(
      entries.map((entry, seq) => ({ ...plain, seq, ...entry })) as unknown as Entry[],
      new Set(ordered),
    )

  it('that gives an instance another state than the one before breaks a law', () => {
    expect(broken([plan('inc-1', 'stopped'), ends('failed'), plan('inc-2', 'running')])).toHaveLength(1)
  })

  it('may land off what is to run while its key cannot be had, and no longer than that', () => {
    const without = {
      ...plan('inc-2', 'stopped'),
      data: { ...plan('inc-2', 'stopped').data, reason: 'ENCRYPTED_WITHOUT_KEY' },
    }
    const before = [plan('inc-1', 'running'), ends('failed'), without]
    expect(broken([...before, plan('inc-3', 'running')])).toEqual([])
    expect(broken([...before, plan('inc-3', 'stopped')])).toHaveLength(1)
  })

  it('that evacuates what may be running elsewhere breaks a law, until that host is proven dead', () => {
    const before = [plan('inc-1', 'running'), failed, ends('stuck')]
    expect(broken([...before, plan('inc-2', 'running')])).toEqual([expect.stringContaining('cmp02')])
    const proven = { kind: 'proof.recorded', host: 'cmp02', instance: null, data: {} }
    expect(broken([...before, proven, plan('inc-2', 'running')])).toEqual([])
  })

  it('after a recovery, or after an order of its owner, breaks none', () => {
    expect(broken([plan('inc-1', 'stopped'), ends('recovered'), plan('inc-2', 'running')])).toEqual([])
    expect(broken([plan('inc-1', 'stopped'), ends('failed'), plan('inc-2', 'running')], ['i-1'])).toEqual([])
  })
})

describe('a guest that runs twice', () => {
  const double = { uuid: 'i-1', at: 9_000, host: 'cmp03', event: 'spawn', running: true, alsoOn: ['cmp02'] }
  const order = (at: number, user: string) => ({
    user,
    at,
    action: 'evacuate',
    path: 'compute/v2.1/servers/i-1/action',
  })
  const step = { kind: 'step.intended', data: { kind: 'evacuate' } }
  const recovered = { kind: 'outcome.recorded', data: { outcome: 'recovered', code: 'RUNNING' } }
  const incident = { instances: new Map([['i-1', { outcome: { outcome: 'recovered', code: 'RUNNING' } }]]) }
  /** Entries with when they were written, in ms. */
  const ran = (written: [number, object][], requests: object[]): string[] => {
    const truth = { doubles: [double], running: { 'i-1': ['cmp02', 'cmp03'] }, requests } as unknown as Ran
    const entries = written.map(([at, entry]) => ({ ...entry, instance: 'i-1', at: new Date(at).toISOString() }))
    const given = [truth, entries as unknown as Entry[], new Map([['inc-1', incident as unknown as Incident]])] as const
    return [...ranTwice(...given), ...recoveredTwice(...given)]
  }
  const broken = ['i-1 ran on cmp03 and cmp02', 'i-1 is recovered, and runs on cmp02 and cmp03']

  it('by our orders alone breaks a law', () => {
    expect(
      ran(
        [
          [1_000, step],
          [3_000, recovered],
        ],
        [order(1_000, 'lifeboat')],
      ),
    ).toEqual(broken)
  })

  it('by a person’s order that met ours breaks a law when its line does not say so', () => {
    expect(
      ran(
        [
          [1_000, step],
          [3_000, recovered],
        ],
        [order(2_000, 'admin')],
      ),
    ).toEqual(broken)
  })

  it('by a person’s order after its recovery breaks none, unless we ordered again', () => {
    const requests = [order(1_000, 'lifeboat'), order(5_000, 'admin')]
    expect(
      ran(
        [
          [1_000, step],
          [3_000, recovered],
        ],
        requests,
      ),
    ).toEqual([])
    expect(
      ran(
        [
          [1_000, step],
          [3_000, recovered],
          [6_000, step],
        ],
        requests,
      ),
    ).toEqual(broken)
  })

  it('by a person’s order breaks none where the clock was set back before it, unless we ordered after it', () => {
    const written: [number, object][] = [
      [3_601_000, step],
      [3_603_000, recovered],
    ]
    const requests = [order(3_601_000, 'lifeboat'), order(5_000, 'admin')]
    expect(ran(written, requests)).toEqual([])
    expect(ran(written, [...requests, order(6_000, 'lifeboat')])).toEqual(broken)
  })
})
