import { describe, expect, test } from 'vitest'
import { live, ready, type Progress } from '../../src/telemetry/health.ts'
import { createSystemdNotify, feedEveryMs, shouldFeed } from '../../src/telemetry/systemd-notify.ts'
import { captured, handClock } from './fixtures.ts'

const limits = { pollStalledMs: 100, novaSilentMs: 50 }
const progress = (over: Partial<Progress> = {}): Progress => ({
  startedMs: 0,
  lastPollMs: 1000,
  lastGoodPollMs: 1000,
  lastJournalMs: 0,
  journalProblem: null,
  ...over,
})

describe('health', () => {
  test.each<[string, Partial<Progress>, number, boolean, boolean]>([
    ['polls end and the journal takes entries', {}, 1010, true, true],
    ['the first poll is still under way', { lastPollMs: null, lastGoodPollMs: null }, 90, true, false],
    ['the first poll never ends', { lastPollMs: null, lastGoodPollMs: null }, 101, false, false],
    ['polls end, but Nova answers none', { lastPollMs: 1100 }, 1110, true, false],
    ['no poll ends any more', {}, 1101, false, false],
    ['the journal cannot be written', { journalProblem: 'disk full' }, 1010, true, false],
    ['the journal was never opened', { lastJournalMs: null }, 1010, true, false],
  ])('%s', (_what, over, now, isLive, isReady) => {
    expect(live(progress(over), now, limits).ok).toBe(isLive)
    expect(ready(progress(over), now, limits).ok).toBe(isReady)
    expect(ready(progress(over), now, limits).problems.length > 0).toBe(!isReady)
  })

  test('an idle journal does not make a quiet cloud unready: only a failed write does', () => {
    const { health, observer, journalWrite, clock } = captured()
    journalWrite({ tookMs: 1, problem: null })
    clock.advance(86_400_000)
    observer.poll({ tookMs: 1, ok: true, hosts: 0, frozen: null, verdicts: [] })
    expect(health.ready()).toEqual({ ok: true, problems: [] })
    journalWrite({ tookMs: 1, problem: 'the disk is full' })
    expect(health.ready().problems.join()).toContain('the disk is full')
    journalWrite({ tookMs: 1, problem: null })
    expect(health.ready().ok).toBe(true)
  })
})

describe('systemd', () => {
  const setUp = (environment: Record<string, string>, now = progress()) => {
    const clock = handClock()
    const sent: string[][] = []
    const errors: Error[] = []
    const state = { progress: now, fail: false }
    const notify = createSystemdNotify({
      clock,
      environment,
      limits: { pollStalledMs: 60_000, novaSilentMs: 60_000 },
      progress: () => state.progress,
      onError: (error) => errors.push(error),
      run: (parameters, done) => {
        sent.push(parameters)
        done(state.fail ? new Error('gone') : null)
      },
    })
    return { clock, sent, errors, notify, state }
  }
  const socket = { NOTIFY_SOCKET: '/run/systemd/notify', WATCHDOG_USEC: '30000000' }

  test('nothing is sent when systemd did not start us', () => {
    const { notify, sent, clock } = setUp({ WATCHDOG_USEC: '30000000' })
    notify.ready('up')
    notify.startWatchdog()
    clock.advance(60_000)
    notify.stopping('bye')
    expect(sent).toEqual([])
  })

  test('a status cannot smuggle in another assignment', () => {
    const { notify, sent } = setUp(socket)
    notify.ready('Watching\nMAINPID=1')
    expect(sent).toEqual([['READY=1', 'STATUS=Watching MAINPID=1']])
  })

  test('the watchdog is fed a third of the time apart, and not before it is started', () => {
    expect([feedEveryMs(socket), feedEveryMs({}), feedEveryMs({ WATCHDOG_USEC: 'x' })]).toEqual([10_000, null, null])
    const { notify, sent, clock } = setUp(socket)
    clock.advance(30_000)
    expect(sent).toEqual([])
    notify.startWatchdog()
    clock.advance(30_000)
    expect(sent).toEqual([['WATCHDOG=1'], ['WATCHDOG=1'], ['WATCHDOG=1']])
  })

  test('the watchdog is fed no more once that was ended, also where nothing said that it stops', () => {
    const { notify, sent, clock } = setUp(socket)
    const end = notify.startWatchdog()
    end()
    clock.advance(60_000)
    expect(sent).toEqual([])
  })

  test('a daemon whose polls stand still is not fed; one that goes on again is', () => {
    const { notify, sent, clock, state } = setUp(socket, progress({ lastPollMs: 0 }))
    notify.startWatchdog()
    clock.advance(100_000)
    expect(sent).toHaveLength(6)
    state.progress = progress({ lastPollMs: 100_000 })
    clock.advance(10_000)
    expect(sent).toHaveLength(7)
  })

  test('a journal that fails is no reason to be killed', () => {
    expect(shouldFeed(progress({ journalProblem: 'disk full' }), 1001, limits)).toBe(true)
  })

  test('stopping ends the feeding, and a failed notification is told', () => {
    const { notify, sent, clock, errors, state } = setUp(socket)
    notify.startWatchdog()
    state.fail = true
    notify.stopping('Stopping')
    clock.advance(60_000)
    expect(sent).toEqual([['STOPPING=1', 'STATUS=Stopping']])
    expect(errors).toHaveLength(1)
  })

  test('a reload begins with the time by which systemd knows its end from an earlier READY, in this order', () => {
    const sent: string[][] = []
    const ends: (() => void)[] = []
    const notify = createSystemdNotify({
      clock: handClock(),
      environment: socket,
      progress: () => progress(),
      onError: () => undefined,
      monotonicUsec: () => 123_456_789n,
      run: (parameters, done) => {
        sent.push(parameters)
        ends.push(() => done(null))
      },
    })
    notify.reloading()
    notify.ready('Watching, armed')
    // Each is a program of its own: the second must not overtake the first.
    expect(sent).toEqual([['RELOADING=1', 'MONOTONIC_USEC=123456789', 'STATUS=Reloading']])
    ends[0]?.()
    expect(sent[1]).toEqual(['READY=1', 'STATUS=Watching, armed'])
  })

  test('a program that cannot even be made is told like one that failed: nothing is thrown out of a timer', () => {
    const errors: Error[] = []
    const notify = createSystemdNotify({
      clock: handClock(),
      environment: socket,
      progress: () => progress(),
      onError: (error) => errors.push(error),
    })
    // More than the system takes as an argument; no memory for a child ends the same way.
    notify.status('x'.repeat(3_000_000))
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('E2BIG')])
  })
})
