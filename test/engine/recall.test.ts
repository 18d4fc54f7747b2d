/** What the next incident makes of an instance that an earlier one tried to bring back. */
import { describe, expect, it } from 'vitest'
import type { ErrorRecord } from '../../src/domain/errors.ts'
import type { Instance, InstanceAction, Migration } from '../../src/domain/instance.ts'
import type { Outcome } from '../../src/domain/outcome.ts'
import type { EarlierRecovery, InitialState } from '../../src/domain/survey.ts'
import { doubtAbout, recalledInitialState, type SeenNow } from '../../src/engine/recall.ts'

const instance = {
  id: 'i',
  host: 'cmp01',
  vmState: 'error',
  taskState: null,
  powerState: 0,
  locked: false,
  lockedReason: null,
  fault: 'No valid host',
} as Instance
const original = {
  instance,
  wanted: 'unknown',
  wantedBecause: '',
  flagged: true,
  locked: false,
  lockedReason: null,
  knownEvacuations: ['m1'],
  resize: null,
} as InitialState

interface Told {
  before?: Partial<Instance>
  wanted?: InitialState['wanted']
  outcome?: Partial<Outcome>
  error?: Partial<ErrorRecord>
  proven?: string[]
}

function earlier({ before, wanted = 'running', outcome, error, proven = [] }: Told = {}): EarlierRecovery {
  const steps = [
    { kind: 'evacuate', status: 'failed', requestId: 'ours', error: { certainty: 'applied', details: {}, ...error } },
  ]
  return {
    incident: 'first',
    original: { ...original, instance: { ...instance, vmState: 'active', ...before }, wanted, knownEvacuations: [] },
    outcome: { outcome: 'failed', code: 'NO_VALID_HOST', message: 'no room', ...outcome },
    steps,
    ordered: null,
    lookedAt: null,
    ofCrash: null,
    isOffAfterReturn: false,
    plannedAt: '2030-01-01T00:00:00Z',
    endedAt: '2030-01-01T01:00:00Z',
    provenDeadSince: (host: string) => proven.includes(host),
  } as unknown as EarlierRecovery
}

const order = (action: string, requestId: string, at: string, userId: string | null = 'owner'): InstanceAction =>
  ({
    action,
    requestId,
    userId,
    startedAt: `2030-01-01T${at}:00`,
    message: null,
    events: [],
  }) as unknown as InstanceAction
const ours = order('evacuate', 'ours', '00:01', 'us')

function seen(change: Partial<SeenNow> = {}): SeenNow {
  return {
    instance,
    original,
    actions: [ours],
    evacuations: [],
    actedOnGuest: false,
    requestLastsMs: 600_000,
    nowMs: Date.parse('2030-01-01T02:00:00Z'),
    ...change,
  }
}

describe('the original of an instance that an earlier incident touched', () => {
  it('is what that incident recorded, where all that came since in Nova is ours', () =>
    expect(recalledInitialState(earlier(), seen())).toMatchObject({
      instance: { vmState: 'active', fault: 'No valid host' },
      wanted: 'running',
      flagged: true,
      knownEvacuations: ['m1'],
      earlier: { incident: 'first', traces: true },
    }))

  it.each([
    ['a later stop of its owner counts', [order('stop', 'o', '00:02'), ours], 'stopped'],
    ['a stop that Nova refused does not', [{ ...order('stop', 'o', '00:02'), message: 'Error' }, ours], 'running'],
    ['one before our attempt does not', [ours, order('stop', 'o', '00:00')], 'running'],
    ["nova-compute's power sync does not", [order('stop', 'o', '00:02', null), ours], 'running'],
    ['one of ours, whose answer was lost, does not', [order('stop', 'lost', '00:02', 'us'), ours], 'running'],
  ])('%s', (_rule, actions, wanted) => expect(recalledInitialState(earlier(), seen({ actions }))?.wanted).toBe(wanted))

  it.each(['STOPPED_BY_OWNER', 'STARTED_SINCE'])(
    'is what Nova shows, where that one ended as its owner left it: %s',
    (code) => expect(recalledInitialState(earlier({ outcome: { outcome: 'left', code } }), seen())).toBeNull(),
  )

  describe('whose owner ordered something while that incident went on', () => {
    const meanwhile = (change: Partial<EarlierRecovery>): EarlierRecovery => ({ ...earlier(), ...change })
    const stop = order('stop', 'o', '00:03')
    const later = { ...ours, startedAt: '2030-01-01T00:05:00' }

    it.each([
      ['a stop on record counts, though our own orders came after it', { ordered: 'stop' }, [later, stop], 'stopped'],
      [
        'so does one that came between two of our tries',
        { lookedAt: '2030-01-01T00:01:00Z' },
        [later, stop],
        'stopped',
      ],
      ['a start on record counts', { ordered: 'start' }, [later], 'running'],
      ['a start that came later does', { ordered: 'stop' }, [order('start', 's', '00:06'), later], 'running'],
      ['and a reboot, which starts it', { ordered: 'stop' }, [order('reboot', 's', '00:06'), later], 'running'],
    ] as const)('%s', (_rule, change, actions, wanted) =>
      expect(recalledInitialState(meanwhile(change), seen({ actions: [...actions] }))?.wanted).toBe(wanted),
    )
  })

  describe('of a guest that was restarted after a crash', () => {
    const look = '2030-01-01T00:01:00Z'
    const reboot = { ...order('reboot', 'ours', '00:01', 'us'), startedAt: '2030-01-01T00:01:09' }
    const stopAt = (seconds: string): InstanceAction => ({
      ...order('stop', 'o', '00:00'),
      startedAt: `2030-01-01T00:${seconds}`,
    })
    const crashed = (stoppedAgain: boolean): EarlierRecovery => ({
      ...earlier({ outcome: { outcome: 'left', code: 'HOST_FAILED' } }),
      ofCrash: { lookedAt: look, stoppedAgain },
    })

    it.each([
      ['a stop that crossed the reboot counts, though the history has it before', [reboot, stopAt('01:04')], 'stopped'],
      ['one from before the look does not', [reboot, stopAt('00:50')], 'running'],
      ['a start that came after it counts', [order('start', 's', '00:02'), reboot, stopAt('01:04')], 'running'],
    ])('%s', (_rule, actions, wanted) =>
      expect(recalledInitialState(crashed(false), seen({ actions }))?.wanted).toBe(wanted),
    )

    it('a stop that was given again counts, though no history can be read', () =>
      expect(recalledInitialState(crashed(true), seen({ actions: null }))?.wanted).toBe('stopped'))

    it('is as Nova shows it, but wanted running, where it waited for its restart as its host died', () => {
      const waited = { ...crashed(false), steps: [], ofCrash: { lookedAt: null, stoppedAgain: false } }
      const off = { ...original, wanted: 'stopped' as const, wantedBecause: 'it had switched itself off' }
      const known = recalledInitialState(waited, seen({ original: off, actions: [] }))
      expect(known).toEqual({ ...off, wanted: 'running', wantedBecause: 'incident first recorded it: ' })
    })
  })

  it('counts a stop that Nova stamps with the second of the plan, where nothing of ours is in the history', () => {
    const before = { ...earlier({ outcome: {} }), steps: [], plannedAt: '2030-01-01T00:00:43.800Z' }
    const stop = { ...order('stop', 'o', '00:00'), startedAt: '2030-01-01T00:00:43.000000' }
    expect(recalledInitialState(before, seen({ actions: [stop] }))?.wanted).toBe('stopped')
  })

  it.each([
    ['its owner rebooted it after that incident', [order('reboot', 'o', '02:00'), ours], 'active', null],
    ['or stopped it', [order('stop', 'o', '02:00'), ours], 'stopped', null],
    ['or started it, and it switched itself off', [order('start', 'o', '02:00'), ours], 'stopped', null],
  ] as const)('%s: what Nova shows is the truth', (_why, actions, vmState, known) =>
    expect(
      recalledInitialState(
        earlier({ before: { vmState: 'paused' } }),
        seen({ actions: [...actions], instance: { ...instance, vmState } }),
      ),
    ).toBe(known),
  )

  it('its owner ordered something that Nova has not carried out yet: it is what that incident recorded', () => {
    const actions = [order('reboot', 'o', '02:00'), ours]
    const busy = { ...instance, vmState: 'active', taskState: 'rebooting_hard' }
    expect(recalledInitialState(earlier(), seen({ actions, instance: busy }))?.wanted).toBe('running')
  })

  it.each([
    ['it was brought back', earlier({ outcome: { outcome: 'recovered' } }), [ours]],
    ['its owner rebuilt it since', earlier(), [order('rebuild', 'o', '00:02'), ours]],
  ])('is what Nova shows where %s', (_why, before, actions) =>
    expect(recalledInitialState(before, seen({ actions }))).toBeNull(),
  )

  it('is in ERROR only where it was before we touched it', () =>
    expect(recalledInitialState(earlier({ before: { vmState: 'error' } }), seen())?.instance.vmState).toBe('error'))

  it('no longer waits for a resize that we confirmed or reset', () =>
    expect(
      recalledInitialState(earlier({ before: { vmState: 'resized' }, wanted: 'stopped' }), seen())?.instance.vmState,
    ).toBe('stopped'))

  it.each([
    ['our own lock that is left', 'lifeboat: instance is being recovered (first)', false],
    ["a lock of its owner's since", 'mine', true],
  ])('%s', (_what, lockedReason, locked) =>
    expect(
      recalledInitialState(earlier(), seen({ instance: { ...instance, locked: true, lockedReason } }))?.locked,
    ).toBe(locked),
  )
})

describe('whether the guest may run elsewhere', () => {
  const lost = (error: Partial<ErrorRecord> = {}, proven: string[] = []): EarlierRecovery =>
    earlier({
      outcome: { outcome: 'stuck', code: 'GUEST_ON_DESTINATION', message: 'may be running on cmp02' },
      error: { certainty: 'unknown', details: { destination: 'cmp02' }, ...error },
      proven,
    })
  const record = { uuid: 'm2', id: 2, status: 'failed', sourceHost: 'cmp01', destHost: 'cmp04' } as Migration

  it('is not known after a stuck recovery that could not tell', () =>
    expect(doubtAbout(lost(), seen(), 'cmp01')).toContain('the guest may be running on cmp02'))

  it.each([
    ['its destination was proven dead since', lost({}, ['cmp02']), seen(), 'cmp01'],
    ['its destination is the host that is dead now', lost(), seen(), 'cmp02'],
    ['someone has acted on the guest since', lost(), seen({ actedOnGuest: true }), 'cmp01'],
    ['it ended knowing', earlier(), seen(), 'cmp01'],
  ])('is settled where %s', (_why, before, now, host) => expect(doubtAbout(before, now, host)).toBeNull())

  it('is not known for as long as Nova may serve a request whose answer was lost', () => {
    const before = lost({ details: {} })
    const endedMs = Date.parse(before.endedAt ?? '')
    const later = (ms: number) => seen({ nowMs: endedMs + ms, requestLastsMs: 3_600_000 })
    expect(doubtAbout(before, later(3_600_000), 'cmp01')).toContain('try again later')
    expect(doubtAbout(before, later(3_600_001), 'cmp01')).toBeNull()
  })

  it('goes by the newest evacuation of ours where the error names no host', () =>
    expect(doubtAbout(lost({ details: {} }), seen({ evacuations: [record] }), 'cmp01')).toContain('running on cmp04'))

  describe('where another order crossed ours', () => {
    const crossed = (proven: string[] = []): EarlierRecovery =>
      lost({ details: { migrations: ['m2', 'm3'], destinations: ['cmp02', 'cmp03'] } }, proven)
    const theirs = { uuid: 'm3', id: 3, status: 'error', sourceHost: 'cmp01', destHost: null } as Migration

    it.each([
      ['none of both is known to be dead', crossed(), 'cmp01', 'running on cmp02 and on cmp03.'],
      ['only one of both was proven dead since', crossed(['cmp03']), 'cmp01', 'running on cmp02.'],
      ['only one of both is the host that is dead now', crossed(), 'cmp03', 'running on cmp02.'],
      ['both are dead', crossed(['cmp02']), 'cmp03', null],
    ] as const)('%s', (_why, before, host, doubt) => {
      const told = doubtAbout(before, seen({ evacuations: [{ ...record, destHost: 'cmp02' }, theirs] }), host)
      if (doubt === null) expect(told).toBeNull()
      else expect(told).toContain(doubt)
    })

    it('after ours had landed, goes by the outcome: no step has failed', () => {
      const twice = { destinations: ['cmp02'], migrations: ['m2', 'm3'] }
      const before = earlier({ outcome: { outcome: 'stuck', code: 'GUEST_ON_DESTINATION', crossed: twice } })
      const evacuations = [
        { ...record, destHost: 'cmp02' },
        { ...theirs, status: 'accepted' },
      ]
      expect(doubtAbout(before, seen({ evacuations }), 'cmp02')).toContain('running on an unknown host.')
    })
  })

  it.each([
    ['it is still under way there', { destHost: 'cmp03', status: 'pre-migrating' }, 'running on cmp03.'],
    ['Nova has not chosen a host for it', { destHost: null, status: 'accepted' }, 'running on an unknown host.'],
    ['Nova has ended it in error', { destHost: null, status: 'error' }, null],
  ])('one of whose hosts was not known goes by where the other order stands by now: %s', (_why, now, doubt) => {
    const details = { migrations: ['m2', 'm3'], destinations: ['cmp02', 'an unknown host'] }
    const theirs = { uuid: 'm3', id: 3, sourceHost: 'cmp01', ...now } as Migration
    const evacuations = [{ ...record, destHost: 'cmp02' }, theirs]
    const told = doubtAbout(lost({ details }, ['cmp02']), seen({ evacuations }), 'cmp01')
    if (doubt === null) expect(told).toBeNull()
    else expect(told).toContain(doubt)
  })

  it('an order that nobody took has no host in Nova, and one from Placement counts for it', () => {
    const details = { migrations: ['m2', 'm3'], destinations: ['cmp02', 'cmp03'] }
    const theirs = { uuid: 'm3', id: 3, sourceHost: 'cmp01', destHost: null, status: 'accepted' } as Migration
    const now = seen({ evacuations: [{ ...record, destHost: 'cmp02' }, theirs] })
    expect(doubtAbout(lost({ details }, ['cmp02', 'cmp03']), now, 'cmp01')).toBeNull()
  })

  it('an evacuation from another host, long ago, says nothing of ours', () => {
    const old = { ...record, sourceHost: 'cmp09', destHost: 'cmp01', status: 'done' } as Migration
    expect(doubtAbout(lost({ details: {} }), seen({ evacuations: [old] }), 'cmp01')).toBeNull()
  })

  it.each([
    ['a minute later it may still come', '2030-01-01T01:01:00Z', true],
    ['a quarter of an hour later it does not come any more', '2030-01-01T01:15:00Z', false],
  ])('of a request that left no trace: %s', (_when, at, doubted) =>
    expect(doubtAbout(lost({ details: {} }), seen({ nowMs: Date.parse(at) }), 'cmp01') !== null).toBe(doubted),
  )
})

describe('an instance that was off since an earlier return of its host', () => {
  const off = { ...instance, vmState: 'stopped', fault: null } as Instance
  const before = { ...earlier({ outcome: { outcome: 'left', code: 'HOST_FAILED_AGAIN' } }), steps: [] }
  const recall = (actions: InstanceAction[]) =>
    recalledInitialState(
      { ...before, isOffAfterReturn: true },
      {
        ...{ instance: off, original: { ...original, instance: off, wanted: 'stopped' }, actions, evacuations: [] },
        ...{ actedOnGuest: false, requestLastsMs: 600_000, nowMs: Date.parse('2030-01-01T05:00:00Z') },
      },
    )

  it('is to run, however long ago Nova itself stopped it', () => {
    expect(recall([order('stop', 'sync', '00:01', null)])).toMatchObject({
      wanted: 'running',
      instance: { vmState: 'stopped' },
    })
  })

  it.each(['start', 'stop'])('is as Nova has it once a person ordered: %s', (what) => {
    expect(recall([order(what, 'theirs', '02:00'), order('stop', 'sync', '00:01', null)])).toBeNull()
  })
})
