/**
 * The laws hold whatever goes wrong: generated clouds, faults at random moments, what owners and administrators do, kills of
 * the daemon. The same scripts in every run; LIFEBOAT_PROPERTY_RUNS=1000 plays others, and prints the seed and the smallest
 * script that breaks a law, ready for `lifeboat rehearse`.
 */
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { lawsHold, lawsOfCrashesHold, oneActs } from './part.ts'

const more = process.env['LIFEBOAT_PROPERTY_RUNS']
const seed = process.env['LIFEBOAT_PROPERTY_SEED']
const choice =
  more === undefined
    ? { numRuns: 20, seed: 20_260 }
    : { numRuns: Number(more), ...(seed !== undefined && { seed: Number(seed) }) }

describe('whatever goes wrong', () => {
  it(
    'no law of a recovery is broken',
    async () => {
      await fc.assert(lawsHold, choice)
    },
    more === undefined ? 300_000 : 3_600_000,
  )

  it(
    'no law of a crash is broken',
    async () => {
      await fc.assert(lawsOfCrashesHold, choice)
    },
    more === undefined ? 300_000 : 3_600_000,
  )

  it(
    'one of several daemons acts, and nothing is lost',
    async () => {
      await fc.assert(oneActs, choice)
    },
    more === undefined ? 300_000 : 3_600_000,
  )
})
