/**
 * A daemon that is stopped at any moment of a recovery and continued later (SIGSTOP, a machine that is suspended, a disk that hangs) acts on what is
 * true then. Each commit in this process; some of them as real processes.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import type { Meanwhile, Stop } from './stop-checks.ts'
import { stopAndGoOn } from './stopped-victim.ts'
import { play, type Ending } from './stop-scene.ts'

/** Most of each process's life is waiting: two cores are enough for this many. */
const parallel = 6

describe('stopped at any commit and continued later', () => {
  let commits: Ending['commits']

  beforeAll(async () => {
    const whole = await play(null, 'stays away')
    expect(whole).toMatchObject({ stopped: false, problems: [] })
    ;({ commits } = whole)
    expect(commits.length).toBeGreaterThan(20)
  })

  /** Before each commit, and after those that are followed by an order. */
  const stops = (from = 'verdict.changed'): Stop[] =>
    commits.flatMap(({ nth, sentBefore }, index): Stop[] => {
      if (index < commits.findIndex(({ says }) => says === from)) return []
      const sends = (commits[index + 1]?.sentBefore ?? sentBefore) > sentBefore
      return [{ before: nth }, ...(sends ? [{ after: nth }] : [])]
    })

  /** What went wrong, by the moment of the stop; empty when all is well. */
  const problemsOf = async (meanwhile: Meanwhile, all = stops()): Promise<Record<string, string[]>> => {
    const problems: Record<string, string[]> = {}
    for (const stop of all) {
      const ending = await play(stop, meanwhile)
      if (!ending.stopped) ending.problems.push('it was not stopped')
      if (ending.problems.length > 0) problems[JSON.stringify(stop)] = ending.problems
    }
    return problems
  }

  it('a daemon sends nothing more for a host that came back, and says of each guest where it runs', async () => {
    expect(await problemsOf('comes back')).toEqual({})
  }, 600_000)

  it('a daemon goes on with a host that is still dead, and recovers all that was on it', async () => {
    expect(await problemsOf('stays away')).toEqual({})
  }, 600_000)

  it('a daemon takes a host that came back and died again for dead only by proof of its second death', async () => {
    expect(await problemsOf('comes back and is cut off again', stops('proof.recorded'))).toEqual({})
  }, 600_000)
})

describe('a real process that gets SIGSTOP at a commit, and SIGCONT seconds later', () => {
  /** One commit of so many: each process lives for some seconds. */
  const every = 9

  it('does the same, whether its host is back or not', async () => {
    const whole = await stopAndGoOn(null, 'stays away')
    expect(whole.problems).toEqual([])
    expect(whole.commits).toBeGreaterThan(20)
    const problems: Record<string, string[]> = {}
    const runs = Array.from({ length: whole.commits }, (_, index) => index + 1)
      // The first is the start of a daemon that has seen nothing.
      .filter((nth) => nth > 1 && nth % every === 0)
      .flatMap((nth) => [
        { stop: { after: nth }, meanwhile: 'comes back' as const },
        { stop: { after: nth + 1 }, meanwhile: 'stays away' as const },
      ])
    const worker = async (): Promise<void> => {
      for (let run = runs.pop(); run !== undefined; run = runs.pop()) {
        const ending = await stopAndGoOn(run.stop, run.meanwhile)
        if (ending.problems.length > 0) problems[JSON.stringify(run)] = ending.problems
      }
    }
    await Promise.all(Array.from({ length: parallel }, worker))
    expect(problems).toEqual({})
  }, 600_000)
})
