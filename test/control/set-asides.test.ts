/**
 * Setting silent hosts aside, on the whole daemon and a virtual clock: what forbids it, what Nova refuses or does not answer, and what
 * holds up taking it back. The stories that a person would tell are in test/scenarios.
 */
import { describe, expect, test } from 'vitest'
import { SetAsides, type SetAsidesParts } from '../../src/control/set-asides.ts'
import { setAsideReason } from '../../src/domain/set-aside.ts'
import type { PollReport } from '../../src/monitor/report.ts'
import { rehearse } from '../../src/rehearsal/rehearse.ts'
import { parseScenario } from '../../src/rehearsal/scenario.ts'
import type { Entry } from '../../src/domain/entry.ts'

type Aside = Extract<Entry, { kind: 'service.set-aside' }>

interface Played {
  /** What became of cmp02: state and certainty of each entry. */
  way: string[]
  aside: Aside[]
  entries: Entry[]
  status: string
}

/** cmp01 dies at 1 min and is recovered from 2 min on; cmp02 has no network from 1:45 on and is suspect by then. */
async function play(script: string, { config = '{}', before = '' } = {}): Promise<Played> {
  const text = `
title: t
config: ${config}
instances: [{ name: web, host: cmp01 }]
script:
  - { at: 1m, crash: [cmp01] }
  ${before}
  - { at: 1m45s, partition: [cmp02] }
${script.trim().replace(/^ */gm, '  ')}
`
  const entries: Entry[] = []
  let status = ''
  await rehearse(parseScenario(text, 'test.yaml', 'test'), {
    show: (_line, entry) => void (entry !== null && entries.push(entry)),
    inspect: ({ simulator }) => void (status = simulator.world.host('cmp02').service.status),
  })
  const aside = entries.filter((entry): entry is Aside => entry.kind === 'service.set-aside')
  return { aside, way: aside.map(({ data }) => `${data.to} ${data.certainty}`), entries, status }
}

const at = (entry: Entry | undefined): number => Date.parse(entry?.at ?? '')
const firstEvacuation = (entries: Entry[]): Entry | undefined =>
  entries.find((entry) => entry.kind === 'step.intended' && entry.data.kind === 'evacuate')

const isSet = 'when: { entry: service.set-aside, data: { to: set } }'
const isOver = 'when: { entry: service.set-aside, data: { to: over } }'
const allOfIt = ['setting unknown', 'set applied', 'taking-back unknown', 'over applied']

describe('nobody is set aside', () => {
  const sent =
    '- { when: { entry: step.issued, instance: web } }\n- { after: 10s, note: no longer before the first evacuation }'

  test('that a pause or a maintenance takes in', async () => {
    for (const order of ['pause', 'maintenance']) {
      const { way } = await play(`
        - { at: 1m46s, ${order}: { host: cmp02, reason: switch work } }
        ${sent}
      `)
      expect(way).toEqual([])
    }
  })

  test('by a daemon that only observes', async () => {
    expect((await play('- { at: 3m, note: over }', { config: '{ mode: observe }' })).way).toEqual([])
  })

  test('that someone else had disabled', async () => {
    const before = '- { at: 1m30s, service: { host: cmp02, status: disabled, disabled_reason: bad DIMM } }'
    const { way } = await play(sent, { before })
    expect(way).toEqual([])
  })
})

describe('what Nova refuses', () => {
  test('costs the evacuations nothing, and is not asked again at once', async () => {
    const { way, aside, entries } = await play(`
      - { at: 1m46s, api_fault: { kind: refuse, method: PUT, path: os-services, body: set aside, status: 403 } }
      - { when: { closed: cmp01 } }
    `)
    expect(way).toEqual(['setting unknown', 'over not-applied'])
    expect(at(firstEvacuation(entries)) - at(aside[0])).toBeLessThan(200)
  })

  test('is asked again after a minute where a host is to be let back', async () => {
    const { way, aside, status } = await play(`
      - { ${isSet} }
      - { api_fault: { kind: refuse, method: PUT, path: os-services, body: '"enabled"', status: 403, times: 1 } }
      - { start: [cmp02] }
      - { ${isOver} }
    `)
    expect(way).toEqual([...allOfIt.slice(0, 3), 'set not-applied', ...allOfIt.slice(2)])
    expect(at(aside[4]) - at(aside[3])).toBeGreaterThanOrEqual(60_000)
    expect(status).toBe('enabled')
  })
})

describe('an answer that never comes', () => {
  test('holds nothing up: the evacuations leave once Nova shows the disable, and the host is let back all the same', async () => {
    const { way, aside, entries } = await play(`
      - { at: 1m46s, api_fault: { kind: hang-after, method: PUT, path: os-services, body: set aside } }
      - { ${isSet} }
      - { start: [cmp02] }
      - { ${isOver} }
    `)
    expect(way).toEqual(allOfIt)
    expect(at(firstEvacuation(entries)) - at(aside[0])).toBeLessThan(200)
  })

  test('to the enable is learnt by reading', async () => {
    const { way, status } = await play(`
      - { ${isSet} }
      - { api_fault: { kind: drop-after, method: PUT, path: os-services, body: '"enabled"' } }
      - { start: [cmp02] }
      - { ${isOver} }
    `)
    expect({ way, status }).toEqual({ way: allOfIt, status: 'enabled' })
  })

  test('and of an order that Nova never saw nothing is left, once no front end can serve it any more', async () => {
    const { way, aside, status } = await play(`
      - { at: 1m46s, api_fault: { kind: drop-before, method: PUT, path: os-services, body: set aside } }
      - { when: { entry: service.set-aside } }
      - { start: [cmp02] }
      - { ${isOver} }
    `)
    expect({ way, status }).toEqual({ way: ['setting unknown', 'over not-applied'], status: 'enabled' })
    expect(at(aside[1]) - at(aside[0])).toBeGreaterThanOrEqual(600_000)
  })
})

describe('a host that lives again', () => {
  test('is let back at the poll that sees it', async () => {
    const { way, aside, entries } = await play(`
      - { ${isSet} }
      - { start: [cmp02] }
      - { ${isOver} }
    `)
    const lives = entries.find(
      (it) => it.kind === 'verdict.changed' && it.host === 'cmp02' && it.data.from === 'suspect',
    )
    expect(way).toEqual(allOfIt)
    expect(at(aside[3]) - at(lives)).toBeLessThan(5_000)
  })

  test('waits for the end of a pause', async () => {
    const { way, aside, entries } = await play(`
      - { ${isSet} }
      - { pause: { host: cmp02, reason: switch work } }
      - { start: [cmp02] }
      - { after: 5m, resume: { host: cmp02, reason: done } }
      - { ${isOver} }
    `)
    expect(way).toEqual(allOfIt)
    expect(at(aside[2])).toBeGreaterThanOrEqual(at(entries.find(({ kind }) => kind === 'operator.resumed')))
  })

  test('stays as it is while the daemon only observes', async () => {
    const { way, status } = await play(`
      - { ${isSet} }
      - { daemon: { act: restart, config: { mode: observe } } }
      - { start: [cmp02] }
      - { after: 5m, note: nothing was sent }
    `)
    expect({ way, status }).toEqual({ way: allOfIt.slice(0, 2), status: 'disabled' })
  })
})

/** Whether a host that lives is enabled, if the row was read for so long right before. */
async function isEnabled(tookMs: number): Promise<boolean> {
  let now = 0
  let enabled = false
  const reason = setAsideReason('inc-1', 'silent')
  const row = {
    binary: 'nova-compute',
    host: 'cmp02',
    id: 's1',
    status: 'disabled',
    state: 'up',
    disabledReason: reason,
  }
  const at = new Date(0).toISOString()
  const setAside = { incident: 'inc-1', serviceId: 's1', reason, because: '', state: 'set', since: at, at }
  const asides = new SetAsides({
    clock: { now: () => now, wall: () => now, after: () => () => undefined },
    cloud: {
      listServices: () => Promise.resolve({ services: [row] }).finally(() => (now += tookMs)),
      updateService: () => Promise.resolve(row).finally(() => (enabled = true)),
    },
    journal: { append: () => [] },
    observer: {},
    monitor: {
      ...{ verdict: () => ({ kind: 'healthy', message: 'it beats' }), verdicts: () => [], service: () => row },
      ...{ segment: () => ({ name: 'all' }), frozen: () => null, inDoubt: () => false, noteOurWrite: () => undefined },
      lastRead: () => ({ askedAt: 0, usuallyMs: 0 }),
    },
    store: {
      ...{ open: () => [], openOn: () => undefined, openProcesses: () => [], openProcessOn: () => undefined },
      ...{
        setAside: () => [{ host: 'cmp02', setAside }],
        returnOf: () => ({ setAside, covered: [] }),
        has: () => true,
      },
      hasOurFlags: () => false,
    },
    orders: { covering: () => [] },
    ...{
      mode: () => 'armed',
      settings: { reconcileQuietMs: 0, longestRequestMs: 0 },
      signal: new AbortController().signal,
    },
    ...{ reading: () => ({ pollIntervalMs: 1_000, probeLimitMs: 500 }), standstill: { last: () => null } },
  } as unknown as SetAsidesParts)
  now = 100
  asides.consider({ ok: true, tookMs: 10, verdicts: [] } as unknown as PollReport)
  await asides.idle()
  return enabled
}

test('a host is not enabled on what was read of Nova too long ago: it may be silent by now', async () => {
  expect([await isEnabled(1_000), await isEnabled(60_000)]).toEqual([true, false])
})

test('our own enable does not end the incident of a nova-compute that failed right after its beat', async () => {
  const { entries } = await play(`
    - { ${isSet} }
    - { api_fault: { kind: hang-after, method: PUT, path: os-services, body: '"enabled"', times: 1 } }
    - { start: [cmp02] }
    - { when: { entry: service.set-aside, data: { to: taking-back } }, isolate: [cmp02] }
    - { after: 0s, report: { about: PROCESS, host: cmp02, payload: { process_name: nova-compute, event: STOPPED } } }
    - { after: 2m, note: over }
  `)
  const failed = entries.find(({ kind }) => kind === 'process.failed')
  const ended = entries.find(({ kind, incident }) => kind === 'incident.closed' && incident === failed?.incident)
  expect([failed?.host, ended]).toEqual(['cmp02', undefined])
})
