/** What a daemon that shares its journal says of itself, and how it answers people while the shared journal is in trouble. */
import { describe, expect, it } from 'vitest'
import { activity, confirmed, goodPollAgeMs, standing } from '../../src/daemon/standby.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { KnownDaemon, TenureView } from '../../src/domain/tenure.ts'
import { VirtualClock } from '../../src/simulator/virtual-clock.ts'
import { Fleet } from '../monitor/setup.ts'

function daemon(name: string, changes: Partial<KnownDaemon> = {}): KnownDaemon {
  return {
    ...{ name, address: '', version: '1', mode: 'armed', configDigest: 'd', copiedSeq: 7, goodPollAgeMs: 900 },
    ...{ at: '2026-01-02T03:04:05.000Z', present: true, ...changes },
  }
}

function view(changes: Partial<TenureView> = {}): TenureView {
  return {
    ...{ state: 'active', name: 'ctl1', epoch: 3, active: { name: 'ctl1', address: '' }, waits: null },
    ...{ leaseLeftMs: 5_500, staged: 2, behind: 0, daemons: ['ctl1', 'ctl2', 'ctl3'].map((name) => daemon(name)) },
    ...{ namesake: null, ...changes },
  }
}

const standby: Partial<TenureView> = { state: 'standby', name: 'ctl2', leaseLeftMs: null, behind: 4 }

const suspended: Partial<TenureView> = { state: 'suspended', leaseLeftMs: 0 }

const none = { putBack: 0, aside: 0 }

describe('the metrics of a daemon that shares its journal', () => {
  it('are those of the active one: what is left of its lease, and how many stand by', () => {
    expect(standing(view(), { putBack: 5, aside: 1 })).toEqual({
      ...{ active: 1, tenureEpoch: 3, leaseLeft: 5.5, standbys: 2, daemonsDiffer: 0, nameTaken: 0 },
      ...{ journalBehind: 0, journalStaged: 2, journalPutBack: 5, journalAside: 1 },
    })
  })

  it('count on a standby the same others, itself among them', () => {
    expect(standing(view(standby), none)).toMatchObject({ active: 0, leaseLeft: 0, standbys: 2, journalBehind: 4 })
  })

  it('leave out who was not heard of', () => {
    const daemons = [daemon('ctl1'), daemon('ctl2', { present: false })]
    expect(standing(view({ daemons }), none)).toMatchObject({ standbys: 0 })
  })

  it.each<Partial<KnownDaemon>>([{ version: '2' }, { mode: 'observe' }, { configDigest: 'e' }])(
    'count who differs: %j',
    (changes) => {
      const daemons = [daemon('ctl1'), daemon('ctl2', changes)]
      expect(standing(view({ daemons }), none)).toMatchObject({ daemonsDiffer: 1 })
    },
  )
})

describe('the metrics of daemons with one name', () => {
  const namesake = daemon('ctl1', { configDigest: 'e' })

  it('say so, and count the other one among those that stand by and that differ', () =>
    expect(standing(view({ daemons: [daemon('ctl1')], namesake }), none)).toMatchObject({
      ...{ nameTaken: 1, standbys: 1, daemonsDiffer: 1 },
    }))

  it('are the same on the one that stands by', () => {
    const seen = view({ ...standby, name: 'ctl1', daemons: [daemon('ctl1'), daemon('ctl3')], namesake })
    expect(standing(seen, none)).toMatchObject({ nameTaken: 1, standbys: 2, daemonsDiffer: 1 })
  })
})

describe('GET /active', () => {
  const tenure = (held: boolean, changes: Partial<TenureView>): Parameters<typeof activity>[0] => ({
    held: () => held,
    view: () => view(changes),
  })

  it.each([
    ['whose journal is its own', undefined],
    ['that is active', tenure(true, {})],
  ])('is true of a daemon %s', (_who, of) => expect(activity(of)).toEqual({ ok: true, problems: [] }))

  it.each([
    ['names who is active instead', standby, 'standby; ctl1 is active'],
    ['says that nobody is', { ...standby, active: null }, 'standby; no daemon is active'],
    ['does not name itself once its lease is over', suspended, 'suspended; no daemon is active'],
    [
      'tells another daemon of its name from itself',
      { ...standby, name: 'ctl1', namesake: daemon('ctl1') },
      'standby; another daemon called ctl1 is active',
    ],
    [
      'does not take a standby of its name for the active one',
      { ...suspended, namesake: daemon('ctl1') },
      'suspended; no daemon is active',
    ],
  ])('%s', (_what, changes, problem) =>
    expect(activity(tenure(false, changes))).toEqual({ ok: false, problems: [problem] }),
  )
})

describe('the age of the last good reading of Nova, by which a blind daemon hands over', () => {
  const fleet = new Fleet(['a', 'b'])
  const age = (): number | null => goodPollAgeMs(fleet, fleet.clock)

  it.each([
    ['fails', () => (fleet.apiDown = true)],
    ['lists nothing', () => (fleet.emptyAnswer = true)],
  ])('goes on from there when a reading %s', async (_how, begins) => {
    Object.assign(fleet, { apiDown: false, emptyAnswer: false })
    await fleet.run(2_000)
    expect(age()).toBe(0)
    begins()
    await fleet.run(1_000)
    expect(age()).toBe(1_000)
  })

  it('is not known before the first', () => {
    const { monitor } = new Fleet(['a'])
    expect(goodPollAgeMs({ monitor }, fleet.clock)).toBeNull()
  })
})

describe("a person's order whose entry the shared journal does not confirm in time", () => {
  it('is told as not known, for it may still be confirmed', async () => {
    const clock = new VirtualClock()
    const recorded = (signal?: AbortSignal): Promise<void> =>
      new Promise((_resolve, reject) =>
        signal?.addEventListener('abort', () => reject(new LifeboatError('HELD_BACK', 'late'))),
      )
    await expect(clock.run(confirmed({ recorded }, clock))).rejects.toMatchObject({
      code: 'JOURNAL_UNAVAILABLE',
      certainty: 'unknown',
    })
  })

  it('is told as refused once another daemon is active', async () => {
    const recorded = (): Promise<void> => Promise.reject(new LifeboatError('NOT_ACTIVE', 'ctl2 is active'))
    await expect(confirmed({ recorded }, new VirtualClock())).rejects.toMatchObject({ code: 'NOT_ACTIVE' })
  })
})
