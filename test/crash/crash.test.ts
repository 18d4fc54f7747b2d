/** A daemon killed at any moment of a recovery leaves nothing that the next one does not finish, and nothing is done twice. */
import { expect, test } from 'vitest'
import { dieAndResume, type Death } from './crash-scene.ts'

/** Most of each run is waiting: two cores are enough for this many. */
const parallel = 8

/** Runs each list of deaths, some at a time, and gives what went wrong by the moments of death. */
async function runAll(lives: Death[][], options: { failFirst?: boolean } = {}): Promise<Record<string, string[]>> {
  const problems: Record<string, string[]> = {}
  const waiting = lives.toReversed()
  const worker = async (): Promise<void> => {
    for (let deaths = waiting.pop(); deaths !== undefined; deaths = waiting.pop()) {
      const ending = await dieAndResume(deaths, options)
      if (!ending.died) ending.problems.push('it did not die')
      if (ending.problems.length > 0) problems[JSON.stringify(deaths)] = ending.problems
    }
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  return problems
}

test('killed right before or right after a commit of the journal, a recovery ends as if nothing had happened', async () => {
  const whole = await dieAndResume([])
  expect(whole).toMatchObject({ died: false, problems: [] })
  expect(whole.commits).toBeGreaterThan(40)
  // Every twelfth of each, as real processes; replay.test.ts dies at every single one, in process.
  const moments = Array.from({ length: whole.commits }, (_, i) => i + 1)
  expect(await runAll(moments.flatMap((n) => (n % 12 === 0 ? [[{ before: n }], [{ after: n - 1 }]] : [])))).toEqual({})
}, 600_000)

test('killed while any write waits for its answer, nothing is sent twice', async () => {
  const orders = Array.from({ length: 10 }, (_, i) => i + 1)
  expect(await runAll(orders.map((duringWrite) => [{ duringWrite }]))).toEqual({})
}, 600_000)

test('killed around the failure of an evacuation, it is tried again exactly once more', async () => {
  const moments = [14, 21, 26, 30, 34, 38, 43]
  expect(
    await runAll(
      moments.map((after) => [{ after }]),
      { failFirst: true },
    ),
  ).toEqual({})
}, 600_000)

test('killed again while it settles what an earlier death left open, nothing is sent twice', async () => {
  const lives = [1, 7].flatMap((duringWrite) => [4, 8].map((after) => [{ duringWrite }, { after }]))
  expect(await runAll(lives)).toEqual({})
}, 600_000)
