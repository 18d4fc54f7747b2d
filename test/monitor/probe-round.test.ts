/** A round of probes: bounded in number and in time, and never a death by being late. */
import { describe, expect, it } from 'vitest'
import type { Probe, ProbeReading } from '../../src/domain/verdict.ts'
import { answerMarginMs, probeRound } from '../../src/monitor/probe-round.ts'
import { HandClock } from './setup.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const reading = (probe: string, answer: ProbeReading['answer'] = 'dead'): ProbeReading => ({
  probe,
  kind: 'tcp',
  answer,
  detail: 'told',
  at: 'then',
})

/** Probes that answer when the test says so. */
class Bench {
  readonly clock = new HandClock()
  readonly asked: string[] = []
  readonly signals: AbortSignal[] = []
  readonly #answers: ((value: ProbeReading) => void)[] = []

  probe(name: string): Probe {
    return {
      name,
      kind: 'tcp',
      read: (host, signal) => {
        this.asked.push(`${host} ${name}`)
        if (signal !== undefined) this.signals.push(signal)
        return new Promise((resolve) => this.#answers.push(resolve))
      },
    }
  }

  answer(): void {
    for (const resolve of this.#answers.splice(0)) resolve(reading('p'))
  }
}

function start(bench: Bench, hosts: number, options: { atOnce?: number; signal?: AbortSignal } = {}) {
  const orders = Array.from({ length: hosts }, (_, index) => ({ host: `h${index}`, probes: [bench.probe('p')] }))
  return probeRound(orders, { clock: bench.clock, limitMs: 1_000, atOnce: 2, ...options })
}

const answers = (round: Map<string, ProbeReading[]>) =>
  [...round].map(([host, [one]]) => [host, one?.answer, one?.detail])

describe('a round', () => {
  it('without suspect hosts is over at once', async () => {
    expect(await start(new Bench(), 0)).toEqual(new Map())
  })

  it('gives the readings of each host, also of one without probes', async () => {
    const bench = new Bench()
    const orders = [
      { host: 'a', probes: [bench.probe('p'), bench.probe('q')] },
      { host: 'b', probes: [] },
    ]
    const round = probeRound(orders, { clock: bench.clock, limitMs: 1_000, atOnce: 9 })
    await turn()
    expect(bench.asked).toEqual(['a p', 'a q'])
    bench.answer()
    expect([...(await round)].map(([host, list]) => [host, list.length])).toEqual([
      ['a', 2],
      ['b', 0],
    ])
  })

  it('gives the second wave its whole time too', async () => {
    const bench = new Bench()
    const round = start(bench, 2, { atOnce: 1 })
    for (let wave = 0; wave < 2; wave++) {
      await turn()
      bench.clock.advance(1_000 + answerMarginMs - 1)
      bench.answer()
    }
    expect(answers(await round)).toEqual([
      ['h0', 'dead', 'told'],
      ['h1', 'dead', 'told'],
    ])
  })

  it('asks the next when one has answered', async () => {
    const bench = new Bench()
    const round = start(bench, 3)
    await turn()
    expect(bench.asked).toEqual(['h0 p', 'h1 p'])
    bench.answer()
    await turn()
    expect(bench.asked).toEqual(['h0 p', 'h1 p', 'h2 p'])
    bench.answer()
    expect(answers(await round)).toEqual([0, 1, 2].map((index) => [`h${index}`, 'dead', 'told']))
  })

  it('does not wait for a late probe: unknown, and told to stop', async () => {
    const bench = new Bench()
    const round = start(bench, 1)
    await turn()
    bench.clock.advance(999 + answerMarginMs)
    await turn()
    expect(bench.signals[0]!.aborted).toBe(false)
    bench.clock.advance(1)
    const readings = await round
    expect(readings.get('h0')).toEqual([
      {
        probe: 'p',
        kind: 'tcp',
        answer: 'unknown',
        detail: 'no answer within 1 s',
        at: expect.stringMatching(/^2026/),
      },
    ])
    expect(bench.signals[0]!.aborted).toBe(true)
  })

  it('says of which host a probe was not asked, or not for its whole time', async () => {
    const bench = new Bench()
    const round = start(bench, 4, { atOnce: 1 })
    await turn()
    bench.clock.advance(500)
    bench.answer()
    await turn()
    bench.clock.advance(1_000 + answerMarginMs)
    await turn()
    bench.clock.advance(2 * (1_000 + answerMarginMs))
    const found = [...(await round)].map(([host, [one]]) => [host, one?.answer, one?.unasked])
    expect(found).toEqual([
      ['h0', 'dead', undefined],
      ['h1', 'unknown', undefined],
      ['h2', 'unknown', true],
      ['h3', 'unknown', true],
    ])
  })

  it('is over after two waves: what was not asked by then is unknown', async () => {
    const bench = new Bench()
    const round = start(bench, 6)
    for (let wave = 0; wave < 2; wave++) {
      await turn()
      bench.clock.advance(1_000 + answerMarginMs)
    }
    const found = answers(await round)
    expect(bench.asked).toHaveLength(4)
    expect(found.map(([, answer]) => answer)).toEqual(Array(6).fill('unknown'))
    expect(found.slice(4).map(([, , detail]) => detail)).toEqual(
      Array(2).fill(expect.stringContaining('not asked in time')),
    )
  })

  it('ends with the poll that began it', async () => {
    const bench = new Bench()
    const poll = new AbortController()
    const round = start(bench, 3, { signal: poll.signal })
    await turn()
    poll.abort()
    expect(answers(await round).map(([, answer]) => answer)).toEqual(['unknown', 'unknown', 'unknown'])
    expect(bench.asked).toHaveLength(2)
  })

  it('says why a probe could not answer', async () => {
    const broken = (thrown: unknown): Probe => ({ name: 'p', kind: 'tcp', read: () => Promise.reject(thrown) })
    const orders = [
      { host: 'a', probes: [broken(new Error('no route'))] },
      { host: 'b', probes: [broken('nothing')] },
    ]
    const round = await probeRound(orders, { clock: new HandClock(), limitMs: 1_000, atOnce: 2 })
    expect(answers(round)).toEqual([
      ['a', 'unknown', 'no route'],
      ['b', 'unknown', 'nothing'],
    ])
  })

  it('leaves no timer behind', async () => {
    const bench = new Bench()
    let timers = 0
    const after = bench.clock.after.bind(bench.clock)
    bench.clock.after = (delayMs, fire) => {
      const cancel = after(delayMs, fire)
      timers++
      return () => {
        timers--
        cancel()
      }
    }
    const round = start(bench, 1)
    await turn()
    bench.answer()
    await round
    expect(timers).toBe(0)
  })
})
