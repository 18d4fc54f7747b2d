/**
 * Someone else evacuates in the seconds before our own order, at any moment: nothing of it is doubled, and no line says what is not
 * so. Nova calls the host down for everyone, and an operator, a script or another tool may be as quick as we are.
 */
import { expect, it } from 'vitest'
import { rehearse } from '../../src/rehearsal/rehearse.ts'
import { parseScenario } from '../../src/rehearsal/scenario.ts'
import type { Entry } from '../../src/domain/entry.ts'
import type { Truth } from '../../src/simulator/hypervisors.ts'

interface Played {
  /** When our first evacuation was intended, seconds since the beginning. */
  sentAtS: number
  /** Lines that say what is not so. */
  untrue: string[]
  doubles: number
  /** Instances that have a line. */
  lines: number
}

/** @param standsStillMs how long Nova's API stands still over the first of their orders, which it has checked by then */
async function play(othersAtMs: number | null, standsStillMs = 0): Promise<Played> {
  const others =
    othersAtMs === null
      ? []
      : [
          `  - at: ${othersAtMs}ms`,
          ...(standsStillMs > 0 ? [`    stand_still_over_order: ${standsStillMs}ms`, '  - after: 0s'] : []),
          '    user: { instance: runs, action: evacuate, as: admin, body: {} }',
          // The script goes on once that is answered.
          ...(standsStillMs > 0 ? [] : ['  - user: { instance: is-off, action: evacuate, as: admin, body: {} }']),
        ]
  const text = [
    'title: Someone else evacuates shortly before we do',
    'instances:',
    '  - { name: runs, host: cmp01 }',
    '  - { name: is-off, host: cmp01, state: stopped }',
    'script:',
    ...['cmp02', 'cmp03', 'cmp04'].flatMap((host) => [
      '  - at: 30s',
      `    fault: { host: ${host}, slow_spawn: 3s, slow_move: 1s }`,
    ]),
    '  - at: 1m',
    '    crash: [cmp01]',
    '  - at: 80s',
    '    api_fault: { kind: slow, path: redfish, delay: 3s }',
    ...others,
    '  - when: { closed: cmp01 }',
    // Its last look at what has landed comes ten minutes after that.
    `  - after: ${standsStillMs > 0 ? 11 : 1}m`,
    '    note: over',
  ].join('\n')
  const played: Played = { sentAtS: NaN, untrue: [], doubles: 0, lines: 0 }
  const lines = new Map<string, Extract<Entry, { kind: 'outcome.recorded' }>>()
  let beganAt = NaN
  let truth: Truth = { running: {}, doubles: [], starts: {} }
  const show = (_line: string, entry: Entry | null): void => {
    if (entry?.kind === 'daemon.started') beganAt = Date.parse(entry.at)
    if (entry?.kind === 'step.intended' && entry.data.kind === 'evacuate' && Number.isNaN(played.sentAtS))
      played.sentAtS = (Date.parse(entry.at) - beganAt) / 1_000
    if (entry?.kind === 'outcome.recorded') lines.set(entry.instance ?? '', entry)
  }
  await rehearse(parseScenario(text, 'test.yaml', 'test'), {
    show,
    inspect: ({ simulator }) => (truth = simulator.world.hypervisors.truth()),
  })
  played.doubles = truth.doubles.length
  played.lines = lines.size
  for (const [instance, { data }] of lines) {
    const runsOn = truth.running[instance] ?? []
    const said = data.after?.host ?? null
    const isSo = runsOn.length === 0 || (runsOn.length === 1 && runsOn[0] === said)
    const isTold = data.code === 'GUEST_ON_DESTINATION' && runsOn.every((host) => data.message.includes(host))
    if (!isSo && !isTold)
      played.untrue.push(`${data.outcome} on ${said}, runs on ${runsOn.join(', ')}: ${data.message}`)
  }
  return played
}

it('nothing that someone else began 0.1 to 5 seconds before our order is doubled, or told as it is not', async () => {
  const { sentAtS } = await play(null)
  const moments = [0.1, ...Array.from({ length: 20 }, (_, step) => (step + 1) * 0.25)]
  const seen: unknown[] = []
  for (const beforeS of moments) seen.push({ beforeS, ...(await play((sentAtS - beforeS) * 1_000)) })
  expect(seen).toEqual(moments.map((beforeS) => expect.objectContaining({ beforeS, untrue: [], doubles: 0, lines: 2 })))
})

it('what Nova’s API let in before our order, and files 1 to 25 seconds after it, is told with every host that runs the guest', async () => {
  const { sentAtS } = await play(null)
  const seen: (Played & { afterS: number })[] = []
  for (const afterS of [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 25])
    seen.push({ afterS, ...(await play((sentAtS - 0.5) * 1_000, (afterS + 0.5) * 1_000)) })
  expect(seen.filter(({ untrue }) => untrue.length > 0)).toEqual([])
  expect(seen.filter(({ doubles }) => doubles > 0).length).toBeGreaterThan(5)
})
