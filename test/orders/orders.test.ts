/** How long pauses, maintenance and calendar windows last: over restarts, and over clocks that are set. */
import { describe, expect, it, test } from 'vitest'
import { cloud, day, host, hour, minute, nightly, OrdersRig, segment } from './orders-rig.ts'

const ann = { by: 'ann', reason: 'work', until: null }

function untilIn(rig: OrdersRig, ms: number): string {
  return new Date(rig.clock.wall() + ms).toISOString()
}

describe('several orders at once', () => {
  test(
    'each is ended on its own',
    OrdersRig.run(async (rig) => {
      await rig.acts.pause(ann)
      await rig.acts.pause({ ...ann, scope: segment('a') })
      await rig.acts.pause({ ...ann, scope: host('h') })
      await rig.acts.startMaintenance({ ...ann, scope: host('h') })
      await rig.acts.resume({ ...ann, scope: segment('a') })
      expect(rig.inForce()).toEqual([
        'paused by ann until ended (the whole cloud): work',
        'paused by ann until ended (host h): work',
        'in maintenance by ann until ended (host h): work',
      ])
      await rig.acts.resume(ann)
      await rig.acts.endMaintenance({ ...ann, scope: host('h') })
      expect(rig.inForce()).toEqual(['paused by ann until ended (host h): work'])
      expect(rig.told.at(-1)).toEqual(rig.inForce())
    }),
  )

  test(
    'a second order of the same scope replaces the first, but for one that would end somebody else’s sooner',
    OrdersRig.run(async (rig) => {
      const until = '2026-01-01T02:00:00.000Z'
      await rig.acts.pause(ann)
      expect(() => rig.acts.pause({ by: 'bob', reason: 'more work', until })).toThrow(
        'an order that ends sooner would replace that one',
      )
      await rig.acts.pause({ ...ann, reason: 'nearly done', until })
      expect(rig.inForce()).toEqual([`paused by ann until ${until} (the whole cloud): nearly done`])
      await rig.acts.pause({ by: 'bob', reason: 'more work', until: '2026-01-01T03:00:00.000Z' })
      expect(rig.inForce()).toEqual(['paused by bob until 2026-01-01T03:00:00.000Z (the whole cloud): more work'])
      await rig.acts.startMaintenance({ ...ann, scope: host('h') })
      const shorter = { by: 'bob', reason: 'more work', until, scope: host('h') }
      expect(() => rig.acts.startMaintenance(shorter)).toThrow('in maintenance by ann until ended')
    }),
  )

  test(
    'what is covered: the cloud everything, a segment its hosts, a host itself',
    OrdersRig.run(async (rig) => {
      await rig.acts.pause({ ...ann, scope: segment('a') })
      await rig.acts.startMaintenance({ ...ann, scope: host('h') })
      const covered = (kind: 'pause' | 'maintenance', name: string, segments: string[]): number =>
        rig.orders.covering(kind, name, segments).length
      expect([covered('pause', 'x', ['b', 'a']), covered('pause', 'a', ['b']), covered('pause', 'x', [])]).toEqual([
        1, 0, 0,
      ])
      expect([covered('maintenance', 'h', []), covered('maintenance', 'hh', ['h'])]).toEqual([1, 0])
      await rig.acts.pause({ ...ann, scope: cloud })
      expect(covered('pause', 'x', [])).toBe(1)
    }),
  )

  test(
    'ending what is not in force is refused, and says what is',
    OrdersRig.run(async (rig) => {
      await rig.acts.pause({ ...ann, scope: host('h') })
      const end = async (): Promise<void> => rig.acts.resume(ann)
      await expect(end()).rejects.toMatchObject({
        code: 'CONFLICT',
        message: 'No pause of the whole cloud is in force (in force: host h)',
      })
      const other = async (): Promise<void> => rig.acts.endMaintenance({ ...ann, scope: host('h') })
      await expect(other()).rejects.toMatchObject({ message: 'No maintenance of host h is in force (none is)' })
    }),
  )

  test(
    'the entries of older releases, without a scope, are the whole cloud',
    OrdersRig.run((rig) => {
      rig.journal.append([{ kind: 'operator.paused', data: { by: 'ann', reason: 'x', until: null } }])
      expect(rig.orders.covering('pause', 'any', [])).toHaveLength(1)
      rig.journal.append([{ kind: 'operator.resumed', data: { by: 'ann', reason: 'x' } }])
      expect(rig.inForce()).toEqual([])
    }),
  )
})

describe('an order with a time', () => {
  const started = async (rig: OrdersRig): Promise<void> => {
    await rig.acts.startMaintenance({ ...ann, until: untilIn(rig, 4 * hour), scope: host('h') })
  }

  test(
    'ends at it, to the millisecond, and its end is on record',
    OrdersRig.run(async (rig) => {
      await started(rig)
      rig.pass(4 * hour - 1)
      expect(rig.inForce()).toHaveLength(1)
      expect(rig.orders.nextChangeInMs()).toBe(1)
      rig.pass(1)
      expect(rig.inForce()).toEqual([])
      expect(rig.written('operator.')).toEqual([
        '01-01T00:00 operator:ann operator.maintenance',
        '01-01T04:00 daemon operator.maintenance-ended',
      ])
      expect(rig.orders.nextChangeInMs()).toBe(Infinity)
    }),
  )

  test(
    'only that order ends, not a calendar’s of the same host',
    OrdersRig.run(async (rig) => {
      rig.windows.push(nightly({ schedule: '0 0 * * *', durationMs: 8 * hour }))
      rig.pass(0)
      await started(rig)
      rig.pass(4 * hour)
      expect(rig.inForce()).toEqual([
        'in maintenance by calendar:night until 2026-01-01T08:00:00.000Z (host cmp01): updates',
      ])
    }),
  )

  it.each([
    ['forward by a year', 365 * day],
    ['back by a year', -365 * day],
    ['back by an hour', -hour],
  ])('a wall clock set %s neither ends nor prolongs it', (_name, stepMs) =>
    OrdersRig.run(async (rig) => {
      await started(rig)
      rig.pass(hour)
      rig.stepWall(stepMs)
      rig.pass(3 * hour - 1)
      expect(rig.inForce()).toHaveLength(1)
      rig.pass(1)
      expect(rig.inForce()).toEqual([])
    })(),
  )

  test(
    'goes on over a restart, for what is left of it',
    OrdersRig.run(async (rig) => {
      await started(rig)
      rig.pass(hour)
      rig.restart(hour)
      rig.pass(2 * hour - 1)
      expect(rig.inForce()).toHaveLength(1)
      rig.pass(1)
      expect(rig.inForce()).toEqual([])
    }),
  )

  test(
    'that passed while no daemon ran is over at the first look',
    OrdersRig.run(async (rig) => {
      await started(rig)
      rig.restart(4 * hour)
      expect(rig.inForce()).toEqual([])
      expect(rig.written('operator.maintenance-ended')).toHaveLength(1)
    }),
  )

  test(
    'a clock set back while no daemon ran: its full length again, never for ever',
    OrdersRig.run(async (rig) => {
      await started(rig)
      rig.pass(hour)
      rig.restart(-365 * day)
      rig.pass(4 * hour - 1)
      expect(rig.inForce()).toHaveLength(1)
      rig.pass(1)
      expect(rig.inForce()).toEqual([])
    }),
  )

  test(
    'once over it stays over, also when the clock is set back and the daemon restarted',
    OrdersRig.run(async (rig) => {
      await started(rig)
      rig.pass(4 * hour)
      rig.restart(-3 * hour)
      expect(rig.inForce()).toEqual([])
    }),
  )

  test(
    'a journal that cannot be written keeps it in force: nothing ends without a record',
    OrdersRig.run(async (rig) => {
      await started(rig)
      const { append } = rig.journal
      rig.journal.append = () => {
        throw new Error('disk full')
      }
      expect(() => rig.pass(4 * hour)).toThrow('disk full')
      expect(rig.inForce()).toHaveLength(1)
      rig.journal.append = append
      rig.pass(1)
      expect(rig.inForce()).toEqual([])
    }),
  )
})

describe('a calendar window', () => {
  const night = (from = '01'): string =>
    `in maintenance by calendar:night until 2026-01-${from}T06:00:00.000Z (host cmp01): updates`

  test(
    'opens and closes by itself, every day, under its own name',
    OrdersRig.run((rig) => {
      rig.windows.push(nightly())
      rig.pass(2 * hour - 1)
      expect(rig.inForce()).toEqual([])
      rig.pass(1)
      expect(rig.inForce()).toEqual([night()])
      rig.pass(4 * hour - 1)
      expect(rig.inForce()).toEqual([night()])
      rig.pass(1)
      expect(rig.inForce()).toEqual([])
      rig.pass(20 * hour)
      expect(rig.inForce()).toEqual([night('02')])
      expect(rig.written('operator.')).toEqual([
        '01-01T02:00 calendar:night operator.maintenance',
        '01-01T06:00 calendar:night operator.maintenance-ended',
        '01-02T02:00 calendar:night operator.maintenance',
      ])
    }),
  )

  test(
    'that a daemon starts inside of is open at once, and closes at its time',
    OrdersRig.run((rig) => {
      rig.restart(5 * hour, [nightly()])
      expect(rig.inForce()).toEqual([night()])
      rig.pass(hour)
      expect(rig.inForce()).toEqual([])
    }),
  )

  test(
    'is opened once, however often the daemon restarts in it',
    OrdersRig.run((rig) => {
      rig.windows.push(nightly())
      rig.pass(2 * hour)
      rig.restart(minute)
      rig.restart(minute)
      expect(rig.inForce()).toEqual([night()])
      expect(rig.written('operator.')).toHaveLength(1)
    }),
  )

  test(
    'that a person ended stays ended until its next start, also over a restart',
    OrdersRig.run(async (rig) => {
      rig.windows.push(nightly())
      rig.pass(3 * hour)
      await rig.acts.endMaintenance({ ...ann, scope: host('cmp01') })
      rig.pass(hour)
      rig.restart(minute)
      expect(rig.inForce()).toEqual([])
      rig.pass(22 * hour)
      expect(rig.inForce()).toEqual([night('02')])
    }),
  )

  test(
    'that is no longer configured ends at the next start, and so does one for other hosts',
    OrdersRig.run((rig) => {
      rig.windows.push(nightly(), nightly({ name: 'other', scopes: [host('a'), host('b')] }))
      rig.pass(3 * hour)
      expect(rig.inForce()).toHaveLength(3)
      rig.restart(minute, [nightly({ name: 'other', scopes: [host('b')] })])
      expect(rig.inForce()).toEqual([
        'in maintenance by calendar:other until 2026-01-01T06:00:00.000Z (host b): updates',
      ])
      expect(rig.written('operator.maintenance-ended')).toHaveLength(2)
    }),
  )

  test(
    'windows that overlap are orders of their own',
    OrdersRig.run((rig) => {
      rig.windows.push(nightly(), nightly({ name: 'late', kind: 'pause', schedule: '0 4 * * *' }))
      rig.pass(5 * hour)
      expect(rig.inForce()).toEqual([
        night(),
        'paused by calendar:late until 2026-01-01T08:00:00.000Z (host cmp01): updates',
      ])
      rig.pass(2 * hour)
      expect(rig.inForce()).toHaveLength(1)
      rig.pass(hour)
      expect(rig.written('operator.resumed')).toEqual(['01-01T08:00 calendar:late operator.resumed'])
    }),
  )

  test(
    'a clock set back in it: open for as long as the calendar says so, in one piece',
    OrdersRig.run((rig) => {
      rig.windows.push(nightly())
      rig.pass(5 * hour)
      rig.stepWall(-2 * hour)
      rig.pass(3 * hour - 1)
      expect(rig.inForce()).toEqual([night()])
      rig.pass(1)
      expect(rig.inForce()).toEqual([])
      expect(rig.written('operator.')).toHaveLength(2)
    }),
  )

  test(
    'a clock set back to before it: it lasts its length, and then as long as it is open again',
    OrdersRig.run((rig) => {
      rig.windows.push(nightly())
      rig.pass(2 * hour)
      rig.stepWall(-90 * minute)
      expect(rig.inForce()).toEqual([night()])
      rig.pass(4 * hour)
      expect(rig.inForce()).toEqual([night()])
      rig.pass(90 * minute)
      expect(rig.inForce()).toEqual([])
      expect(rig.written('operator.')).toHaveLength(2)
    }),
  )

  test(
    'a clock set forward over its end: it lasts its length all the same',
    OrdersRig.run((rig) => {
      rig.windows.push(nightly())
      rig.pass(3 * hour)
      rig.stepWall(10 * hour)
      rig.pass(2 * hour)
      expect(rig.inForce()).toEqual([night()])
      rig.pass(hour)
      expect(rig.inForce()).toEqual([])
    }),
  )
})

describe('an order without an end is brought to mind once a day', () => {
  const alarms = (rig: OrdersRig): string[] =>
    rig.journal
      .read({ kinds: ['alarm.raised'] })
      .map(({ at, data }) => `${at.slice(5, 16)} ${'code' in data && data.code}`)

  test(
    'from its first day on, each order for itself',
    OrdersRig.run(async (rig) => {
      await rig.acts.pause(ann)
      rig.pass(12 * hour)
      await rig.acts.startMaintenance({ ...ann, scope: host('h') })
      rig.pass(12 * hour - 1)
      expect(alarms(rig)).toEqual([])
      rig.pass(1)
      rig.pass(0)
      expect(alarms(rig)).toEqual(['01-02T00:00 PAUSE_FORGOTTEN'])
      rig.pass(12 * hour)
      rig.pass(12 * hour)
      expect(alarms(rig).slice(1)).toEqual(['01-02T12:00 PAUSE_FORGOTTEN', '01-03T00:00 PAUSE_FORGOTTEN'])
      const [first] = rig.journal.read({ kinds: ['alarm.raised'], newestFirst: true, limit: 1 })
      expect(first?.data).toMatchObject({
        message: expect.stringMatching(/^The pause of the whole cloud by ann since 2026-01-01T.* is 2 d old: work\. /),
      })
    }),
  )

  test(
    'a restart does not say it again before its time',
    OrdersRig.run(async (rig) => {
      await rig.acts.pause(ann)
      rig.restart(25 * hour)
      rig.restart(hour)
      rig.restart(23 * hour - 1)
      expect(alarms(rig)).toEqual(['01-02T01:00 PAUSE_FORGOTTEN'])
      rig.restart(1)
      expect(alarms(rig)).toHaveLength(2)
    }),
  )

  test(
    'one with an end is not, however long it is',
    OrdersRig.run(async (rig) => {
      await rig.acts.pause({ ...ann, until: untilIn(rig, 30 * day) })
      rig.pass(29 * day)
      expect(alarms(rig)).toEqual([])
    }),
  )
})
