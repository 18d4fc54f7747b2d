/** What readiness reads, and when it leaves Nova and the fencing devices alone. */
import { expect, it } from 'vitest'
import { sleep } from '../../src/domain/clock.ts'
import type { Cloud } from '../../src/domain/cloud.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { Incident } from '../../src/domain/incident.ts'
import type { HostPlan } from '../../src/domain/plan.ts'
import { builtInSettings } from '../../src/domain/segment.ts'
import type { Verdict } from '../../src/domain/verdict.ts'
import { ReadinessReads, type ReadsParts } from '../../src/review/readiness-reads.ts'
import { VirtualClock } from '../../src/simulator/index.ts'

function reading({ hosts = 3, fencing = ['bmc'], lookMs = 100 } = {}) {
  const clock = new VirtualClock(0)
  const planned: string[] = []
  const looked: string[] = []
  let listed = 0
  let open: Pick<Incident, 'held' | 'host'>[] = []
  let tell: Parameters<ReadsParts['journal']['onAppend']>[0] = () => undefined
  const cloud = { listServices: async () => ++listed } as unknown as Cloud
  const parts = {
    clock,
    cloud,
    fencer: {
      look: async (host: string, method: string, { signal }: { signal?: AbortSignal } = {}) => {
        looked.push(host)
        await sleep(clock, lookMs, signal)
        if (method === 'pdu') throw new LifeboatError('FENCING_MISSING', 'pdu is not configured')
        return { power: 'on', detail: 'On' }
      },
    },
    journal: { onAppend: (listen: typeof tell) => void (tell = listen) },
    monitor: {
      verdicts: () => Array.from({ length: hosts }, (_, index) => ({ host: `c${index}` }) as Verdict),
      segment: () => ({ ...builtInSettings, name: 'az1', fencing }),
      frozen: () => null,
      lastPoll: () => null,
    },
    store: { open: () => open, openOn: (host: string) => open.find((one) => one.host === host) },
    plan: async (from: Cloud, host: string) => {
      planned.push(host)
      await from.listServices()
      return { host, instances: [] } as unknown as HostPlan
    },
  }
  const reads = new ReadinessReads(parts as unknown as ReadsParts)
  void reads.run(new AbortController().signal)
  return {
    ...{ clock, reads, planned, looked, listed: () => listed },
    opens: (host: string, held: Incident['held']) => {
      open = [...open, { host, held }]
      tell({ kind: 'incident.opened', host } as Parameters<typeof tell>[0])
    },
    closes: (host: string) => {
      open = open.filter((one) => one.host !== host)
      tell({ kind: 'incident.closed', host } as Parameters<typeof tell>[0])
    },
  }
}

it('no plan is read while a recovery works, and plans are read on while one only waits for a person', async () => {
  const working = reading()
  working.opens('c0', null)
  await working.clock.advance(60_000)
  expect(working.planned.length).toBeLessThanOrEqual(1)
  const waiting = reading()
  waiting.opens('c0', { code: 'BRAKE', message: '', since: '' })
  await waiting.clock.advance(60_000)
  expect(waiting.planned).toEqual(['c0', 'c1', 'c2'])
})

it('once a recovery has ended the plans of all hosts are read again: their instances have moved', async () => {
  const { clock, planned, opens, closes } = reading()
  await clock.advance(60_000)
  opens('c0', null)
  await clock.advance(60_000)
  expect(planned).toEqual(['c0', 'c1', 'c2'])
  closes('c0')
  await clock.advance(60_000)
  expect(planned.slice(3).toSorted()).toEqual(['c0', 'c1', 'c2'])
})

it('lists of the whole cloud are read once a minute, not once a host', async () => {
  const { clock, planned, listed } = reading({ hosts: 50 })
  await clock.advance(55_000)
  expect(planned.length).toBeGreaterThan(40)
  expect(listed()).toBe(1)
})

it('a reading under way is cut off when an incident of the host opens', async () => {
  const { clock, reads, opens } = reading({ hosts: 1, lookMs: 5_000 })
  await clock.advance(1_000)
  opens('c0', null)
  await clock.advance(10_000)
  expect(reads.fencing('c0').value).toBeNull()
})

it('a host whose segment names no method is not read', async () => {
  const { clock, looked } = reading({ fencing: [] })
  await clock.advance(60_000)
  expect(looked).toEqual([])
})

it('each method of a host is read, and one that is not configured for it is no silent device', async () => {
  const { clock, reads } = reading({ hosts: 1, fencing: ['bmc', 'pdu'] })
  await clock.advance(1_000)
  expect(reads.fencing('c0').value).toMatchObject([
    { method: 'bmc', power: 'on' },
    { method: 'pdu', power: null, detail: 'pdu is not configured' },
  ])
})
