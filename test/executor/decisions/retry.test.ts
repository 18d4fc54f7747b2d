/** Reading again where Nova did not answer (law L7): over a hiccup, and no longer than that. */
import { describe, expect, it } from 'vitest'
import { errorCodes, type ErrorCode } from '../../../src/domain/errors.ts'
import { retryRead, pause } from '../../../src/executor/retry.ts'
import { failed, Stage } from './stage.ts'

const passing = ['API_UNAVAILABLE', 'API_FAULT', 'API_TIMEOUT', 'API_THROTTLED', 'CONNECTION_LOST', 'API_MALFORMED']

/** Fails so often, then gives its number of tries; `at` are the times of the tries. */
function flaky(stage: Stage, code: ErrorCode, failures: number) {
  const at: number[] = []
  const read = async (): Promise<number> => {
    at.push(stage.clock.now())
    if (at.length <= failures) throw failed(code)
    return at.length
  }
  return { at, result: retryRead(stage.clock, stage.stop.signal, read) }
}

describe('a read', () => {
  it.each(passing as ErrorCode[])('that failed with %s is read again', async (code) => {
    const stage = new Stage()
    expect(await stage.ending(flaky(stage, code, 2).result)).toBe(3)
  })

  it.each((Object.keys(errorCodes) as ErrorCode[]).filter((code) => !passing.includes(code)))(
    'that failed with %s is not',
    async (code) => {
      const stage = new Stage()
      const { at, result } = flaky(stage, code, 1)
      expect(await stage.ending(result)).toBe(code)
      expect(at).toEqual([0])
    },
  )

  it('is tried after 250 ms, and then after twice as long each time', async () => {
    const stage = new Stage()
    const { at, result } = flaky(stage, 'API_FAULT', 3)
    expect(await stage.ending(result)).toBe(4)
    expect(at).toEqual([0, 250, 750, 1_750])
  })

  it('is handed to its caller after four tries: who waits on must say so', async () => {
    const stage = new Stage()
    const { at, result } = flaky(stage, 'API_FAULT', 99)
    expect(await stage.ending(result)).toBe('API_FAULT')
    expect(at).toHaveLength(4)
  })

  it('that a bug broke is not hidden', async () => {
    const stage = new Stage()
    const read = async (): Promise<never> => {
      throw new Error('a bug')
    }
    expect(await stage.ending(retryRead(stage.clock, stage.stop.signal, read))).toBe('INVARIANT')
  })
})

describe('a daemon that stops', () => {
  it('does not begin to read', async () => {
    const stage = new Stage()
    stage.stop.abort()
    const { at, result } = flaky(stage, 'API_FAULT', 0)
    await expect(result).rejects.toMatchObject({ code: 'SHUTDOWN', certainty: 'unknown' })
    expect(at).toEqual([])
  })

  it('waits no longer', async () => {
    const stage = new Stage()
    const { at, result } = flaky(stage, 'API_FAULT', 9)
    void result.catch(() => undefined)
    await stage.clock.advance(300)
    stage.stop.abort()
    expect(await stage.ending(result)).toBe('SHUTDOWN')
    expect([at, stage.clock.now()]).toEqual([[0, 250], 300])
  })

  it("does not take its own cutting off for a person's cancel", async () => {
    const stage = new Stage()
    const read = async (): Promise<never> => {
      stage.stop.abort()
      throw failed('CANCELLED')
    }
    expect(await stage.ending(retryRead(stage.clock, stage.stop.signal, read))).toBe('SHUTDOWN')
  })
})

describe('a pause', () => {
  it('is as long as it is said to be', async () => {
    const stage = new Stage()
    await stage.clock.run(pause(stage.clock, 700, stage.stop.signal))
    expect(stage.clock.now()).toBe(700)
  })

  it('ends with the daemon, and says so', async () => {
    const stage = new Stage()
    const waiting = pause(stage.clock, 700, stage.stop.signal)
    void waiting.catch(() => undefined)
    await stage.clock.advance(100)
    stage.stop.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'SHUTDOWN', certainty: 'unknown' })
  })
})
