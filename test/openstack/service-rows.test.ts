/** Which row is a host's, where Nova lists several. */
import { expect, it } from 'vitest'
import type { ServiceRecord } from '../../src/domain/service.ts'
import { oneRowAHost } from '../../src/openstack/service-rows.ts'

const row = (id: string, changes: Partial<ServiceRecord> = {}): ServiceRecord => ({
  ...{ id, binary: 'nova-compute', host: 'a', zone: 'nova', status: 'enabled', state: 'up' },
  ...{ updatedAt: '2030-01-01T12:00:00', forcedDown: false, disabledReason: null },
  ...changes,
})
const later = '2030-01-01T12:00:10.000000'

it.each([
  ['the only one', [row('1'), row('2', { host: 'b' })], ['1', '2'], []],
  ['the one that was written last', [row('old'), row('new', { updatedAt: later })], ['new'], ['old']],
  ['whatever their order', [row('new', { updatedAt: later }), row('old')], ['new'], ['old']],
  ['no row that was never written', [row('never', { updatedAt: null }), row('new')], ['new'], ['never']],
  [
    'that of a cell that Nova cannot reach, for it lists those of hosts that are mapped there',
    [row('old', { updatedAt: later }), row('lost', { status: 'unknown', updatedAt: null, state: null })],
    ['lost'],
    ['old'],
  ],
  [
    'every one of a conductor: each cell has its own',
    [row('c1', { binary: 'nova-conductor' }), row('c2', { binary: 'nova-conductor' })],
    ['c1', 'c2'],
    [],
  ],
] as const)('a host has %s', (_which, rows, own, leftOver) => {
  const found = oneRowAHost(rows)
  expect(found.services.map(({ id }) => id)).toEqual(own)
  expect(found.leftOver.map(({ id }) => id)).toEqual(leftOver)
})
