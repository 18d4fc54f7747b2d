/** The laws on how a script ends say of a journal, or of a simulated cloud, that breaks them what is broken. */
import { describe, expect, it } from 'vitest'
import type { Incident } from '../../src/domain/incident.ts'
import type { Scenario } from '../../src/rehearsal/scenario.ts'
import type { Stage } from '../../src/rehearsal/stage.ts'
import { asked, journal } from './broken.ts'
import {
  goesOnAfterItsEnd,
  instancesWithoutLine,
  marksLeftBehind,
  openForEver,
  stoppedOnesThatRun,
} from './laws-of-ends.ts'
import { lockedOut } from './laws-of-locks.ts'
import { stillSetAside } from './laws-of-orders.ts'

/** A cloud with the instance `web` and the host cmp01. */
function stage(truth: { runs?: boolean; locked?: boolean; disabledReason?: string } = {}): Stage {
  const host = {
    ...{ name: 'cmp01', agent: true, connected: true },
    service: { disabledReason: truth.disabledReason ?? null },
  }
  return {
    daemon: null,
    idOf: () => 'i-1',
    instance: () => ({ uuid: 'i-1', locked: truth.locked ?? false }),
    simulator: {
      truth: () => ({ running: truth.runs === true ? { 'i-1': ['cmp02'] } : {} }),
      world: { hosts: new Map([['cmp01', host]]) },
    },
  } as unknown as Stage
}

function scenario(instance: object, script: object[] = []): Scenario {
  return { instances: [{ name: 'web', state: 'active', ...instance }], script } as unknown as Scenario
}

function incidents(change: object, recovery: object = {}): Map<string, Incident> {
  const web = { outcome: null, steps: new Map(), plan: { name: 'web' }, ...recovery }
  const incident = {
    ...{ id: 'inc-1', host: 'cmp01', mode: 'armed', phase: 'recovering', process: null, closed: null, held: null },
    instances: new Map([['i-1', web]]),
    ...change,
  }
  return new Map([['inc-1', incident as unknown as Incident]])
}

const over = { closed: { outcome: 'done' } }
const ended = (outcome: string): object => ({ outcome: { outcome, code: 'RUNNING' } })
const order = { act: { name: 'user', given: { instance: 'web', action: 'os-start' } } }

describe('an instance that its owner had stopped', () => {
  it('breaks a law when it runs and nobody is told', () => {
    const web = scenario({ state: 'stopped' })
    expect(stoppedOnesThatRun(stage({ runs: true }), web, incidents(over, ended('recovered')))).toHaveLength(1)
    expect(stoppedOnesThatRun(stage({ runs: true }), web, incidents(over, ended('stuck')))).toEqual([])
    expect(stoppedOnesThatRun(stage(), web, incidents(over, ended('recovered')))).toEqual([])
    expect(
      stoppedOnesThatRun(
        stage({ runs: true }),
        scenario({ state: 'stopped' }, [order]),
        incidents(over, ended('recovered')),
      ),
    ).toEqual([])
  })
})

describe('a lock', () => {
  it('that is not as it was breaks a law, unless the instance is stuck or waits for a person', () => {
    expect(marksLeftBehind(stage({ locked: true }), scenario({}), incidents(over, ended('recovered')))).toEqual([
      expect.stringContaining('web is locked'),
    ])
    expect(marksLeftBehind(stage(), scenario({ locked: true }), incidents(over, ended('recovered')))).toEqual([
      expect.stringContaining('web is unlocked'),
    ])
    expect(marksLeftBehind(stage({ locked: true }), scenario({}), incidents(over, ended('stuck')))).toEqual([])
    expect(marksLeftBehind(stage({ locked: true }), scenario({}), incidents({ held: { code: 'HOST_ALIVE' } }))).toEqual(
      [],
    )
  })

  const confirmed = (step: string, ms: number): object => ({
    ...{ kind: 'step.confirmed', instance: 'i-1', step: `0.evacuate.${step}.1`, ms },
    data: {},
  })
  /** Nova answers, every ten seconds for two minutes. */
  const calm = asked(
    ...Array.from({ length: 12 }, (_, nth) => ({ at: nth * 10_000, path: 'compute/v2.1/os-services' })),
  )
  const locked = (rows: object[], requests = calm): string[] =>
    lockedOut(journal(...rows), { simulator: { requests: () => requests } })

  it('of ours that stays for a minute after the landing breaks a law, unless Nova did not answer', () => {
    const landed = [confirmed('lock', 1_000), confirmed('evacuate', 5_000)]
    expect(locked(landed)).toHaveLength(1)
    expect(locked([...landed, confirmed('unlock', 80_000)])).toHaveLength(1)
    expect(locked([...landed, confirmed('unlock', 10_000)])).toEqual([])
    expect(locked(landed, calm.slice(0, 3))).toEqual([])
  })

  it('breaks none where the daemon was to observe before that, whatever the clocks said', () => {
    const observes = {
      ms: 3_600_000,
      kind: 'mode.changed',
      data: { from: 'armed', to: 'observe' },
    }
    const landed = [confirmed('lock', 1_000), observes, confirmed('evacuate', 5_000)]
    expect(locked(landed)).toEqual([])
    expect(
      locked([...landed.slice(0, 2), { ...observes, data: { from: 'observe', to: 'armed' } }, ...landed.slice(2)]),
    ).toHaveLength(1)
  })
})

describe('a disable by which a silent host was set aside', () => {
  it('breaks a law when it still stands on a host that lives, unless people have ordered a pause', () => {
    const aside = stage({ disabledReason: 'lifeboat: incident 1, set aside' })
    expect(stillSetAside(journal(), aside, new Map())).toHaveLength(1)
    expect(stillSetAside(journal(), aside, incidents({}))).toEqual([])
    expect(stillSetAside(journal({ kind: 'operator.paused', data: {} }), aside, new Map())).toEqual([])
    expect(stillSetAside(journal(), stage(), new Map())).toEqual([])
  })
})

describe('an incident', () => {
  it('that is over and has an instance without an outcome breaks a law', () => {
    expect(instancesWithoutLine(incidents(over))).toHaveLength(1)
    expect(instancesWithoutLine(incidents(over, ended('left')))).toEqual([])
    expect(instancesWithoutLine(incidents({ ...over, mode: 'observe' }))).toEqual([])
  })

  it('that is open after hours of peace breaks a law, unless it waits for a person', () => {
    expect(openForEver(incidents({}), stage())).toHaveLength(1)
    expect(openForEver(incidents({ held: { code: 'CLOUD_UNAVAILABLE' } }), stage())).toHaveLength(1)
    expect(openForEver(incidents({ held: { code: 'INTERNAL_ERROR' } }), stage())).toHaveLength(1)
    expect(openForEver(incidents({ held: { code: 'FENCE_FAILED' } }), stage())).toEqual([])
    expect(openForEver(incidents(over), stage())).toEqual([])
  })

  it.each(['evacuate', 'confirm-resize'])('may wait for a host that a person has to let go (%s)', (kind) => {
    const waits = incidents({}, { steps: new Map([['1', { kind, status: 'issued' }]]) })
    expect(openForEver(waits, stage())).toHaveLength(1)
    const other = [...incidents({ id: 'inc-2', held: { code: 'BRAKE' } }).values()]
    expect(openForEver(new Map([...waits, ['inc-2', other[0]!]]), stage())).toEqual([])
  })
})

describe('an incident that is over', () => {
  const closed = { kind: 'incident.closed', data: { outcome: 'done' } }

  it.each(['incident.held', 'fence.attempt'])('breaks a law with %s, which it may have before its end', (kind) => {
    expect(goesOnAfterItsEnd(journal({ kind }, closed))).toEqual([])
    expect(goesOnAfterItsEnd(journal(closed, { kind }))).toEqual([`${kind} in inc-1, which is over`])
    expect(goesOnAfterItsEnd(journal(closed, { kind, incident: 'inc-2' }))).toEqual([])
  })
})
