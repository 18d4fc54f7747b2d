/**
 * Every recipe and step kind that is shipped, disturbed in every way that a daemon can be: killed at each commit, each write
 * refused, lost, its answer lost, or taken with a bad end, each row read again by a daemon that has an older journal. However
 * it goes, the instance ends with one true line and is never on its way twice (laws L2, L3, L5, L6, L9).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LifeboatError } from '../../src/domain/errors.ts'
import type { Death, Intercept, Sending } from './mortal-daemon.ts'
import { findWays, isAt, placesOf, routed, shippedWorkflows, type Way } from './recipes.ts'
import { rehearse, type Commit } from './rehearsal.ts'

/** Problems by what was done; empty when all is well. */
type Problems = Record<string, unknown>

describe.each(shippedWorkflows())('$file', (shipped) => {
  let ways: Way[] = []
  let unreached: string[] = []
  let runs = 0

  beforeAll(async () => {
    ;({ ways, unreached } = await findWays(shipped))
  })
  afterAll(() => expect(runs).toBeGreaterThan(0))

  const play = (way: Way, disturbance: Parameters<typeof rehearse>[2]): ReturnType<typeof rehearse> => {
    runs++
    return rehearse(
      shipped.workflow,
      way.scene,
      { ...disturbance, intercept: routed(way.routes, disturbance?.intercept) },
      way.reference,
    )
  }

  test('every step of every recipe is rehearsed, and undisturbed every way ends well', () => {
    expect(unreached, 'no scene of test/crash/recipes.ts gets here').toEqual([])
    expect(placesOf(shipped.document).length).toBeGreaterThan(0)
    expect(Object.fromEntries(ways.map((way) => [way.name, way.reference.problems]))).toEqual(
      Object.fromEntries(ways.map((way) => [way.name, []])),
    )
  })

  test('killed before or after any commit, the next daemon ends it as if nothing had happened', async () => {
    const problems: Problems = {}
    const done = new Set<string>()
    for (const way of ways)
      for (const { death, says } of deathsOf(way, done)) {
        const { died, outcome, ...ending } = await play(way, { deaths: [death] })
        if (died !== 1) ending.problems.push('it did not die')
        if (outcome?.outcome !== way.reference.outcome?.outcome)
          ending.problems.push(`ended as ${outcome?.outcome} ${outcome?.code}: ${outcome?.message}`)
        if (ending.problems.length > 0) problems[`${way.name}, killed ${says}`] = ending.problems
      }
    expect(problems).toEqual({})
  }, 600_000)

  test.each(['refused', 'swallowed', 'taken without an answer'] as const)(
    'every write that is once %s is made good, and nothing is sent twice',
    async (how) => {
      const problems: Problems = {}
      for (const way of ways) {
        const struck = new Map<string, number>()
        const ending = await play(way, { intercept: onceEach(how, struck) })
        const { outcome } = ending
        if (outcome?.outcome !== way.reference.outcome?.outcome)
          ending.problems.push(`ended as ${outcome?.outcome} ${outcome?.code}: ${outcome?.message}`)
        if (how === 'taken without an answer')
          for (const [place, sent] of struck) if (sent > 1) ending.problems.push(`${place} was sent ${sent} times`)
        if (ending.problems.length > 0) problems[way.name] = ending.problems
      }
      expect(problems).toEqual({})
    },
    180_000,
  )

  test('a write that was taken and went wrong ends in a line that says so, or is made good', async () => {
    const problems: Problems = {}
    for (const way of ways)
      for (const place of way.places) {
        const [recipe = '', step = ''] = place.split('.')
        const ending = await play(way, { intercept: badlyApplied({ recipe, step }) })
        if (ending.problems.length > 0) problems[`${way.name}, ${place}`] = [ending.outcome, ...ending.problems]
      }
    expect(problems).toEqual({})
  }, 600_000)

  test('an order that an owner gave a moment before ours is no failure', async () => {
    const problems: Problems = {}
    for (const way of ways)
      for (const step of ['start', 'stop'])
        if ([...way.places].some((place) => place.endsWith(`.${step}`))) {
          const ending = await play(way, { intercept: ownerWasFirst(step) })
          if (ending.outcome?.outcome !== 'recovered') problems[`${way.name}, ${step}`] = ending.outcome
        }
    expect(problems).toEqual({})
  })

  test('a journal that is set back to any row of any step never runs a guest twice nor tells an untruth', async () => {
    const problems: Problems = {}
    const done = new Set<string>()
    for (const way of ways) {
      const restoreAfter = way.reference.commits.flatMap(({ kinds, says }, index) => {
        const place = placeOf(says)
        if (!kinds.some((kind) => kind.startsWith('step.')) || place === null || done.has(place)) return []
        done.add(place)
        return [index + 1]
      })
      const ending = await play(way, { restoreAfter })
      if (ending.problems.length > 0) problems[way.name] = ending.problems
    }
    expect(problems).toEqual({})
  }, 600_000)
})

/** A commit without what differs from run to run, or null for one that belongs to no step. */
function placeOf(says: string): string | null {
  return says.includes('.') ? says.replaceAll(/ \d+\.|\.\d+(?= |$)/g, ' ') : null
}

/**
 * The moments worth dying in: before each commit, and after those that are followed by a write. After any other, a death
 * is the death before the next commit: reading leaves nothing behind. Each moment of a step counts once over all ways.
 */
function deathsOf({ reference: { commits, effects } }: Way, done: Set<string>): { death: Death; says: string }[] {
  const isNew = (says: string): boolean => {
    const before = done.size
    return done.add(placeOf(says) ?? says).size > before
  }
  // The daemon's own last row comes when everything is over.
  return commits.slice(0, -1).flatMap((commit: Commit, index) => {
    if (!isNew(commit.says)) return []
    const nth = index + 1
    const wrote = (commits[nth]?.effectsBefore ?? effects) > commit.effectsBefore
    return [
      { death: { before: nth }, says: `before ${nth}: ${commit.says}` },
      ...(wrote ? [{ death: { after: nth }, says: `after ${nth}: ${commit.says}` }] : []),
    ]
  })
}

/** Strikes the first write of every step; counts in `struck` how often each was sent to the cloud. */
function onceEach(how: 'refused' | 'swallowed' | 'taken without an answer', struck: Map<string, number>): Intercept {
  return async (sending, pass) => {
    const place = `${sending.recipe}.${sending.step}`
    const first = !struck.has(place)
    if (!first || how === 'taken without an answer') struck.set(place, (struck.get(place) ?? 0) + 1)
    else struck.set(place, 0)
    if (!first) return pass()
    if (how === 'refused') throw new LifeboatError('API_UNAVAILABLE', 'rehearsed 503', { retry: 'backoff' })
    if (how === 'taken without an answer') await pass()
    throw new LifeboatError('API_TIMEOUT', 'rehearsed time-out', { certainty: 'unknown' })
  }
}

/** The same order twice: the first one is the owner's, ours is refused. */
function ownerWasFirst(kind: string): Intercept {
  let struck = false
  return async (sending, pass) => {
    if (!struck && sending.kind === kind) {
      struck = true
      await pass()
    }
    return pass()
  }
}

function badlyApplied(place: { recipe: string; step: string }): Intercept {
  let struck = false
  return async (sending: Sending, pass) => {
    const answer = await pass()
    if (struck || !isAt(sending, place)) return answer
    struck = true
    throw new LifeboatError('STATE_MISMATCH', 'rehearsed bad end', { certainty: 'applied', retry: 'backoff' })
  }
}
