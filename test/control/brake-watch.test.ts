import { describe, expect, it } from 'vitest'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { ProbeReading, Verdict } from '../../src/domain/verdict.ts'
import { brakeFacts } from '../../src/control/brake-facts.ts'
import { Scene, verdictOf } from './brake-watch-setup.ts'

describe('a scope that trips', () => {
  it('is on record once, with its numbers, and again when it opens', () => {
    const scene = new Scene().see('host-down', 'h0', 'h1', 'h2')
    scene.watch.look()
    scene.clock.advance(2_000)
    scene.open('h0', 'h1', 'h2')
    scene.watch.look()
    expect(scene.journal.read({ kinds: ['brake.tripped'] })).toMatchObject([
      {
        actor: 'daemon',
        incident: null,
        data: {
          scope: 'segment:s',
          down: 3,
          allowed: 2,
          fleet: 10,
          hosts: ['h0', 'h1', 'h2'],
          message: '3 of 10 hosts of segment s are down (limit 2)',
        },
      },
    ])
    scene.clock.advance(1_000)
    scene.close('h2', 'returned').see('healthy', 'h2').watch.look()
    scene.clock.advance(300_000)
    scene.see('healthy')
    scene.watch.look()
    expect(scene.journal.read({ kinds: ['brake.released'] })).toMatchObject([
      { data: { scope: 'segment:s', down: 2, allowed: 2, fleet: 10, trippedForMs: 303_000 } },
    ])
  })

  it('counts an incident that a person opened since the last poll', () => {
    const scene = new Scene().open('h0', 'h1')
    expect(scene.holds('h0')).toBeNull()
    scene.open('h2')
    expect(scene.holds('h0')).toContain('3 of 10 hosts of segment s are down')
  })

  it('holds an incident with every scope that is over, and each other one only with its own', () => {
    const scene = new Scene({ failureDomain: { key: 'rack', maxHosts: 1, maxShare: 1 } })
    scene.limits = { maxHosts: 3, maxShare: 1 }
    scene.racks = { h0: ['r1'], h1: ['r1'], h2: ['r2'] }
    scene.open('h0', 'h1', 'h2')
    expect(scene.holds('h0')).toBe(
      '2 of 2 hosts of rack r1 are down (limit 1): that looks like a failure of rack r1 itself, its power or its switch',
    )
    expect(scene.holds('h2')).toBeNull()
    scene.open('h3')
    expect(scene.holds('h0')).toMatch(/^4 of 10 hosts of segment s are down \(limit 3\); 2 of 2 hosts of rack r1 /)
    expect(scene.holds('h2')).toBe('4 of 10 hosts of segment s are down (limit 3)')
  })

  it('asks for no domains unless some are configured', () => {
    const scene = new Scene()
    scene.racks = { h0: ['r1'] }
    expect(scene.watch.scopes().map(({ scope }) => scope)).toEqual(['cloud', 'segment:s'])
  })

  it('lets the one through that a person named, and nobody else', () => {
    const scene = new Scene().open('h0', 'h1', 'h2').override('h1')
    expect(scene.holds('h1')).toBeNull()
    expect(scene.holds('h0')).not.toBeNull()
    scene.prove('h1').close('h1', 'done').see('recovering', 'h1')
    scene.clock.advance(86_400_000)
    scene.restart()
    for (const host of ['h0', 'h2']) expect(scene.holds(host), host).toContain('; 1 of them recovered')
  })

  it('that cannot be recorded did not trip, and trips at the next look; what is over holds meanwhile', () => {
    const scene = new Scene().open('h0', 'h1', 'h2')
    const { append } = scene.journal
    scene.journal.append = () => {
      throw new LifeboatError('JOURNAL_UNAVAILABLE', 'the disk is full')
    }
    expect(() => scene.holds('h0')).toThrow('the disk is full')
    scene.journal.append = append
    expect(scene.holds('h0')).not.toBeNull()
    expect(scene.entries()).toEqual([['brake.tripped', 'segment:s']])
  })
})

describe('while nothing can be believed', () => {
  it.each(['frozen', 'not polled'] as const)('%s: nothing trips and nothing opens, and what is over holds', (why) => {
    const scene = new Scene().open('h0', 'h1', 'h2')
    const set = (blind: boolean): void => {
      if (why === 'frozen') scene.frozen = blind
      else scene.polled = !blind
    }
    set(true)
    expect(scene.holds('h0')).not.toBeNull()
    expect(scene.entries()).toEqual([])
    set(false)
    scene.see('healthy')
    scene.watch.look()
    scene.close('h2', 'returned')
    scene.watch.look()
    set(true)
    scene.clock.advance(300_000)
    scene.see('healthy').watch.look()
    set(false)
    scene.clock.advance(299_999)
    expect(scene.see('healthy').holds('h0')).not.toBeNull()
    scene.clock.advance(1)
    expect(scene.see('healthy').holds('h0')).toBeNull()
  })
})

describe('a restart', () => {
  it('keeps what is tripped, since when, and lets it settle again', () => {
    const scene = new Scene().open('h0', 'h1', 'h2')
    const since = scene.watch.scopes().find(({ scope }) => scope === 'segment:s')?.trippedSince
    expect(since).toBe(new Date(scene.clock.wall()).toISOString())
    scene.close('h2', 'returned')
    scene.clock.advance(86_400_000)
    scene.restart()
    const [cloud, segment] = scene.watch.scopes()
    expect(cloud).toMatchObject({ scope: 'cloud', trippedSince: null, down: 2 })
    expect(segment).toMatchObject({ scope: 'segment:s', trippedSince: since, down: 2, allowed: 2, title: 'segment s' })
    scene.clock.advance(299_999)
    expect(scene.see('healthy').holds('h0')).not.toBeNull()
    scene.clock.advance(1)
    expect(scene.see('healthy').holds('h0')).toBeNull()
    scene.restart()
    expect(scene.holds('h0')).toBeNull()
    expect(scene.entries()).toEqual([
      ['brake.tripped', 'segment:s'],
      ['brake.released', 'segment:s'],
    ])
  })

  it('before any host is known counts what the journal has open', () => {
    const scene = new Scene().open('h0', 'h1', 'h2')
    scene.verdicts = []
    expect(scene.holds('h0')).toContain('3 of 0 hosts of segment s')
  })
})

describe('the cool-down', () => {
  const recovered = (scene: Scene, ...hosts: string[]): Scene => {
    for (const host of hosts) scene.open(host).prove(host).close(host, 'done').see('recovering', host)
    return scene
  }

  it('counts hosts whose recovery began a short while ago, through a restart, to the millisecond', () => {
    for (const restarts of [false, true]) {
      const scene = recovered(new Scene(), 'h0', 'h1')
      scene.clock.advance(599_999)
      if (restarts) scene.restart()
      scene.open('h2')
      expect(scene.holds('h2')).toContain('3 of 10 hosts of segment s are down (limit 2; 2 of them recovered')
      const later = recovered(new Scene(), 'h0', 'h1')
      later.clock.advance(600_000)
      if (restarts) later.restart()
      later.open('h2')
      expect(later.holds('h2')).toBeNull()
    }
  })

  it('counts from the last of several recoveries of a host', () => {
    const scene = recovered(new Scene(), 'h0', 'h1')
    scene.clock.advance(500_000)
    scene.prove('h0').prove('h1')
    scene.clock.advance(500_000)
    scene.open('h2')
    expect(scene.holds('h2')).not.toBeNull()
  })

  it('does not count incidents that ended without a proof', () => {
    const scene = new Scene()
    for (const outcome of ['returned', 'cancelled'] as const)
      for (const host of [`h${outcome.length}`, 'h1']) scene.open(host).close(host, outcome)
    scene.open('h2')
    expect(scene.holds('h2')).toBeNull()
    expect(scene.watch.scopes().every(({ cooling, down }) => cooling === 0 && down === 1)).toBe(true)
  })

  it('of a host that is still away begins with the run of this daemon, whatever the wall clock says', () => {
    const restarted = (...back: string[]): Scene => {
      const scene = recovered(new Scene(), 'h0', 'h1').mark('h0').mark('h1')
      scene.see('healthy', ...back).clock.set(86_400_000)
      scene.restart()
      scene.clock.advance(599_999)
      return scene.open('h2')
    }
    expect(restarted().holds('h2')).toContain('2 of them recovered')
    expect(restarted('h0').holds('h2')).toBeNull()
  })

  it('ends no sooner when someone sets the clock', () => {
    const scene = recovered(new Scene(), 'h0', 'h1')
    scene.clock.set(86_400_000)
    scene.open('h2')
    expect(scene.holds('h2')).not.toBeNull()
    const back = recovered(new Scene(), 'h0', 'h1')
    back.clock.set(-86_400_000)
    back.restart()
    back.clock.advance(599_999)
    back.open('h2')
    expect(back.holds('h2')).not.toBeNull()
  })

  it('is no matter of a host that Nova no longer lists', () => {
    const scene = recovered(new Scene(), 'h0', 'h1').open('h2')
    scene.verdicts = scene.verdicts.filter(({ host }) => host !== 'h0')
    expect(scene.holds('h2')).toBeNull()
  })

  it('in a tripped scope ends for a host that beats again', () => {
    const scene = recovered(new Scene(), 'h0', 'h1').open('h2')
    expect(scene.holds('h2')).not.toBeNull()
    scene.clock.advance(1_000_000)
    expect(scene.see('recovering').holds('h2')).not.toBeNull()
    scene.see('healthy', 'h0').watch.look()
    scene.clock.advance(300_000)
    expect(scene.see('healthy').holds('h2')).toBeNull()
  })
})

describe('which hosts count', () => {
  const probe = (answer: ProbeReading['answer']): ProbeReading => ({
    probe: 'p',
    kind: 'tcp',
    answer,
    detail: '',
    at: '',
  })
  const counts = (verdict: Verdict): { waits: boolean } | undefined =>
    brakeFacts({
      blind: false,
      verdicts: [verdict],
      openIncidents: [],
      recoveries: new Map(),
      domains: () => [],
      confirmAfterBeats: 2.5,
    }).down[0]

  it('a host that is down, before its incident is open; it waits', () => {
    expect(counts(verdictOf('h', 'host-down'))).toMatchObject({ waits: true })
  })

  it.each([
    ['a witness says dead', { probes: [probe('dead'), probe('unknown')] }, true],
    ['one witness says dead, another alive', { probes: [probe('dead'), probe('alive')], missedBeats: 9 }, false],
    ['no witness can tell, and it is silent for less than confirms', { missedBeats: 2.49 }, false],
    ['no witness can tell, and it is silent for as long as confirms', { missedBeats: 2.5 }, true],
    ['witnesses are unknown, and it is silent for long', { missedBeats: 3, probes: [probe('unknown')] }, true],
  ])('a suspect host when %s', (_when, evidence, expected) => {
    const found = counts(verdictOf('h', 'suspect', evidence))
    expect(found !== undefined).toBe(expected)
    expect(found?.waits ?? false).toBe(false)
  })

  it.each([
    ['Nova says down', {}, true],
    ['Nova says up', { state: 'up' }, false],
    ['Nova does not say', { state: null }, false],
    ['a person disabled it', { status: 'disabled' }, false],
    ['someone forced it down', { forcedDown: true }, false],
  ])('a host that was only just seen for the first time when %s', (_when, evidence, expected) => {
    expect(counts(verdictOf('h', 'unknown', { state: 'down', ...evidence })) !== undefined).toBe(expected)
  })

  it.each([
    'healthy',
    'service-down',
    'maintenance',
    'declared-down',
    'forced-down-before',
    'contradiction',
    'recovering',
  ] as const)('not a host that is %s', (kind) =>
    expect(counts(verdictOf('h', kind, { state: 'down', missedBeats: 99, probes: [probe('dead')] }))).toBeUndefined(),
  )

  it.each([
    ['service-down', 'fences', 1],
    ['service-down', 'leaves', 0],
    ['healthy', 'fences', 0],
    ['contradiction', 'fences', 0],
  ] as const)('a host that is %s in a segment that %s hosts that are cut off: %i', (kind, segment, count) => {
    const { down } = brakeFacts({
      blind: false,
      verdicts: [{ ...verdictOf('h', kind), segment }],
      openIncidents: [],
      recoveries: new Map(),
      domains: () => [],
      confirmAfterBeats: 2.5,
      fencesIsolated: (name) => name === 'fences',
    })
    // It is on its way to a recovery as a dead one is.
    expect(down).toEqual(Array.from({ length: count }, () => ({ host: 'h', segment, domains: [], waits: true })))
  })

  it.each([
    ['fences', 2.5, 1],
    ['fences', 2.49, 0],
    ['holds', 9, 0],
  ])(
    'a suspect that a witness finds alive, in a segment that %s, silent for %f heartbeats',
    (segment, missedBeats, count) => {
      const suspect = verdictOf('h', 'suspect', { probes: [probe('alive')], missedBeats })
      const { down } = brakeFacts({
        blind: false,
        verdicts: [{ ...suspect, segment }],
        openIncidents: [],
        recoveries: new Map(),
        domains: () => [],
        confirmAfterBeats: 2.5,
        fencesIsolated: (name) => name === 'fences',
      })
      expect(down).toEqual(Array.from({ length: count }, () => ({ host: 'h', segment, domains: [], waits: false })))
    },
  )

  it('an open incident counts whatever the verdict, and waits until its host is proven dead or it is cancelled', () => {
    const scene = new Scene().open('h0', 'h1', 'h2').prove('h1')
    scene.journal.append([
      { kind: 'operator.cancelled', incident: 'i-h2', host: 'h2', data: { by: 'ann', reason: 'no' } },
    ])
    const { down } = brakeFacts({
      blind: false,
      verdicts: scene.see('host-down', 'h0').verdicts,
      openIncidents: scene.store.open(),
      recoveries: new Map(),
      domains: () => ['r1'],
      confirmAfterBeats: 2.5,
    })
    expect(down).toEqual([
      { host: 'h0', segment: 's', domains: ['r1'], waits: true },
      { host: 'h1', segment: 's', domains: ['r1'], waits: false },
      { host: 'h2', segment: 's', domains: ['r1'], waits: false },
    ])
  })
})
