/** Rules that change while a monitor looks: each verdict is of the old rules or of the new ones, never of both. */
import { expect, it } from 'vitest'
import type { ServicesReading } from '../../src/domain/service.ts'
import type { Probe, ProbeReading } from '../../src/domain/verdict.ts'
import { Monitor } from '../../src/monitor/monitor.ts'
import type { MonitorRules } from '../../src/monitor/report.ts'
import { defaultMonitorSettings } from '../../src/monitor/settings.ts'
import { HandClock, row, segment } from './setup.ts'

/** More turns of the microtask queue than a look takes from Nova's answer to the verdict. */
const turns = 40

function rulesWith(probe: string): MonitorRules {
  const kind: ProbeReading['kind'] = 'tcp'
  const read: Probe['read'] = () => Promise.resolve({ probe, kind, answer: 'alive', detail: '', at: '' })
  return {
    segmentOf: () => ({ ...segment, name: `of ${probe}`, probes: [probe] }),
    probes: new Map([[probe, { name: probe, kind, read }]]),
    settings: defaultMonitorSettings,
  }
}

/** A monitor of one silent host whose rules change so many microtasks after Nova answered. */
async function changedAfter(microtasks: number): Promise<{ wasConcluded: boolean; probes: string[]; segment: string }> {
  const clock = new HandClock()
  let answered = (): void => undefined
  const services = [row('cmp01', { state: 'down' }), row('ctl', { binary: 'nova-conductor' })]
  const listServices = async (): Promise<ServicesReading> => {
    await Promise.resolve()
    answered()
    return { services, serverTimeMs: null, tookMs: 1, showsLostCells: true }
  }
  const monitor = new Monitor({
    ...rulesWith('old'),
    cloud: { listServices, listAggregates: () => Promise.resolve([]) },
    clock,
    ours: () => false,
    observer: {},
  })
  await monitor.poll()
  clock.advance(20_000)
  const before = monitor.verdict('cmp01')
  let wasConcluded = false
  let changed = Promise.resolve()
  answered = () => {
    answered = () => undefined
    changed = (async () => {
      for (let n = 0; n < microtasks; n++) await Promise.resolve()
      wasConcluded = monitor.verdict('cmp01') !== before
      monitor.adopt(rulesWith('new'))
    })()
  }
  await monitor.poll()
  await changed
  const after = monitor.verdict('cmp01')
  const probes = (after?.evidence.probes ?? []).map(({ probe }) => probe)
  return { wasConcluded, probes, segment: after?.segment ?? '' }
}

it('judges by the new rules alone whatever it had not concluded when they came, to the microtask', async () => {
  const runs = await Promise.all(Array.from({ length: turns }, (_, n) => changedAfter(n)))
  const kinds = runs.map(({ wasConcluded, probes }) => `${wasConcluded ? 'concluded' : 'under way'}: ${probes.join()}`)
  expect(new Set(kinds)).toEqual(new Set(['under way: new', 'concluded: old']))
  expect(new Set(runs.map((run) => run.segment))).toEqual(new Set(['of new']))
})
