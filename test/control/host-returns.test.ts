/**
 * The loop of returns, on the whole daemon and a virtual clock. The stories that a person would tell are in test/scenarios; here
 * is what forbids a return, what Placement may do to it, and what is said to stay behind.
 */
import { describe, expect, test } from 'vitest'
import type { AftermathParts } from '../../src/control/aftermath.ts'
import { HostReturns } from '../../src/control/host-returns.ts'
import { defaultReturnRules } from '../../src/domain/host-return.ts'
import type { PollReport } from '../../src/monitor/report.ts'
import { rehearse } from '../../src/rehearsal/rehearse.ts'
import { parseScenario } from '../../src/rehearsal/scenario.ts'
import type { Stage } from '../../src/rehearsal/stage.ts'
import type { Entry } from '../../src/domain/entry.ts'

interface Played {
  entries: Entry[]
  /** State and code of each change of the return. */
  way: string[]
  puts: number
  /** Flags of cmp01 at the end. */
  service: { forcedDown: boolean; status: string }
}

/** Plays a script over a host that died at 10 s, was recovered, and is powered on at 2 min. Healthy time: 1 min. */
async function play(
  script: string,
  instances = '[{ name: web, host: cmp01 }]',
  back = '- { at: 2m, start: [cmp01] }',
): Promise<Played> {
  const text = `
title: t
config: { monitor: { poll_interval: 5s }, defaults: { return: { healthy: 1m } } }
instances: ${instances}
script:
  - { at: 10s, crash: [cmp01] }
  - { when: { closed: cmp01 } }
  ${back}
${script.trim().replace(/^ */gm, '  ')}
`
  const entries: Entry[] = []
  let puts = 0
  let service: Played['service'] = { forcedDown: false, status: '' }
  const inspect = ({ simulator }: Stage): void => {
    puts = simulator.requests().filter(({ method, path }) => method === 'PUT' && path.includes('os-services')).length
    const { forcedDown, status } = simulator.world.host('cmp01').service
    service = { forcedDown, status }
  }
  const show = (_line: string, entry: Entry | null): void => {
    if (entry !== null) entries.push(entry)
  }
  await rehearse(parseScenario(text, 'test.yaml', 'test'), { show, inspect })
  return { entries, way: of(entries, 'return.changed').map(({ data }) => `${data.to} ${data.code}`), puts, service }
}

function of<K extends Entry['kind']>(entries: Entry[], kind: K): Extract<Entry, { kind: K }>[] {
  return entries.filter((entry) => entry.kind === kind) as Extract<Entry, { kind: K }>[]
}

const taken = { forcedDown: true, status: 'disabled' }

describe('nothing is taken back', () => {
  test('while a person paused, and it goes on when the pause ends', async () => {
    const { way, service } = await play(`
      - { at: 2m, pause: { reason: network work } }
      - { when: { entry: return.changed, data: { code: PAUSED } } }
      - { after: 5m, resume: { reason: done } }
      - { when: { entry: return.changed, data: { to: back } } }
    `)
    expect(way).toEqual(['clearing PAUSED', 'clearing CLEARING', 'proving PROVING', 'enabling ENABLING', 'back BACK'])
    expect(service).toEqual({ forcedDown: false, status: 'enabled' })
  })

  test('by a daemon that only observes since then', async () => {
    const { way, puts, service } = await play(`
      - { at: 2m, daemon: { act: restart, config: { mode: observe } } }
      - { when: { entry: return.changed, data: { code: OBSERVING } } }
      - { after: 5m, note: nothing }
    `)
    expect({ way, puts, service }).toEqual({ way: ['clearing OBSERVING'], puts: 1, service: taken })
  })

  test('while the control plane cannot be trusted, and its healthy time begins again after it', async () => {
    const { entries, way } = await play(`
      - { when: { entry: return.changed, data: { to: proving } } }
      - { after: 50s, kill: [conductor] }
      - { after: 60s, revive: [conductor] }
      - { when: { entry: return.changed, data: { to: back } } }
    `)
    const [froze] = of(entries, 'monitor.frozen')
    const [thawed] = of(entries, 'monitor.thawed')
    const enabling = entries.find(({ kind, step }) => kind === 'step.intended' && step?.startsWith('return.enable'))
    expect(froze).toBeDefined()
    expect(Date.parse(enabling?.at ?? '') - Date.parse(thawed?.at ?? '')).toBeGreaterThanOrEqual(60_000)
    expect(way.at(-1)).toBe('back BACK')
  })

  test('while someone else forced it down again', async () => {
    const { way, service } = await play(`
      - { when: { entry: return.changed, data: { to: clearing } } }
      - { after: 10s, service: { host: cmp01, forced_down: true } }
      - { after: 30s, note: someone forced it down again }
    `)
    expect(way).toEqual(['clearing CLEARING', 'proving PROVING', 'settling FORCED_DOWN_BY_OTHERS'])
    expect(service).toEqual(taken)
  })
})

test('an incident that begins while the end of a return is read keeps the flags that it sets', async () => {
  const { entries, way, service } = await play(
    `
      - { after: 1s, api_fault: { kind: slow, path: os-migrations, delay: 20s } }
      - { after: 10s, recover: { host: cmp01, proof: its power is off } }
      - { when: { entry: incident.closed } }
      - { after: 2m, start: [cmp01] }
      - { when: { entry: return.changed, data: { code: BACK } } }
    `,
    '[{ name: web, host: cmp02 }]',
    '- { at: 80s, service: { host: cmp01, forced_down: false, status: enabled } }',
  )
  expect(of(entries, 'incident.opened')).toHaveLength(2)
  expect(way.filter((one) => one.startsWith('back'))).toEqual(['back BACK'])
  expect(service).toEqual({ forcedDown: false, status: 'enabled' })
})

describe('a host that beat under our flags and dies again', () => {
  const keep = '[{ name: web, host: cmp01 }, { name: keep, host: cmp01, metadata: { lifeboat: leave } }]'
  const silences = ({ entries }: Played): number =>
    of(entries, 'alarm.raised').filter(({ data }) => data.code === 'SILENT_UNDER_OUR_FLAGS').length

  test('is told of once, also where it was kept out and the daemon restarted before it was silent for long', async () => {
    const played = await play(
      `
      - { at: 2m, pause: { reason: network work } }
      - { when: { entry: return.changed, data: { code: PAUSED } } }
      - { after: 0s, return_host: { host: cmp01, reason: broken, keep_out: true } }
      - { when: { entry: return.changed, data: { to: kept-out } } }
      - { after: 10s, resume: { reason: done } }
      - { after: 10s, crash: [cmp01] }
      - { after: 10s, daemon: restart }
      - { when: { entry: alarm.raised, data: { code: SILENT_UNDER_OUR_FLAGS } } }
      - { after: 1m, daemon: restart }
      - { after: 5m, note: people are not told again }
    `,
      keep,
    )
    expect(played.way.at(-1)).toBe('kept-out KEPT_OUT')
    expect(silences(played)).toBe(1)
  })

  test('is not told of where a person keeps it out that has never beaten since', async () => {
    const played = await play(
      `
      - { after: 10s, return_host: { host: cmp01, reason: broken, keep_out: true } }
      - { when: { entry: return.changed, data: { to: kept-out } } }
      - { after: 10s, daemon: restart }
      - { after: 5m, note: it is away as before }
    `,
      keep,
      '',
    )
    expect(silences(played)).toBe(0)
  })
})

describe('what Nova refuses', () => {
  test('is not asked again at once', async () => {
    const { entries, way } = await play(`
      - { at: 2m, api_fault: { kind: refuse, method: PUT, path: os-services, status: 400, times: 1 } }
      - { when: { entry: step.confirmed, step: return.clear-forced-down } }
    `)
    expect(way.slice(0, 3)).toEqual(['clearing CLEARING', 'clearing REFUSED', 'clearing CLEARING'])
    const tries = of(entries, 'step.intended').filter(({ step }) => step?.startsWith('return.') === true)
    expect(Date.parse(tries[1]?.at ?? '') - Date.parse(tries[0]?.at ?? '')).toBeGreaterThanOrEqual(60_000)
  })
})

describe('Placement', () => {
  test('that cannot be read does not keep the host out, and is reported by name', async () => {
    const { entries, way } = await play(`
      - { at: 2m, kill: [placement] }
      - { when: { entry: return.changed, data: { to: back } } }
    `)
    expect(way.slice(-2)).toEqual(['enabling TRAIT_UNREAD', 'back TRAIT_UNREAD'])
    expect(of(entries, 'alarm.raised').map(({ data }) => data.code)).toEqual(['TRAIT_UNREAD'])
    expect(of(entries, 'return.changed').at(-1)?.data.leftovers).toMatchObject([{ code: 'TRAIT_UNREAD' }])
  })
})

describe('what stays behind', () => {
  test('is said by name when the host is back, and the host is back all the same', async () => {
    const { entries } = await play(
      '- { when: { entry: return.changed, data: { to: back } } }',
      '[{ name: web, host: cmp01 }, { name: keep, host: cmp01, metadata: { lifeboat: leave } }]',
    )
    expect(of(entries, 'return.changed').at(-1)?.data.leftovers).toMatchObject([
      { code: 'INSTANCE_LEFT', message: expect.stringContaining('keep: ') },
    ])
  })

  test('a resize that nobody can confirm any more is a debt, and a leftover of its record', async () => {
    const { entries } = await play(
      '- { when: { entry: return.changed, data: { to: back } } }',
      '[{ name: big, host: cmp01, state: resized-running, other_host: cmp01 }]',
    )
    const debts = of(entries, 'debt.recorded')
    const leftovers = of(entries, 'return.changed').at(-1)?.data.leftovers ?? []
    expect(debts).toHaveLength(1)
    expect(leftovers.map(({ code }) => code)).toEqual([debts[0]?.data.code, 'LEFTOVER_RESIZE'])
    expect(leftovers.every(({ message }) => message.startsWith('big: '))).toBe(true)
  })
})

interface Seen {
  tookMs?: number
  /** Nova was read in this poll. */
  ok?: boolean
  /** When the row in hand was asked for. The clock stands at 100 s. */
  readAt?: number
  /** How long ago our order to force it down was given, by the wall clock, which nobody answered. */
  orderedAgoMs?: number
}

/** What is put on record of a host, by what is known of its row: by default, its forced_down is due to be cleared. */
async function recorded({ tookMs = 0, ok = true, readAt = 100_000, orderedAgoMs }: Seen = {}): Promise<string[]> {
  let now = 100_000
  const isUnset = orderedAgoMs !== undefined || !ok || readAt !== now
  const kinds: string[] = []
  const service = {
    ...{ binary: 'nova-compute', host: 'cmp01', id: 's1', status: 'disabled', state: 'down', forcedDown: true },
    ...(isUnset && { status: 'enabled', state: 'up', forcedDown: false }),
    disabledReason: isUnset ? null : 'ours',
  }
  const record = {
    ...{
      host: 'cmp01',
      state: 'settling',
      said: null,
      orderedAt: orderedAgoMs === undefined ? null : new Date(now - orderedAgoMs).toISOString(),
      forceDown: 'taken',
      attempts: 0,
    },
    ...{
      failures: [],
      order: null,
      failed: null,
      open: null,
      confirmed: {},
      setAside: null,
      covered: [],
      leftovers: [],
    },
    ourFlags: { serviceId: 's1', forcedDown: true, disabled: true, reasons: ['ours'], incidents: [] },
    strays: [],
  }
  const verdict = { host: 'cmp01', kind: 'returning', reason: 'BEATING_UNDER_OUR_FLAGS', evidence: { silentMs: 0 } }
  const returns = new HostReturns({
    clock: { now: () => now, wall: () => now, after: () => () => undefined },
    cloud: {
      listServices: () => Promise.resolve({ services: [service] }).finally(() => (now += tookMs)),
      listMigrations: () => Promise.resolve([]),
      updateService: () => Promise.resolve(service),
    },
    journal: {
      read: () => [],
      // In this run the order to force it down is written now.
      onAppend: (told: (entry: object) => void) =>
        isUnset && orderedAgoMs === undefined && told({ host: 'cmp01', step: 'host.force-down.1' }),
      append: (entries: Entry[]) => void kinds.push(...entries.map(({ kind }) => kind)),
    },
    observer: {},
    monitor: {
      ...{ service: () => service, frozen: () => null, lastRead: () => ({ askedAt: readAt, usuallyMs: 0 }) },
      ...{ segment: () => ({ name: 'all', return: defaultReturnRules }), noteOurWrite: () => undefined },
    },
    store: { returning: () => [record], returnOf: () => record, openOn: () => undefined },
    orders: { covering: () => [] },
    ...{ mode: () => 'armed', settings: { reconcileQuietMs: 0, longestRequestMs: 600_000, tickMs: 10 } },
    ...{ reading: () => ({ pollIntervalMs: 1_000, probeLimitMs: 500 }), standstill: { last: () => null } },
    signal: new AbortController().signal,
  } as unknown as AftermathParts)
  returns.consider({ ok, frozen: null, tookMs: 10, verdicts: [verdict] } as unknown as PollReport)
  await returns.idle()
  return kinds
}

test('nothing is taken back on what was read of Nova too long ago: the host may be silent by now', async () => {
  expect(await recorded({ tookMs: 1_000 })).toContain('step.intended')
  expect(await recorded({ tookMs: 60_000 })).toEqual(['return.changed'])
})

describe('a return without our flags on the row', () => {
  test.each<[string, Seen, boolean]>([
    ['ends where the row was read after they were set', { readAt: 100_001 }, true],
    ['does not end in a poll that read nothing', { ok: false }, false],
    ['does not end on a row from before they were set', { readAt: 99_000 }, false],
    [
      'does not end while Nova may still serve our order, though the wall clock was set forward',
      { orderedAgoMs: 1_200_000 },
      false,
    ],
  ])('%s', async (_title, seen, ends) => {
    expect((await recorded(seen)).includes('service.restored')).toBe(ends)
  })
})
