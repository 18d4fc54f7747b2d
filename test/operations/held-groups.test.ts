/** One failure is one thing: hosts that the brake holds, grouped by the narrowest scope, and let past together. */
import { describe, expect, it } from 'vitest'
import type { BrakeScope, ScopeKind } from '../../src/domain/brake.ts'
import { heldGroups, overrideEntries } from '../../src/operations/held-groups.ts'

const since = '2026-01-02T03:04:05.000Z'

function scope(name: string, kind: ScopeKind, fleet: number, hosts: string[], tripped = true): BrakeScope {
  const numbers = { down: hosts.length, cooling: 0, allowed: 2, fleet, hosts }
  return {
    scope: name,
    kind,
    title: name,
    ...numbers,
    trippedSince: tripped ? since : null,
    message: `${name} is full`,
  }
}

type Held = Parameters<typeof heldGroups>[0][number]
const held = (host: string, over: Partial<Held> = {}): Held => ({
  ...{ id: `i-${host}`, host, segment: 'az1', proof: null, override: null, cancelled: null },
  held: { code: 'BRAKE', message: 'full', since },
  ...over,
})

const rack = scope('domain:a', 'domain', 6, ['h1', 'h2', 'h3'])
const segment = scope('segment:az1', 'segment', 5, ['h1', 'h2', 'h4'])
const cloud = scope('cloud', 'cloud', 20, ['h1', 'h2', 'h3', 'h4', 'h5'])
const all = ['h1', 'h2', 'h3', 'h4', 'h5'].map((host) => held(host))
const named = (groups: ReturnType<typeof heldGroups>) =>
  groups.map((one) => [one.scope, one.members.map(({ host }) => host)])

describe('groups', () => {
  it('a host is in one: a rack before a segment, a segment before the cloud', () => {
    expect(named(heldGroups(all, [cloud, segment, rack]))).toEqual([
      ['domain:a', ['h1', 'h2', 'h3']],
      ['cloud', ['h5']],
      ['segment:az1', ['h4']],
    ])
  })
  it('the scopes that hold some of them too are named once', () => {
    expect(heldGroups(all, [cloud, segment, rack])[0]?.also).toEqual(['segment:az1', 'cloud'])
  })
  it('a scope that does not hold groups nothing', () => {
    const open = scope('domain:a', 'domain', 6, ['h1', 'h2', 'h3'], false)
    expect(named(heldGroups(all, [cloud, open]))).toEqual([['cloud', ['h1', 'h2', 'h3', 'h4', 'h5']]])
  })
  it.each<[string, Partial<Held>]>([
    ['waits for something else', { held: { code: 'PAUSED', message: 'so', since } }],
    ['is not held', { held: null }],
    ['was let past', { override: { by: 'ann', reason: 'sure' } }],
    ['is being cancelled', { cancelled: { by: 'ann', reason: 'sure' } }],
  ])('one that %s is in none', (_what, over) => {
    expect(heldGroups([held('h1', over)], [rack])).toEqual([])
  })
})

describe('an override of a group', () => {
  const groups = heldGroups(all, [rack, cloud])
  const order = { by: 'ann', reason: 'the PDU burnt', scope: 'domain:a' }
  const row = { updatedAt: '2026-01-01T00:00:50.000000', forcedDown: false, status: 'enabled' }
  /** Nova lists the last one no more. */
  const rowOf = (host: string): { row?: typeof row } => (host === 'h3' ? {} : { row })
  const overrides = (given: Parameters<typeof overrideEntries>[1]): ReturnType<typeof overrideEntries> =>
    overrideEntries(groups, given, rowOf)
  it('is one entry for each, under the name of who ordered it, with the row that was known then', () => {
    const { entries, overridden, skipped } = overrides({ ...order, incidents: ['i-h1', 'i-h2', 'i-h3'] })
    expect(entries).toEqual(
      ['h1', 'h2', 'h3'].map((host) => ({
        ...{ kind: 'operator.override', actor: 'operator:ann', incident: `i-${host}`, host },
        data: { by: 'ann', reason: 'the PDU burnt', ...rowOf(host) },
      })),
    )
    expect([overridden.length, skipped]).toEqual([3, []])
  })
  it('lets past nothing that the person did not see: a host that failed after they looked stays held', () => {
    const { overridden } = overrides({ ...order, incidents: ['i-h1', 'i-h2'] })
    expect(overridden.map(({ host }) => host)).toEqual(['h1', 'h2'])
  })
  it('names what another person let past meanwhile, or another scope holds', () => {
    const { skipped } = overrides({ ...order, incidents: ['i-h1', 'i-h5', 'i-gone'] })
    expect(skipped).toEqual(['i-h5', 'i-gone'])
  })
  it.each([
    ['holds none of them', 'domain:a', /holds i-h1, i-h2, i-h3/],
    ['holds nothing', 'domain:b', /holds nothing of domain:b/],
  ])('is refused when the scope %s', (_what, name, message) => {
    expect(() => overrides({ ...order, scope: name, incidents: ['i-h5'] })).toThrow(
      expect.objectContaining({ code: 'CONFLICT', message: expect.stringMatching(message) }),
    )
  })
})
