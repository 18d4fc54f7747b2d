/**
 * Of several daemons on one journal the active one and the one that takes over are killed at every moment in which they change something. The moments
 * are those of the run itself, so a step that is added is covered. However it goes, each guest is back once, there is one chain, and no daemon
 * reaches Nova or a BMC once another one has begun.
 *
 * `npm test` plays a sample of the moments; LIFEBOAT_CRASH_SEED=7 another one, and LIFEBOAT_CRASH_ALL=1 all of them (thousands).
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { End, Moment } from './sharing-daemon.ts'
import { play, type Script } from './take-over-scene.ts'

const seed = Number(process.env['LIFEBOAT_CRASH_SEED'] ?? 1)
const playsAll = process.env['LIFEBOAT_CRASH_ALL'] === '1'
const longestTestMs = playsAll ? 3_600_000 : 120_000

/** Longer than the lease, and than a take-over. */
const stillMs = 20_000

/** Before each of these moments, and after it. */
function endsAt(moments: readonly Moment[], from = 1, to = moments.length): End[] {
  return moments.flatMap((_, index) =>
    index + 1 >= from && index + 1 <= to ? [{ before: index + 1 }, { after: index + 1 }] : [],
  )
}

/** So many of them, the same ones in every run. */
function sampled<T>(all: readonly T[], count: number): T[] {
  if (playsAll || all.length <= count) return [...all]
  const [some = []] = fc.sample(fc.shuffledSubarray([...all], { minLength: count, maxLength: count }), {
    ...{ seed, numRuns: 1 },
  })
  return some
}

/** From the statement that takes the tenure up to its first act, or to its last moment where nothing was left to do. */
function takeOverOf(moments: readonly Moment[]): { from: number; to: number } {
  const began = moments.findIndex(({ says }) => says === 'insert tenure.began')
  const from = moments.findLastIndex(({ says }, index) => index < began && says === 'take')
  const act = moments.findIndex(({ isEffect }) => isEffect)
  return { from: from + 1, to: act < 0 ? moments.length : act + 1 }
}

/** What went wrong, by script; empty when all is well. */
async function problemsOf(scripts: readonly Script[], dies: readonly string[]): Promise<Record<string, string[]>> {
  const problems: Record<string, string[]> = {}
  for (const script of scripts) {
    const ending = await play(script)
    const missing = dies.filter((who) => !ending.died.includes(who)).map((who) => `the ${who} one did not die`)
    const found = [...ending.problems, ...missing]
    if (found.length > 0) problems[JSON.stringify(script)] = found
  }
  return problems
}

test(
  'killed at any moment of its tenure, the active daemon leaves nothing that the next one does not end',
  async () => {
    const whole = await play({})
    expect(whole).toMatchObject({ problems: [], died: [] })
    expect(whole.old.filter(({ isEffect }) => isEffect)).toHaveLength(4)
    const scripts = sampled(endsAt(whole.old), 20).map((old) => ({ old }))
    expect(await problemsOf(scripts, ['old'])).toEqual({})
  },
  longestTestMs,
)

test(
  'killed at any moment from its take-over to its first act, the next one leaves it to a third machine, or to its own restart',
  async () => {
    const { old: moments } = await play({})
    const scripts: Script[] = []
    for (const old of sampled(endsAt(moments), 8)) {
      const { next } = await play({ old })
      const { from, to } = takeOverOf(next)
      expect(from, JSON.stringify(old)).toBeGreaterThan(0)
      for (const end of endsAt(next, from, to))
        for (const goesOn of ['a third machine', 'the same machine'] as const) scripts.push({ old, next: end, goesOn })
    }
    expect(await problemsOf(sampled(scripts, 30), ['old', 'next'])).toEqual({})
  },
  longestTestMs,
)

test(
  'a daemon that stands still at any moment sends nothing when it goes on after the next one has begun, and may be killed then too',
  async () => {
    const { old: moments } = await play({})
    const stills = sampled(endsAt(moments), 12).map((end) => ({ ...end, ms: stillMs }))
    const scripts: Script[] = []
    for (const standsStill of stills) {
      const { old, problems, tookOverAt } = await play({ standsStill })
      expect(problems, JSON.stringify(standsStill)).toEqual([])
      const woke = old.findIndex(({ at }) => at > tookOverAt)
      if (woke >= 0) for (const end of endsAt(old, woke + 1)) scripts.push({ standsStill, old: end })
    }
    expect(await problemsOf(sampled(scripts, 12), ['old'])).toEqual({})
  },
  longestTestMs,
)
