/** A host that is taken out of Nova before anything was begun: its incident ends by itself, or waits where it cannot be known. */
import { describe, expect, test } from 'vitest'
import type { Instance } from '../../src/domain/instance.ts'
import type { ServiceRecord } from '../../src/domain/service.ts'
import { Removal, staysRemovedMs, type Presence } from '../../src/executor/removal.ts'
import { dead, withRig } from './rig.ts'

const row = (host: string, status = 'enabled'): ServiceRecord =>
  ({ id: host, binary: 'nova-compute', host, status }) as ServiceRecord
const seen = (services: ServiceRecord[], here: Partial<Instance>[] = []): Pick<Presence, 'here' | 'reading'> => ({
  here: here as Instance[],
  reading: { services, showsLostCells: true, serverTimeMs: null, tookMs: 1 },
})
const gone = seen([row('other')])

describe('what speaks for a removal', () => {
  test('counts once it was seen for long enough, and not at one glimpse', () => {
    const removal = new Removal('h')
    expect(removal.take(gone, 1_000)).toBe('seems')
    expect(removal.take(gone, 999 + staysRemovedMs)).toBe('seems')
    expect(removal.take(gone, 1_000 + staysRemovedMs)).toBe('removed')
  })

  test.each([
    ['its row is back', seen([row('other'), row('h')])],
    ['another cell does not answer', seen([row('other'), row('far', 'unknown')])],
    ['an instance is on it', seen([row('other')], [{ id: 'i' }])],
  ])('begins again after a look in which %s', (_, against) => {
    const removal = new Removal('h')
    removal.take(gone, 0)
    expect(removal.take(against, 5_000)).toBe('no')
    expect(removal.take(gone, staysRemovedMs)).toBe('seems')
  })

  test('begins again after a look that saw nothing', () => {
    const removal = new Removal('h')
    removal.take(gone, 0)
    removal.forget()
    expect(removal.take(gone, staysRemovedMs)).toBe('seems')
  })
})

test.each(['an instance is listed there', 'the list cannot be read'])(
  'a host that is not listed waits for a person while %s',
  (why) =>
    withRig({}, async (rig) => {
      rig.wrapPermissions = (permissions) => ({
        ...permissions,
        lookAgain: async (...asked) => {
          const { verdict } = await permissions.lookAgain(...asked)
          return { verdict: { ...verdict, kind: 'unknown', reason: 'ROW_MISSING', message: 'gone' }, frozen: null }
        },
      })
      if (why === 'an instance is listed there') rig.simulator.addInstance({ host: dead })
      else rig.simulator.apiFault({ kind: 'refuse', path: /servers\/detail/ })
      rig.simulator.crash(dead)
      rig.seed('confirming')
      const run = rig.run()
      await rig.until(() => rig.incident.held?.code === 'NOVA_REFUSED', 'held')
      expect(rig.incident).toMatchObject({ phase: 'confirming', closed: null })
      rig.cancel()
      await run
    })(),
)
