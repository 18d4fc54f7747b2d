import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import type { IncidentDetail, InstanceSummary } from '../../src/domain/operations.ts'
import { LifeboatError } from '../../src/domain/errors.ts'
import { progressLines } from '../../src/cli/follow.ts'
import { unpainted } from '../../src/cli/output/words.ts'
import { anIncident, fakeJournal, run } from './fake-commands.ts'
import { FakeScreen, HandClock, settled } from './screens.ts'

const [web, evil] = anIncident.instanceList as [InstanceSummary, InstanceSummary]
const now = '2026-01-02T03:00:30.000Z'
const step: InstanceSummary['steps'][number] = {
  key: 's',
  kind: 'evacuate',
  attempt: 2,
  status: 'issued',
  requestId: null,
  intendedAt: '2026-01-02T03:00:26.000Z',
  endedAt: null,
  waitsUntil: null,
  error: null,
}

function running(change: Partial<IncidentDetail> = {}): IncidentDetail {
  return {
    ...anIncident,
    phase: 'recovering',
    ended: null,
    outcomes: { recovered: 1, open: 1 },
    instanceList: [web, { ...evil, name: 'db', outcome: null, steps: [step] }],
    ...change,
  }
}
const ended = (outcomes: IncidentDetail['outcomes'], change: Partial<IncidentDetail> = {}): IncidentDetail => ({
  ...anIncident,
  outcomes,
  ...change,
})

/** Follows an incident that goes through `states`, one each second; stays at the last. */
async function following(states: (IncidentDetail | Error)[], screen?: FakeScreen) {
  const clock = new HandClock()
  let at = 0
  const incident = (): IncidentDetail => {
    const state = states[Math.min(at++, states.length - 1)] ?? anIncident
    if (state instanceof Error) throw state
    return state
  }
  let end = (): void => undefined
  const terminal = screen?.terminal() ?? {
    onInterrupt: (listen: () => void) => {
      end = listen
      return () => undefined
    },
  }
  const done = run(
    ['incident', 'show', 'i-1', '--follow'],
    { clock, openReader: () => fakeJournal({ incident }) },
    { terminal, env: { LANG: 'C.UTF-8' } },
  )
  // The verb's parts are loaded when it runs, which takes real time.
  while (at === 0) await settled()
  for (let second = 1; second < states.length; second++) await clock.pass(1000)
  return { done, clock, end: () => (screen === undefined ? end() : screen.interrupt()) }
}

describe('in a pipe', () => {
  it('each event is one line with its time, once, and the last line says how it ended', async () => {
    const { done } = await following([running({ instanceList: [] }), running(), running(), anIncident])
    const { out, exit } = await done
    const lines = out.trimEnd().split('\n')
    expect(lines.slice(0, 4)).toEqual([
      '2026-01-02T03:04:05.000Z incident i-1: cmp01 (segment ceph)',
      '2026-01-02T03:04:05.000Z proven dead by bmc (power-off)',
      '2026-01-02T03:04:05.000Z phase recovering',
      '2026-01-02T03:04:06.000Z web: recovered on cmp02 (RUNNING) Runs again',
    ])
    expect(lines).toHaveLength(6)
    expect(lines.at(-1)).toMatch(/done at 2026-01-02 03:00:12Z after 12 s: .* \(1 recovered, 1 stuck\)$/)
    expect(out).not.toContain('\u001b')
    expect(exit).toBe(1)
  })

  it('a journal that cannot be read for a moment is said and waited for', async () => {
    const lost = new LifeboatError('JOURNAL_UNAVAILABLE', 'It is being moved')
    const { done } = await following([running(), lost, lost, ended({ recovered: 2 })])
    const { exit, err } = await done
    expect([exit, err]).toEqual([0, 'It is being moved [JOURNAL_UNAVAILABLE]; still trying\n'])
  })
})

it('an incident that is not there leaves the terminal as it was', async () => {
  const screen = new FakeScreen()
  const { done } = await following([new LifeboatError('NOT_FOUND', 'There is no incident i-1')], screen)
  expect((await done).exit).toBe(1)
  expect([screen.cursor, screen.listening, screen.sent]).toEqual([true, false, ''])
})

describe('the exit code says how it ended', () => {
  it.each([
    ['all recovered', ended({ recovered: 2 }), 0],
    ['some left for a reason', ended({ recovered: 1, left: 1 }), 0],
    ['only observed', ended({ open: 2 }, { mode: 'observe' }), 0],
    ['one failed', ended({ recovered: 1, failed: 1 }), 1],
    ['one stuck', ended({ recovered: 1, stuck: 1 }), 1],
    [
      'cancelled',
      ended({ open: 2 }, { ended: { outcome: 'cancelled', message: 'by bob', at: '2026-01-02T03:00:12.000Z' } }),
      1,
    ],
  ])('%s: %#', async (_how, incident, code) => {
    const { done } = await following([incident])
    expect((await done).exit).toBe(code)
  })

  it('interrupted: 130, and it says that the incident goes on', async () => {
    const { done, end } = await following([running(), running()])
    end()
    const { exit, err } = await done
    expect([exit, err]).toEqual([
      130,
      expect.stringContaining('the incident goes on: lifeboat incident show i-1 --follow'),
    ])
  })

  it('an incident that does not exist fails at once', async () => {
    expect((await run(['incident', 'show', 'nope', '--follow'])).exit).toBe(1)
  })
})

describe('on a terminal', () => {
  it('a bar and the steps under way, drawn in place under what was there; the end stays', async () => {
    const screen = new FakeScreen(80, 20)
    screen.write('$ follow\n')
    const { done } = await following([running(), running(), ended({ recovered: 2 })], screen)
    const { exit } = await done
    expect(screen.text).toMatch(/^\$ follow\nincident i-1: cmp01 \(segment ceph\)\n █+ {2}2\/2 {2}2 recovered\ndone at/)
    expect(screen.text.split('\n')).toHaveLength(4)
    expect([exit, screen.cursor, screen.alternate, screen.listening]).toEqual([0, true, false, false])
  })

  it('while it runs: how far, what is under way and for how long', async () => {
    const screen = new FakeScreen(80, 20)
    const { done } = await following([running(), running()], screen)
    expect(screen.text).toMatch(/ █+░+ {2}1\/2 {2}1 recovered, 1 open\nrecovering, .* since it was opened\n/)
    expect(screen.text).toContain('  db  evacuate issued, try 2')
    screen.interrupt()
    await done
    expect(screen.cursor).toBe(true)
  })

  it.each([
    ['green', ended({ recovered: 2 }), '32m'],
    ['red', ended({ recovered: 1, failed: 1 }), '31m'],
  ])('the end is %s: %#', async (_colour, incident, code) => {
    const screen = new FakeScreen()
    await (
      await following([incident], screen)
    ).done
    expect(screen.colours).toContain(code)
  })
})

describe('the lines', () => {
  const plain = { now, columns: 79, rows: 20, paint: unpainted, ascii: false }

  it.each([20, 30, 45, 60, 79])('are never wider than a terminal of %i columns', (columns) => {
    const held = { code: 'FENCE_FAILED', message: 'no method '.repeat(20), since: now } as IncidentDetail['held']
    const lines = progressLines(running({ held, fencing: 'trying '.repeat(30) }), { ...plain, columns })
    expect(lines.filter((line) => stringWidth(line) > columns)).toEqual([])
  })

  it('the bar goes when there is no room for it, the numbers stay', () => {
    expect(progressLines(running(), { ...plain, columns: 32 })[1]).toBe('1/2  1 recovered, 1 open')
  })

  it('only so many steps as fit, and how many more', () => {
    const many = Array.from({ length: 50 }, (_, n) => ({ ...evil, name: `vm-${n}`, outcome: null, steps: [step] }))
    const lines = progressLines(running({ instanceList: many, instances: 50, outcomes: { open: 50 } }), plain)
    expect(lines.filter((line) => line.includes('evacuate issued'))).toHaveLength(8)
    expect(lines.at(-1)).toBe('  and 42 more under way')
    expect(progressLines(running({ instanceList: many }), { ...plain, rows: 6 }).length).toBeLessThanOrEqual(6)
  })

  it('without UTF-8 the bar is plain text', () => {
    expect(progressLines(running(), { ...plain, ascii: true })[1]).toMatch(/^\[#+\.+\] 1\/2/)
  })

  it('in observe mode there is no bar: nothing is sent', () => {
    expect(progressLines(running({ mode: 'observe' }), plain).join('\n')).not.toMatch(/[█░]/)
  })

  it('names of tenants cannot write to the terminal', () => {
    const lines = progressLines(running({ instanceList: [{ ...evil, outcome: null, steps: [step] }] }), plain)
    expect(lines.join('\n')).not.toContain('\u001b')
  })
})
