/**
 * Orders on record as earlier code wrote them, before maintenance could be planned: they are in force with the same meaning, and
 * end when they were ordered to.
 */
import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { orderText } from '../../src/domain/order.ts'
import { openJournal } from '../../src/journal/journal.ts'
import { Orders } from '../../src/orders/orders.ts'
import { temporaryDirectory } from './fixtures.ts'

const folder = fileURLToPath(new URL('./releases-orders/', import.meta.url))
const recordedAt = Date.parse('2026-01-01T05:00:00Z')

test.each(readdirSync(folder))('%s: its orders are in force, and none is planned', (release) => {
  const path = join(temporaryDirectory(), 'journal.db')
  copyFileSync(join(folder, release, 'five-orders-in-force.db'), path)
  const clock = { now: () => 0, wall: () => recordedAt, after: () => () => undefined }
  const journal = openJournal(path, { clock })
  const orders = new Orders(journal, clock)
  expect(journal.verify()).toMatchObject({ broken: null })
  expect(orders.planned()).toEqual([])
  expect(orders.inForce().map(orderText)).toEqual([
    'in maintenance by ann until ended (host cmp02): work',
    'in maintenance by bob until 2026-01-03T00:00:00.000Z (segment a): work',
    'paused by ann until 2026-01-01T08:00:00.000Z (the whole cloud): work',
    'in maintenance by calendar:night until 2026-01-01T06:00:00.000Z (host cmp01): updates',
    'in maintenance by carl until ended (host cmp03): on_maintenance was set',
  ])
  expect(orders.nextChangeInMs()).toBe(3_600_000)
  expect(orders.asField({ kind: 'host', name: 'cmp03' })?.by).toBe('carl')
  expect(
    orders.knowsOpening('maintenance', { kind: 'host', name: 'b' }, 'calendar:other', '2026-01-01T06:00:00.000Z'),
  ).toBe(true)
  journal.close()
})
