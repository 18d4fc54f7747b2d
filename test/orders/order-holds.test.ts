/** What orders mean for incidents, hosts and the brake, and whose names are refused. */
import { describe, expect, it, test } from 'vitest'
import { orderActs } from '../../src/orders/order-acts.ts'
import { isOnlyWaiting, maintenanceOf, orderHolds, withoutPlanned } from '../../src/orders/order-holds.ts'
import { covers, type Order } from '../../src/domain/order.ts'
import type { Verdict, VerdictKind } from '../../src/domain/verdict.ts'
import { cloud, host, OrdersRig, segment } from './orders-rig.ts'

const order: Order = {
  kind: 'maintenance',
  scope: host('a'),
  by: 'ann',
  reason: 'x',
  since: '2026-01-01T00:00:00.000Z',
  until: null,
  source: null,
}
const pause: Order = { ...order, kind: 'pause', by: 'bob', until: '2026-01-01T02:00:00.000Z' }

function ordersOf(...inForce: Order[]) {
  const covering = (kind: Order['kind'], name: string, segments: readonly string[]): Order[] =>
    inForce.filter((one) => one.kind === kind && covers(one.scope, name, segments))
  return { covering }
}

describe('an incident', () => {
  it('without an order is not held', () => expect(orderHolds('a', ordersOf(), ['old'])).toBeNull())

  it('is held by maintenance of its host', () =>
    expect(orderHolds('a', ordersOf(order), [])).toEqual({
      hold: 'MAINTENANCE',
      message: 'in maintenance by ann until ended (host a): x',
    }))

  it('is held by a pause first, and both are said of several pauses', () =>
    expect(orderHolds('a', ordersOf(order, pause, { ...pause, scope: cloud, by: 'eve' }), [])).toEqual({
      hold: 'PAUSED',
      message:
        'paused by bob until 2026-01-01T02:00:00.000Z (host a): x; paused by eve until 2026-01-01T02:00:00.000Z (the whole cloud): x',
    }))

  it.each([
    ['the segment it was opened in', 'old', 'PAUSED'],
    ['the segment of today', 'new', 'PAUSED'],
    ['another segment', 'other', undefined],
  ])('is held by an order for %s', (_name, name, hold) =>
    expect(orderHolds('a', ordersOf({ ...pause, scope: segment(name) }), ['old', 'new'])?.hold).toBe(hold),
  )

  const proof = { host: 'a', method: 'bmc', strength: 'power-off' as const, provenAt: '', statedBy: null, evidence: [] }
  it.each([
    ['nothing was done', { proof: null, attestation: null }, true],
    ['a person stated its death', { proof: null, attestation: { by: 'ann', statement: 'dead' } }, false],
    ['the host is proven dead', { proof, attestation: null }, false],
  ])('when %s only waits: %s', (_name, state, waits) => expect(isOnlyWaiting(state)).toBe(waits))
})

describe('for the brake', () => {
  const verdict = (name: string, kind: VerdictKind): Verdict => ({ host: name, kind, segment: 's' }) as Verdict
  const kinds = (...verdicts: Verdict[]): VerdictKind[] =>
    withoutPlanned(verdicts, ordersOf(order)).map(({ kind }) => kind)

  it('silent hosts in maintenance are no sign of a failure, others are', () => {
    for (const kind of ['host-down', 'suspect', 'service-down', 'unknown'] as const)
      expect(kinds(verdict('a', kind), verdict('b', kind))).toEqual(['maintenance', kind])
  })

  it('what is not silent stays what it is', () =>
    expect(kinds(verdict('a', 'healthy'), verdict('a', 'contradiction'))).toEqual(['healthy', 'contradiction']))

  it('maintenance of its segment is maintenance of a host, and of another segment is not', () => {
    const orders = ordersOf({ ...order, scope: segment('s') })
    expect(maintenanceOf(orders, 'a', 's')).toBe('in maintenance by ann until ended (segment s): x')
    expect(maintenanceOf(orders, 'a', 't')).toBeNull()
  })

  it('a pause is no maintenance', () => expect(maintenanceOf(ordersOf(pause), 'a', 's')).toBeNull())
})

test(
  'a name that Nova and the configuration do not know is refused, once Nova was read',
  OrdersRig.run(async ({ clock, journal, orders }) => {
    const known = { host: 'a', segment: 's' } as Verdict
    const monitor = (seen: boolean) => ({
      verdicts: () => (seen ? [known] : []),
      verdict: (name: string) => (seen && name === 'a' ? known : undefined),
      segments: () => [{ name: 's' } as ReturnType<Parameters<typeof orderActs>[0]['monitor']['segments']>[number]],
    })
    const acts = (seen: boolean) => orderActs({ clock, journal, orders, monitor: monitor(seen) })
    const ann = { by: 'ann', reason: 'x', until: null }
    for (const scope of [host('b'), segment('t')]) {
      await expect((async () => acts(true).startMaintenance({ ...ann, scope }))()).rejects.toMatchObject({
        code: 'NOT_FOUND',
      })
      await expect((async () => acts(true).pause({ ...ann, scope }))()).rejects.toMatchObject({ code: 'NOT_FOUND' })
    }
    expect(journal.read()).toEqual([])
    for (const scope of [host('a'), segment('s'), cloud]) await acts(true).startMaintenance({ ...ann, scope })
    await acts(false).pause({ ...ann, scope: host('b') })
    expect(orders.inForce()).toHaveLength(4)
  }),
)
