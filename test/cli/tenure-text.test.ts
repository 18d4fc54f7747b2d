/** What `lifeboat status` says of a daemon among those that share its journal. */
import { describe, expect, it } from 'vitest'
import { tenureText } from '../../src/cli/tenure-text.ts'
import type { KnownDaemon, TenureView } from '../../src/domain/tenure.ts'

function daemon(name: string, changes: Partial<KnownDaemon> = {}): KnownDaemon {
  return {
    ...{ name, address: '', version: '1', mode: 'armed', configDigest: 'd', copiedSeq: 7, goodPollAgeMs: 900 },
    ...{ at: '2026-01-02T03:04:05.678Z', present: true, ...changes },
  }
}

/** ctl2 as it stands by for ctl1. */
function lines(changes: Partial<TenureView> = {}): string[] {
  const standby: TenureView = {
    ...{ state: 'standby', name: 'ctl2', epoch: 3, active: { name: 'ctl1', address: '' }, waits: 'ctl1 is active' },
    ...{ leaseLeftMs: null, staged: 0, behind: 0, daemons: ['ctl1', 'ctl2', 'ctl3'].map((name) => daemon(name)) },
    namesake: null,
  }
  return tenureText({ ...standby, ...changes }).split('\n')
}
const active: Partial<TenureView> = { state: 'active', name: 'ctl1', waits: null, leaseLeftMs: 5_000 }

describe('of itself', () => {
  it.each<[string, Partial<TenureView>, string]>([
    ['that another one is active', {}, 'ctl2 is standby: ctl1 is active'],
    [
      'who is active, before it has looked itself',
      { state: 'following', waits: null },
      'ctl2 is following, ctl1 is active',
    ],
    [
      'why it cannot take over, and not that the last active one is active',
      { waits: 'its own writes to the shared journal do not come through' },
      'ctl2 is standby: its own writes to the shared journal do not come through',
    ],
    ['what its copy lacks', { behind: 4 }, 'ctl2 is standby: ctl1 is active, its copy lacks 4 entries'],
    ['that it is active', active, 'ctl1 is active'],
    [
      'that it was active, and why it does nothing now',
      { ...active, state: 'suspended', leaseLeftMs: 0 },
      'ctl1 is suspended: its lease has run out, and it sends nothing',
    ],
    [
      'that another daemon of its name is active',
      { name: 'ctl1', waits: null, namesake: daemon('ctl1') },
      'ctl1 is standby, another daemon called ctl1 is active',
    ],
    [
      'not that it is active itself as what it was before its restart',
      { name: 'ctl1', waits: null },
      'ctl1 is standby',
    ],
  ])('it says %s', (_what, changes, line) => expect(lines(changes)[0]).toBe(line))
})

it('another daemon of its name is named with its address, and what to do', () =>
  expect(lines({ namesake: daemon('ctl2', { address: 'https://192.0.2.7' }) })).toEqual([
    'ctl2 is standby: ctl1 is active',
    'Another daemon is called ctl2 too (https://192.0.2.7): give each its own shared_journal.name, and restart it',
    'ctl1: active, version 1',
    'ctl3: there, version 1',
  ]))

describe('of each other daemon', () => {
  it('it says which is active, and which is there', () =>
    expect(lines().slice(1)).toEqual(['ctl1: active, version 1', 'ctl3: there, version 1']))

  it('it says since when it has not heard of one', () => {
    const daemons = [daemon('ctl1', { present: false }), daemon('ctl3', { present: false })]
    expect(lines({ daemons }).slice(1)).toEqual([
      'ctl1: not heard of since 2026-01-02 03:04:05Z, active until then, version 1',
      'ctl3: not heard of since 2026-01-02 03:04:05Z, version 1',
    ])
  })
})
