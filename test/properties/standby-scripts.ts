/** Generates what happens to two or three daemons on one shared journal, and plays it. */
import fc from 'fast-check'
import { leaseMs, Site, type Controller } from '../journal/shared/controllers.ts'

export type Blow =
  | { what: 'kill' | 'start' | 'release' | 'cut' | 'join' | 'blind' | 'hang' | 'lag' | 'catch up'; who: number }
  | { what: 'stand still'; who: number; ms: number }
  | { what: 'lose answers'; who: number; statements: number }
  | { what: 'stall' }
  | { what: 'flow' }

export interface StandbyScript {
  daemons: 2 | 3
  blows: { afterMs: number; blow: Blow }[]
}

const who = fc.nat({ max: 2 })
const blow: fc.Arbitrary<Blow> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ what: fc.constantFrom('kill', 'start', 'cut', 'join'), who }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constantFrom('release', 'blind'), who }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constantFrom('hang', 'lag', 'catch up'), who }) },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ what: fc.constant('stand still' as const), who },
      ms: fc.constantFrom(300, 3_000, 5_900, 6_100, 7_000, 9_000, 20_000, 60_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant('lose answers' as const),
      who,
      statements: fc.integer({ min: 1, max: 6 }),
    }),
  },
  { weight: 2, arbitrary: fc.constantFrom<Blow>({ what: 'stall' }, { what: 'flow' }) },
)

export const standbyScript: fc.Arbitrary<StandbyScript> = fc.record({
  daemons: fc.constantFrom(2, 3),
  blows: fc.array(fc.record({ afterMs: fc.constantFrom(0, 10, 90, 500, 1_000, 2_500, 6_000, 6_300, 8_000), blow }), {
    minLength: 1,
    maxLength: 14,
    size: 'max',
  }),
})

/** How often a daemon records and sends something, ms. */
const actEveryMs = 330

/** Plays a script, then lets everything be well. Gives what broke. */
export async function brokenByStandby({ daemons, blows }: StandbyScript): Promise<string[]> {
  const site = new Site()
  const names = ['ctl1', 'ctl2', 'ctl3'].slice(0, daemons)
  const running = new Map<string, Controller>()
  const over = { at: false }
  const start = (name: string): void => {
    const before = running.get(name)
    if (before !== undefined && before.tenure.state !== 'ended') return
    if (before !== undefined) site.kill(before)
    const controller = site.start(name)
    running.set(name, controller)
    const next = (): void => {
      if (controller.tenure.state === 'ended') return
      if (controller.tenure.mayAppend && !over.at) void controller.act()
      controller.life.after(actEveryMs, next)
    }
    next()
  }
  try {
    for (const name of names) start(name)
    await site.clock.advance(5_000)
    for (const { afterMs, blow: struck } of blows) {
      await site.clock.advance(afterMs)
      strike(site, struck, names, running, start)
    }
    await peace(site, names, running, start)
    over.at = true
    return [...(await inTheEnd(site, names, running)), ...site.broken()]
  } finally {
    site.close()
  }
}

function strike(
  site: Site,
  struck: Blow,
  names: readonly string[],
  running: Map<string, Controller>,
  start: (name: string) => void,
): void {
  if (struck.what === 'stall') return site.cluster.stall()
  if (struck.what === 'flow') return site.cluster.flow()
  const name = names[struck.who % names.length] ?? ''
  if (struck.what === 'start') return start(name)
  const controller = running.get(name)
  if (controller === undefined) return
  if (struck.what === 'kill') {
    site.kill(controller)
    running.delete(name)
  } else if (struck.what === 'stand still') controller.life.stall(struck.ms)
  else if (struck.what === 'lose answers') controller.client.loseAnswers(struck.statements)
  else if (struck.what === 'cut') controller.client.cut()
  else if (struck.what === 'join') controller.client.join()
  else if (struck.what === 'blind') controller.novaAnswers(false)
  else if (struck.what === 'hang') controller.client.hang()
  else if (struck.what === 'lag') controller.client.lag()
  else if (struck.what === 'catch up') controller.client.catchUp()
  else void controller.release('asked to')
}

/** Everything that stood still goes on, and everyone is there. */
async function peace(
  site: Site,
  names: readonly string[],
  running: Map<string, Controller>,
  start: (name: string) => void,
): Promise<void> {
  site.cluster.flow()
  for (const controller of running.values()) {
    controller.client.join()
    controller.client.loseAnswers(0)
    controller.client.catchUp()
    controller.novaAnswers(true)
  }
  // Longer than the longest standstill: who was deposed meanwhile has ended by then.
  await site.clock.advance(70_000)
  for (const name of names) start(name)
  await site.clock.advance(leaseMs + 10_000)
}

/** One acts, the others stand by, and all copies are the same. */
async function inTheEnd(site: Site, names: readonly string[], running: Map<string, Controller>): Promise<string[]> {
  const all = [...running.values()]
  const states = all.map(({ tenure }) => tenure.state).toSorted()
  const wanted = ['active', ...names.slice(1).map(() => 'standby')]
  const acting = all.find(({ tenure }) => tenure.mayAppend)
  const refused = acting === undefined ? 'nobody' : await site.clock.run(acting.act())
  await site.clock.advance(3_000)
  const heads = new Set(all.map(({ copy }) => `${copy.head().seq} ${copy.head().hash}`))
  return [
    ...(states.join() === wanted.join() ? [] : [`in the end they are ${states.join(', ')}`]),
    ...(refused === null ? [] : [`in the end no act leaves: ${refused}`]),
    ...all.flatMap(({ name, problem }) => (problem === null ? [] : [`${name}: ${problem}`])),
    ...(heads.size === 1 ? [] : [`in the end the copies differ: ${[...heads].join(' and ')}`]),
  ]
}
