/** What the journal tells of an instance that crashed. */
import { describe, expect, it } from 'vitest'
import { CrashRecord } from '../../src/control/crash-record.ts'
import { VirtualClock } from '../../src/simulator/virtual-clock.ts'

describe('the orders of Lifeboat for an instance', () => {
  const clock = new VirtualClock()
  const issued = [
    { incident: 'of-its-host', instance: 'i-1', requestId: 'req-start-after-return' },
    { incident: 'of-its-crash', instance: 'i-1', requestId: 'req-reboot' },
    { incident: 'of-its-crash', instance: 'i-1', requestId: null },
    { incident: 'of-its-host', instance: 'i-2', requestId: 'req-of-another' },
  ].map(({ requestId, ...about }) => ({
    kind: 'step.issued',
    seq: 1,
    at: new Date(clock.wall()).toISOString(),
    ...about,
    data: { requestId },
  }))
  const journal = {
    read: ({ instance, kinds }: { instance: string; kinds: string[] }) =>
      issued.filter((entry) => entry.instance === instance && kinds.includes(entry.kind)),
    onAppend: () => undefined,
  }
  type Read = ConstructorParameters<typeof CrashRecord>[0]
  const record = new CrashRecord(journal as unknown as Read, clock)
  const ids = ['req-start-after-return', 'req-reboot']

  it('are known in whichever incident they were given, so that none counts as a person’s', () => {
    expect(record.requests('i-1', clock.now() + 1, null)).toEqual(ids)
  })

  it('are unknown where another incident has given one since whose id Nova did not tell', () => {
    expect(record.requests('i-1', clock.now(), null)).toBeNull()
    expect(record.requests('i-1', clock.now(), 'of-its-crash')).toEqual(ids)
  })
})
