/** What the journal tells of an instance that crashed. */
import { expect, it } from 'vitest'
import { CrashRecord } from '../../src/control/crash-record.ts'
import { VirtualClock } from '../../src/simulator/virtual-clock.ts'

it('knows every order of Lifeboat for the instance, in whichever incident it was given, so that none counts as a person’s', () => {
  const issued = [
    { incident: 'of-its-host', instance: 'i-1', requestId: 'req-start-after-return' },
    { incident: 'of-its-crash', instance: 'i-1', requestId: 'req-reboot' },
    { incident: 'of-its-crash', instance: 'i-1', requestId: null },
    { incident: 'of-its-host', instance: 'i-2', requestId: 'req-of-another' },
  ].map(({ requestId, ...about }) => ({ kind: 'step.issued', ...about, data: { requestId } }))
  const journal = {
    read: ({ instance, kinds }: { instance: string; kinds: string[] }) =>
      issued.filter((entry) => entry.instance === instance && kinds.includes(entry.kind)),
    onAppend: () => undefined,
  }
  type Read = ConstructorParameters<typeof CrashRecord>[0]
  const record = new CrashRecord(journal as unknown as Read, new VirtualClock())
  expect(record.requests('i-1')).toEqual(['req-start-after-return', 'req-reboot'])
})
