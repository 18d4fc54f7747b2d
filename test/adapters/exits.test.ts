/** Nothing is powered off and nobody is told by a daemon that does not act. */
import { describe, expect, it } from 'vitest'
import { deliveryThrough, fencingThrough } from '../../src/adapters/exits.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import { openExit } from '../../src/domain/tenure.ts'
import type { FencingMethod } from '../../src/fencing/method.ts'
import type { Deliver, Ended } from '../../src/notices/index.ts'
import { Gate } from './gate.ts'

const { signal } = new AbortController()

describe('a fencing method of a daemon that shares its journal', () => {
  /** Powers off in two steps; `between` is where something may happen. */
  const method = (orders: string[], between: () => void = () => undefined): FencingMethod => ({
    ...{ name: 'bmc', strength: 'power-off', covers: () => true },
    look: () => Promise.resolve({ power: 'off', detail: '' }),
    off: (_host, cut, mayAct) => {
      between()
      mayAct?.()
      if (cut?.aborted === true) return Promise.reject(new LifeboatError('FENCE_STOPPED', 'cut off'))
      orders.push('off')
      return Promise.resolve([])
    },
  })

  it('orders nothing where another daemon is active', async () => {
    const gate = new Gate()
    gate.open = false
    const orders: string[] = []
    await expect(fencingThrough(gate, method(orders)).off('cmp01', signal)).rejects.toMatchObject({
      code: 'NOT_ACTIVE',
    })
    expect(orders).toEqual([])
  })

  it('orders nothing once the lease ran out, although it was there as the method began', async () => {
    const gate = new Gate()
    const orders: string[] = []
    const off = fencingThrough(
      gate,
      method(orders, () => gate.lapse()),
    ).off('cmp01', signal)
    await expect(off).rejects.toMatchObject({ code: 'HELD_BACK' })
    expect(orders).toEqual([])
  })

  it('is cut off when the lease runs out in the middle of it', async () => {
    const gate = new Gate()
    const waiting: FencingMethod = {
      ...method([]),
      off: (_host, cut) =>
        new Promise((_resolve, reject) => cut?.addEventListener('abort', () => reject(new Error('cut')))),
    }
    const off = fencingThrough(gate, waiting).off('cmp01', signal)
    await Promise.resolve()
    gate.lapse()
    await expect(off).rejects.toThrow('cut')
  })

  it('is left as it is where the journal is its own', () => {
    const own = method([])
    expect(fencingThrough(openExit, own)).toBe(own)
  })
})

describe('a receiver of a daemon that shares its journal', () => {
  const taken: Ended = { ok: true, result: '200' }
  const receiver = (sent: string[]): Deliver =>
    Object.assign(
      () => {
        sent.push('notice')
        return Promise.resolve(taken)
      },
      {
        renewal: {
          everyMs: 60_000,
          send: () => {
            sent.push('renewal')
            return Promise.resolve(taken)
          },
        },
      },
    )
  const attempt = { notice: {} as Parameters<Deliver>[0]['notice'], attempt: 1, signal }

  it('gets notices and renewals from the active one', async () => {
    const sent: string[] = []
    const through = deliveryThrough(new Gate(), receiver(sent))
    expect([await through(attempt), await through.renewal?.send(() => [], signal)]).toEqual([taken, taken])
    expect([sent, through.renewal?.everyMs]).toEqual([['notice', 'renewal'], 60_000])
  })

  it('is cut off when the lease runs out in the middle of it', async () => {
    const gate = new Gate()
    const waiting: Deliver = ({ signal: cut }) =>
      new Promise((resolve) =>
        cut.addEventListener('abort', () => resolve({ ok: false, problem: 'cut', final: false })),
      )
    const sent = deliveryThrough(gate, waiting)(attempt)
    await Promise.resolve()
    gate.lapse()
    expect(await sent).toMatchObject({ problem: 'cut' })
  })

  it('gets neither from one that is not active, and the notice is tried again', async () => {
    const gate = new Gate()
    gate.open = false
    const sent: string[] = []
    const through = deliveryThrough(gate, receiver(sent))
    const held = { ok: false, problem: 'ctl2 is active', final: false }
    expect([await through(attempt), await through.renewal?.send(() => [], signal)]).toEqual([held, held])
    expect(sent).toEqual([])
  })
})
