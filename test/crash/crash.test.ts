/** A daemon killed at any moment of a recovery leaves nothing that the next one does not finish, and nothing is done twice. */
import { expect, test } from 'vitest'
import { dieAndResume, type Death } from './crash-scene.ts'

/** Most of each run is waiting: two cores are enough for this many. */
const parallel = 8

/** Runs the deaths, some at a time, and gives what went wrong by the moment of death. */
async function runAll(deaths: Death[]): Promise<Record<string, string[]>> {
  const problems: Record<string, string[]> = {}
  const waiting = deaths.toReversed()
  const worker = async (): Promise<void> => {
    for (let death = waiting.pop(); death !== undefined; death = waiting.pop()) {
      const ending = await dieAndResume(death)
      if (!ending.died) ending.problems.push('it did not die')
      if (ending.problems.length > 0) problems[JSON.stringify(death)] = ending.problems
    }
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  return problems
}

test('killed right before or right after any commit of the journal, a recovery ends as if nothing had happened', async () => {
  const whole = await dieAndResume(null)
  expect(whole).toMatchObject({ died: false, problems: [] })
  expect(whole.commits).toBeGreaterThan(40)
  const moments = Array.from({ length: whole.commits }, (_, i) => i + 1)
  expect(await runAll(moments.flatMap((n) => [{ before: n }, { after: n }]))).toEqual({})
}, 180_000)

test('killed while any write waits for its answer, nothing is sent twice', async () => {
  const writes = Array.from({ length: 11 }, (_, i) => i + 1)
  expect(await runAll(writes.map((duringWrite) => ({ duringWrite })))).toEqual({})
}, 60_000)
